// SPDX-License-Identifier: Apache-2.0
// Beads: found in frames, followed, and the geometry that they give against the one that made them.
#include "align/calibrate.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "align/test_scans.h"
#include <lepus/error.h>

namespace lepus {
namespace {

using namespace align_test;

CircularScan misaligned(const CircularScan& stated) {
  CircularScan s = stated;
  s.source_detector_mm = 612;
  s.detector_shift_u_mm = 3.1;
  s.detector_shift_v_mm = -2.2;
  s.in_plane_rad = radians(0.5);
  s.pitch_rad = radians(0.7);
  s.yaw_rad = radians(-0.4);
  return s;
}

BeadResult beads() {
  return bead_phantom({.radius_mm = 35,
                       .height_mm = 64,
                       .value_per_mm = 0.01,
                       .bead_radius_mm = 1.2,
                       .bead_value_per_mm = 0.3,
                       .beads = 12,
                       .two_rings = false,
                       .turns = 2});
}

std::vector<BeadTrack> exact_tracks(const CircularScan& scan, const std::vector<Vec3>& centres) {
  const ScanGeometry geometry = build_scan(scan);
  std::vector<BeadTrack> tracks;
  for (const Vec3 centre : centres) {
    BeadTrack track;
    for (std::int64_t view = 0; view < geometry.views(); ++view) {
      const Vec3 h = transform(geometry.matrices[static_cast<std::size_t>(view)], centre);
      track.push_back({view, h.x / h.z, h.y / h.z});
    }
    tracks.push_back(track);
  }
  return tracks;
}

// Without noise the solution is exact, to what the solver's last step leaves.
TEST(Calibrate, ExactTracksGiveTheExactGeometry) {
  const CircularScan stated = cone_scan(200, 200, 40), truth = misaligned(stated);
  const CalibrateResult r = fit_geometry({stated, exact_tracks(truth, beads().centres_mm), {}});
  EXPECT_LT(r.rms_px, 1e-6);
  EXPECT_NEAR(r.scan.source_detector_mm, truth.source_detector_mm, 1e-3);
  EXPECT_NEAR(r.scan.detector_shift_u_mm, truth.detector_shift_u_mm, 1e-4);
  EXPECT_NEAR(r.scan.detector_shift_v_mm, truth.detector_shift_v_mm, 1e-3);
  EXPECT_NEAR(degrees(r.scan.in_plane_rad), 0.5, 1e-4);
  EXPECT_NEAR(degrees(r.scan.pitch_rad), 0.7, 1e-2);
  EXPECT_NEAR(degrees(r.scan.yaw_rad), -0.4, 1e-3);
  EXPECT_EQ(r.view_rms_px.size(), 40U);
}

TEST(Calibrate, BeadSpacingGivesTheScale) {
  CircularScan stated = cone_scan(200, 200, 40);
  const CircularScan truth = misaligned(stated);
  stated.source_axis_mm = 240;  // wrong; the beads know better
  const auto centres = beads().centres_mm;
  const double spacing = (centres.back().z - centres.front().z) / static_cast<double>(centres.size() - 1);
  const CalibrateResult r = fit_geometry({stated, exact_tracks(truth, centres), spacing});
  EXPECT_NEAR(r.scan.source_axis_mm, 300, 1e-2);
  EXPECT_NEAR(r.beads_mm.front().z - r.beads_mm[1].z, -spacing, 1e-3);
}

// What is known to move stays as it is: in the detector's plane, and with a source that moves by the scale of its side.
TEST(Calibrate, PerturbationsAreKept) {
  CircularScan stated = cone_scan(200, 200, 40);
  stated.perturbations.resize(40);
  for (std::size_t i = 0; i < 40; ++i) {
    stated.perturbations[i].detector_mm = {3 + std::sin(static_cast<double>(i)), 0.5, 0};
    stated.perturbations[i].source_mm = {std::cos(static_cast<double>(i)), 0, 0};
  }
  const CircularScan truth = misaligned(stated);
  const auto centres = beads().centres_mm;
  const CalibrateResult r = fit_geometry({stated, exact_tracks(truth, centres), {}});
  EXPECT_LT(r.rms_px, 1e-6);
  EXPECT_NEAR(r.scan.detector_shift_u_mm, 3.1, 1e-3);
  EXPECT_NEAR(r.scan.detector_shift_v_mm, -2.2, 1e-2);
  const double spacing = (centres.back().z - centres.front().z) / static_cast<double>(centres.size() - 1);
  const CalibrateResult twice = fit_geometry({stated, exact_tracks(truth, centres), 1.25 * spacing});
  const ScanGeometry a = build_scan(truth), b = build_scan(twice.scan);
  for (std::size_t view = 0; view < 40; ++view) {
    const Vec3 p = transform(a.matrices[view], {10, -5, 20}), q = transform(b.matrices[view], {12.5, -6.25, 25});
    EXPECT_NEAR(p.x / p.z, q.x / q.z, 1e-3);
    EXPECT_NEAR(p.y / p.z, q.y / q.z, 1e-3);
  }
}

TEST(Calibrate, SightingsOfSomethingElseAreLeftOut) {
  const CircularScan stated = cone_scan(200, 200, 40), truth = misaligned(stated);
  auto tracks = exact_tracks(truth, beads().centres_mm);
  tracks[3][17].column += 9;
  const CalibrateResult r = fit_geometry({stated, tracks, {}});
  EXPECT_EQ(r.left_out, 1);
  EXPECT_EQ(r.bad_views, std::vector<std::int64_t>{17});
  EXPECT_NEAR(r.scan.source_detector_mm, truth.source_detector_mm, 1e-2);
}

// Three beads that pass one another, taken for another one: a third of a turn of each.
TEST(Calibrate, TracksOfNoBeadAreLeftOut) {
  const CircularScan stated = cone_scan(200, 200, 40), truth = misaligned(stated);
  const auto centres = beads().centres_mm;
  auto tracks = exact_tracks(truth, centres);
  BeadTrack mixed;
  for (std::size_t i = 0; i < 30; ++i) mixed.push_back(tracks[2 + i / 10][i]);
  tracks.push_back(mixed);
  const double spacing = (centres.back().z - centres.front().z) / static_cast<double>(centres.size() - 1);
  for (const std::optional<double> known : {std::optional<double>{}, {spacing}}) {
    const CalibrateResult r = fit_geometry({stated, tracks, known});
    EXPECT_EQ(r.beads_mm.size(), centres.size());
    EXPECT_EQ(r.false_tracks, 1);
    EXPECT_EQ(r.left_out, 30);
    EXPECT_EQ(r.warnings.size(), 1U);
    EXPECT_EQ(r.errors.size(), 6U);
    EXPECT_NEAR(r.scan.source_axis_mm, truth.source_axis_mm, 1e-2);
    EXPECT_NEAR(r.scan.source_detector_mm, truth.source_detector_mm, 1e-2);
    EXPECT_NEAR(degrees(r.scan.in_plane_rad), 0.5, 1e-3);
    EXPECT_NEAR(degrees(r.scan.yaw_rad), -0.4, 1e-2);
  }
}

TEST(Calibrate, TwoPiecesOfOneTrackAreOneBead) {
  const CircularScan stated = cone_scan(200, 200, 40), truth = misaligned(stated);
  const auto centres = beads().centres_mm;
  auto tracks = exact_tracks(truth, centres);
  tracks.emplace_back(tracks[2].begin() + 20, tracks[2].end());
  tracks[2].resize(20);
  EXPECT_EQ(fit_geometry({stated, tracks, {}}).beads_mm.size(), centres.size());
}

TEST(Calibrate, FewBeadsAmongFalseTracksIsAnError) {
  const CircularScan stated = cone_scan(200, 200, 40);
  auto tracks = exact_tracks(stated, beads().centres_mm);
  tracks.resize(4);
  for (std::size_t i = 20; i < 40; ++i) std::swap(tracks[0][i], tracks[3][i]);
  EXPECT_THROW(fit_geometry({stated, tracks, {}}), Error);
}

TEST(Calibrate, AFarTiltIsWarnedOf) {
  const CircularScan stated = cone_scan(200, 200, 40);
  CircularScan truth = misaligned(stated);
  EXPECT_TRUE(fit_geometry({stated, exact_tracks(truth, beads().centres_mm), {}}).warnings.empty());
  truth.yaw_rad = radians(9);
  const CalibrateResult r = fit_geometry({stated, exact_tracks(truth, beads().centres_mm), {}});
  EXPECT_NEAR(degrees(r.scan.yaw_rad), 9, 0.1);
  ASSERT_EQ(r.warnings.size(), 1U);
  EXPECT_EQ(r.warnings.front().rfind("yaw_deg = 9.0", 0), 0U) << r.warnings.front();
}

TEST(Calibrate, TooFewBeadsIsAnError) {
  const CircularScan stated = cone_scan(200, 200, 40);
  auto tracks = exact_tracks(stated, beads().centres_mm);
  tracks.resize(3);
  EXPECT_THROW(fit_geometry({stated, tracks, {}}), Error);
}

// Frames to geometry, with noise. The bounds are three times what was measured.
TEST(Calibrate, NoisyFramesGiveTheGeometry) {
  ThreadPool threads(2);
  const CircularScan stated = cone_scan(144, 144, 30), truth = misaligned(stated);
  const BeadResult phantom = beads();
  const ScanGeometry real = build_scan(truth);
  const PhantomProjector projector(phantom.phantom, real, {.subpixels = 2});
  std::vector<float> frame(144 * 144);
  std::vector<BeadFrame> frames;
  double diameter = 0;
  for (std::int64_t view = 0; view < real.views(); ++view) {
    projector.project(view, frame.data(), threads);
    for (std::size_t i = 0; i < frame.size(); ++i) {
      Random random(1, 7, static_cast<std::uint32_t>(view), i);
      frame[i] = static_cast<float>(
          -std::log(std::max(1.0, static_cast<double>(random.poisson(20000 * std::exp(-frame[i])))) / 20000));
    }
    if (view == 0) diameter = bead_diameter_px(frame, 144, 144);
    frames.push_back(find_beads(frame, 144, 144, diameter));
  }
  EXPECT_NEAR(diameter, 2 * 1.2 * 2.04 / stated.pixel_width_mm, 0.4);
  const auto tracks = track_beads(frames, stated.angles_rad, diameter);
  EXPECT_EQ(tracks.size(), 12U);
  const CalibrateResult r = fit_geometry({stated, tracks, {}});
  EXPECT_LT(r.rms_px, 0.1);
  EXPECT_NEAR(r.scan.source_detector_mm, 612, 1.5);
  EXPECT_NEAR(r.scan.detector_shift_u_mm, 3.1, 0.01);
  EXPECT_NEAR(degrees(r.scan.in_plane_rad), 0.5, 0.02);
  EXPECT_NEAR(degrees(r.scan.yaw_rad), -0.4, 0.15);
  // Pitch and shift_v trade against each other; the solver says how well it knows them.
  for (const auto& [key, error] : r.errors)
    if (key == "pitch_deg") {
      EXPECT_NEAR(degrees(r.scan.pitch_rad), 0.7, 4 * error);
    }
}

std::vector<float> frame_with(const std::vector<BeadSpot>& spots, double radius, std::int64_t n) {
  std::vector<float> frame(static_cast<std::size_t>(n * n));
  for (std::int64_t v = 0; v < n; ++v)
    for (std::int64_t u = 0; u < n; ++u) {
      double p = 0.001 * static_cast<double>(u);
      for (const BeadSpot& s : spots) {
        const double r2 = std::pow(static_cast<double>(u) - s.column, 2) + std::pow(static_cast<double>(v) - s.row, 2);
        p += std::sqrt(std::max(0.0, radius * radius - r2)) / radius;
      }
      frame[static_cast<std::size_t>(v * n + u)] = static_cast<float>(p);
    }
  return frame;
}

TEST(FindBeads, PlacesOverlapsAndEdges) {
  const auto frame = frame_with({{30.3, 40.6}, {60, 20}, {60.2, 70.8}, {80, 50}, {85, 50}, {0.5, 90}}, 4, 100);
  const BeadFrame found = find_beads(frame, 100, 100, 8);
  ASSERT_EQ(found.spots.size(), 3U);
  EXPECT_EQ(found.overlapping, 1);
  EXPECT_EQ(found.leaving, 1);
  const auto near = [&](double column, double row) {
    return std::any_of(found.spots.begin(), found.spots.end(),
                       [&](const BeadSpot& s) { return std::hypot(s.column - column, s.row - row) < 0.1; });
  };
  EXPECT_TRUE(near(30.3, 40.6));
  EXPECT_TRUE(near(60, 20));
  EXPECT_TRUE(near(60.2, 70.8));
}

TEST(TrackBeads, GapsAreBridgedAndBadPixelsLeftOut) {
  const CircularScan scan = cone_scan(200, 200, 60);
  std::vector<BeadFrame> frames(60);
  for (const BeadTrack& track : exact_tracks(scan, beads().centres_mm))
    for (const BeadSighting& s : track)
      if (s.view < 20 || s.view > 30 || s.row < 150)
        frames[static_cast<std::size_t>(s.view)].spots.push_back({s.column, s.row});
  for (BeadFrame& frame : frames) frame.spots.push_back({17, 23});
  EXPECT_EQ(track_beads(frames, scan.angles_rad, 5).size(), 12U);
}

TEST(PlateMeter, WidthToAFractionOfAPixel) {
  PlateMeter meter(100, 4);
  std::vector<float> frame(400);
  for (std::int64_t v = 0; v < 4; ++v)
    for (std::int64_t u = 0; u < 100; ++u) {
      const double left = 20.25, right = 70.75;  // edges one pixel wide
      const double p = std::clamp(static_cast<double>(u) - left + 0.5, 0.0, 1.0) -
                       std::clamp(static_cast<double>(u) - right + 0.5, 0.0, 1.0);
      frame[static_cast<std::size_t>(v * 100 + u)] = static_cast<float>(p);
    }
  meter.add(frame);
  meter.add(frame);
  const PlateResult r = meter.result(10.1);
  EXPECT_NEAR(r.interval_mm, 10.1 / 50.5, 1e-6);
  EXPECT_NEAR(r.error_mm, 0, 1e-9);
  for (std::int64_t v = 0; v < 4; ++v) frame[static_cast<std::size_t>(v * 100)] = 1;
  meter.add(frame);
  EXPECT_EQ(meter.result(10.1).cut_off, std::vector<std::int64_t>{2});
  EXPECT_THROW(PlateMeter(100, 4).result(10), Error);
}

}  // namespace
}  // namespace lepus
