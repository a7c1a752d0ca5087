// SPDX-License-Identifier: Apache-2.0
// Views of phantoms: known chords in every geometry, what averaging over pixel and spot must do, beam hardening.
#include "simulate/project.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <gtest/gtest.h>

#include "simulate/builtin_phantoms.h"
#include <lepus/error.h>

namespace lepus {
namespace {

CircularScan small_scan(Beam beam, bool arc = false) {
  CircularScan s;
  s.beam = beam;
  s.arc = arc;
  s.source_axis_mm = 300;
  s.source_detector_mm = 450;
  s.columns = 41;
  s.rows = 31;
  s.pixel_width_mm = beam == Beam::parallel ? 2 : 3;
  s.pixel_height_mm = beam == Beam::cone ? 3 : 2;
  s.angles_rad = {0, 0.7, pi / 2, 4};
  return s;
}

std::vector<float> view_of(const Phantom& phantom, const ScanGeometry& g, std::int64_t view, const PixelRays& o = {},
                           const Spectrum& spectrum = {}, int threads = 1) {
  ThreadPool pool(threads);
  std::vector<float> out(static_cast<std::size_t>(recorded_columns(g) * recorded_rows(g)));
  PhantomProjector(phantom, g, o, spectrum).project(view, out.data(), pool);
  return out;
}

// The chord of a ball by the distance of its centre from the ray source -> pixel, written down from the scan's numbers
// alone: no camera, no matrix.
double ball_chord(const CircularScan& s, double angle, std::int64_t u, std::int64_t v, Vec3 centre, double radius) {
  const Vec3 right{std::cos(angle), std::sin(angle), 0}, away{-std::sin(angle), std::cos(angle), 0}, down{0, 0, -1};
  const double a = (static_cast<double>(u) - 20) * s.pixel_width_mm,
               b = (static_cast<double>(v) - 15) * s.pixel_height_mm;
  Vec3 from = -s.source_axis_mm * away, towards;
  const double D = s.source_detector_mm;
  const Vec3 in_plane = s.arc ? D * std::cos(a / D) * away + D * std::sin(a / D) * right : D * away + a * right;
  if (s.beam == Beam::cone) {
    towards = in_plane + b * down;
  } else if (s.beam == Beam::fan) {
    from = from + b * down;
    towards = in_plane;
  } else {
    from = a * right + b * down;
    towards = away;
  }
  const Vec3 d = normalized(towards), to = centre - from;
  const double distance2 = dot(to, to) - dot(to, d) * dot(to, d);
  return distance2 < radius * radius ? 2 * std::sqrt(radius * radius - distance2) : 0;
}

TEST(Project, BallInEveryGeometry) {
  const Vec3 centre{7, -11, 5};
  const Phantom ball("ball", Combine::add, {sphere(centre, 14, 0.02)});
  for (const auto& [beam, arc] : {std::pair{Beam::cone, false},
                                  {Beam::cone, true},
                                  {Beam::fan, false},
                                  {Beam::fan, true},
                                  {Beam::parallel, false}}) {
    const CircularScan scan = small_scan(beam, arc);
    const ScanGeometry g = build_scan(scan);
    for (std::int64_t view = 0; view < g.views(); ++view) {
      const auto p = view_of(ball, g, view);
      ASSERT_EQ(p.size(), 41u * 31u);
      double seen = 0;
      for (std::int64_t v = 0; v < 31; ++v)
        for (std::int64_t u = 0; u < 41; ++u) {
          const double expected =
              0.02 * ball_chord(scan, scan.angles_rad[static_cast<std::size_t>(view)], u, v, centre, 14);
          // Float output: 0.56 * 6e-8; a grazing ray multiplies rounding of the geometry (1e-13 mm) by 1/chord.
          ASSERT_NEAR(p[static_cast<std::size_t>(v * 41 + u)], expected, 1e-7)
              << static_cast<int>(beam) << arc << u << " " << v;
          seen = std::max(seen, expected);
        }
      EXPECT_GT(seen, 0.5);
    }
  }
}

TEST(Project, NothingBehindTheSource) {
  // A ball behind the source must not be seen, one that holds the source only from there on.
  CircularScan s = small_scan(Beam::cone);
  s.angles_rad = {0};
  const ScanGeometry g = build_scan(s);
  EXPECT_EQ(view_of(Phantom("behind", Combine::add, {sphere({0, -400, 0}, 50, 1)}), g, 0)[15 * 41 + 20], 0);
  EXPECT_NEAR(view_of(Phantom("around", Combine::add, {sphere({0, -300, 0}, 50, 1)}), g, 0)[15 * 41 + 20], 50, 1e-5);
}

TEST(Project, SameBitsForAnyNumberOfThreads) {
  const Phantom head = forbild_head(false, 0.02);
  CircularScan s = small_scan(Beam::cone);
  s.pixel_width_mm = s.pixel_height_mm = 10;
  const ScanGeometry g = build_scan(s);
  const PixelRays o{.subpixels = 2, .average = PixelAverage::intensity, .spot_diameter_mm = 1, .spot_samples = 5};
  EXPECT_EQ(view_of(head, g, 1, o, {}, 1), view_of(head, g, 1, o, {}, 3));
}

TEST(Project, SubpixelsConvergeToThePixelsMean) {
  // Mean over a pixel of a smooth p (well inside the ball) converges as 1/n^2: the differences fall by 4 each time.
  const Phantom ball = uniform_ball(40, 0.02);
  const ScanGeometry g = build_scan(small_scan(Beam::cone));
  const auto at = [&](int n) {
    const PhantomProjector projector(ball, g, {.subpixels = n});
    Phantom::Scratch scratch;
    return projector.at(camera_of(g, 0), 26, 12, scratch);
  };
  const double limit = at(64);
  EXPECT_NEAR((at(1) - limit) / (at(2) - limit), 4, 0.1);
  EXPECT_NEAR((at(2) - limit) / (at(4) - limit), 4, 0.1);
}

TEST(Project, IntensityMeanIsSmallerThanTheMeanOfLineIntegrals) {
  // Jensen; and for a pixel half covered by a plate of p = 2 exactly -ln((1 + e^-2) / 2) against 1.
  CircularScan s = small_scan(Beam::parallel);
  s.angles_rad = {0};
  const ScanGeometry g = build_scan(s);
  const Phantom plate("plate", Combine::add, {box({50, 0, 0}, {100, 10, 200}, 0.2)});  // covers x > 0
  PixelRays o{.subpixels = 8, .average = PixelAverage::line_integral};
  EXPECT_NEAR(view_of(plate, g, 0, o)[15 * 41 + 20], 1.0, 1e-6);
  o.average = PixelAverage::intensity;
  EXPECT_NEAR(view_of(plate, g, 0, o)[15 * 41 + 20], -std::log((1 + std::exp(-2.0)) / 2), 1e-6);
}

TEST(Project, SpotBlursByMagnificationMinusOne) {
  // An edge at the axis, magnification 1.5: a spot of diameter s casts a half shadow s (M - 1) wide on the detector,
  // 2 mm for 4 mm. The plate is thin along the beam, so that its edge is one line.
  CircularScan scan = small_scan(Beam::cone);
  scan.angles_rad = {0};
  scan.columns = 401;
  scan.rows = 1;
  scan.pixel_width_mm = 0.05;
  const ScanGeometry g = build_scan(scan);
  const Phantom plate("plate", Combine::add, {box({50, 0, 0}, {100, 1e-3, 200}, 1000.0)});
  const PixelRays o{
      .subpixels = 1, .average = PixelAverage::line_integral, .spot_diameter_mm = 4, .spot_samples = 4000};
  const auto p = view_of(plate, g, 0, o);
  double mean = 0, square = 0, total = 0;  // of the edge's derivative
  for (int u = 170; u <= 230; ++u) {       // 1.5 mm either side: all of the half shadow, little of the rays' slant
    const double d = p[static_cast<std::size_t>(u + 1)] - p[static_cast<std::size_t>(u - 1)];
    const double x = (u - 200) * 0.05;
    total += d;
    mean += d * x;
    square += d * x * x;
  }
  mean /= total;
  const double sigma = std::sqrt(square / total - mean * mean);
  // A uniform disk of diameter d seen edge on has the standard deviation d/4: 0.5 mm; the difference over two pixels
  // adds (0.05 mm)^2 to the variance. 4000 samples leave a few thousandths.
  EXPECT_NEAR(sigma, std::sqrt(0.25 + 0.0025), 0.003);
  EXPECT_NEAR(mean, 0, 0.01);
  EXPECT_THROW(PhantomProjector(plate, build_scan(small_scan(Beam::parallel)), o), Error);
}

TEST(Project, SpectrumHardens) {
  Shape water = sphere({}, 50, 1.0);
  water.material = "water";
  const Spectrum spectrum = tungsten_spectrum(120);
  double sum = 0;
  for (const SpectrumBin& bin : spectrum) sum += bin.weight;
  EXPECT_NEAR(sum, 1, 1e-12);
  const double energy = effective_energy_kev(spectrum);
  EXPECT_GT(energy, 35);
  EXPECT_LT(energy, 70);
  const Phantom phantom = Phantom("water", Combine::add, {water}).at_energy(energy);
  CircularScan s = small_scan(Beam::parallel);
  s.angles_rad = {0};
  const ScanGeometry g = build_scan(s);
  const auto poly = view_of(phantom, g, 0, {}, spectrum);
  const auto mono = view_of(phantom, g, 0);
  const std::size_t centre = 15 * 41 + 20;
  // Thick water is seen thinner, by the mean over the spectrum written down again here.
  double transmitted = 0;
  for (const SpectrumBin& bin : spectrum)
    transmitted += bin.weight * std::exp(-100 * attenuation(material_slot("water"), bin.energy_kev));
  EXPECT_NEAR(poly[centre], -std::log(transmitted), 1e-5);
  EXPECT_LT(poly[centre], 0.97 * mono[centre]);
  // A thin layer is not: the effective energy is made so.
  const Phantom thin = Phantom("thin", Combine::add, {cylinder({}, 0.01, 100, 0.02)}).at_energy(energy);
  EXPECT_NEAR(view_of(thin, g, 0, {}, spectrum)[centre] / view_of(thin, g, 0)[centre], 1, 1e-3);
}

TEST(Project, MaterialsAndSpectraSayWhatIsWrong) {
  EXPECT_THROW(material_slot("watter"), Error);
  EXPECT_THROW(attenuation(1, 5), Error);
  EXPECT_THROW(tungsten_spectrum(5), Error);
  EXPECT_NEAR(attenuation(material_slot("iron"), 100) * 10, 0.3717,
              1e-12);  // NIST's own figure at a point of the table
  EXPECT_NEAR(attenuation(material_slot("water"), 70) * 10, 0.1929,
              0.001);  // XCOM; log-log between 60 and 80 keV: 0.4 %
  EXPECT_NEAR(attenuation(material_slot("water"), 500) * 10, 0.09687, 1e-12);
}

TEST(Project, SpeedFloor) {
  // A fifth of what was measured on a busy two-core machine (1.5e6 and 2.9e5 rays/s at least), so that only a lost
  // short cut fails.
  ThreadPool one(1);
  const auto rays_per_second = [&](const Phantom& phantom) {
    CircularScan s = small_scan(Beam::cone);
    s.columns = s.rows = 200;
    s.pixel_width_mm = s.pixel_height_mm = 0.3;
    const ScanGeometry g = build_scan(s);
    std::vector<float> out(40000);
    const PhantomProjector projector(phantom, g, {});
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 4; ++i) projector.project(i, out.data(), one);
    return 160000 / std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const double shepp = rays_per_second(shepp_logan(SheppLogan::modified, 25, 0.02));
  const double pores = rays_per_second(
      porous_block({.size_mm = {30, 30, 30}, .smallest_radius_mm = 0.3, .largest_radius_mm = 1.2}).phantom);
  RecordProperty("shepp_logan_rays_per_second", std::to_string(shepp));
  RecordProperty("porous_2000_rays_per_second", std::to_string(pores));
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__)
  EXPECT_GT(shepp, 3e5);
  EXPECT_GT(pores, 6e4);
#endif
}

}  // namespace
}  // namespace lepus
