// SPDX-License-Identifier: Apache-2.0
#include "scan_cases.h"

#include "core/format.h"
#include "simulate/random.h"

namespace lepus::accuracy {
namespace {

constexpr double step_deg = 1;
constexpr std::int64_t whole_columns = 176, half_fan_columns = 116;

constexpr double shift_pixels = 7.3, shift_rows = 4.6, axis_mm = 3.1;
constexpr double in_plane_deg = 1, pitch_deg = 2, yaw_deg = -2;

double arc_deg(const ScanCase& scan) {
  if (scan.coverage != CoverageKind::short_scan) return 360;
  // 180 degrees + the fan angle (2 x 7.5 or 2 x 14.8) + a little.
  return scan.beam == BeamKind::parallel ? 180 : scan.beam == BeamKind::cone ? 198 : 213;
}

std::vector<ViewPerturbation> jitter(std::size_t views) {
  std::vector<ViewPerturbation> all;
  for (std::size_t i = 0; i < views; ++i) {
    Random random(7, 0, static_cast<std::uint32_t>(i), 0);
    ViewPerturbation p;
    p.source_mm = {0.3 * random.normal(), 0.3 * random.normal(), 0.3 * random.normal()};
    p.detector_mm = {0.5 * random.normal(), 0.5 * random.normal(), 0.5 * random.normal()};
    p.in_plane_rad = radians(0.2 * random.normal());
    p.pitch_rad = radians(0.2 * random.normal());
    p.yaw_rad = radians(0.2 * random.normal());
    p.angle_rad = radians(0.1 * random.normal());
    all.push_back(p);
  }
  return all;
}

const char* word(BeamKind beam) {
  constexpr const char* words[] = {"cone", "fan flat", "fan arc", "parallel"};
  return words[static_cast<int>(beam)];
}
const char* word(CoverageKind coverage) {
  constexpr const char* words[] = {"full", "short", "half-fan"};
  return words[static_cast<int>(coverage)];
}
const char* word(Alignment alignment) {
  constexpr const char* words[] = {"aligned", "shifted", "displaced axis", "tilted", "jittered"};
  return words[static_cast<int>(alignment)];
}

}  // namespace

std::string ScanCase::name() const {
  std::string text = format("{}_{}_{}", word(beam), word(coverage), word(alignment));
  for (char& c : text)
    if (c == ' ' || c == '-') c = '_';
  return text;
}

std::string ScanCase::geometry() const {
  return format("{} | {} {:g}° | {}", word(beam), word(coverage), arc_deg(*this), word(alignment));
}

std::vector<ScanCase> scan_cases() {
  std::vector<ScanCase> all;
  for (const BeamKind beam : {BeamKind::cone, BeamKind::fan_flat, BeamKind::fan_arc, BeamKind::parallel})
    for (const CoverageKind coverage : {CoverageKind::full, CoverageKind::short_scan, CoverageKind::half_fan})
      for (const Alignment alignment : {Alignment::aligned, Alignment::shifted_detector, Alignment::displaced_axis,
                                        Alignment::tilted_detector, Alignment::jittered_views}) {
        const bool cone_only = alignment == Alignment::tilted_detector || alignment == Alignment::jittered_views;
        if (!cone_only || beam == BeamKind::cone) all.push_back({beam, coverage, alignment});
      }
  return all;
}

std::vector<ScanCase> cones_by_distance() {
  std::vector<ScanCase> all(4);
  double distance = 200;
  for (ScanCase& scan : all) {
    scan.cone_source_axis_mm = distance;
    distance *= 2;
  }
  return all;
}

CircularScan circular_scan(const ScanCase& scan, PhantomKind phantom) {
  CircularScan s;
  s.beam = scan.beam == BeamKind::cone ? Beam::cone : scan.beam == BeamKind::parallel ? Beam::parallel : Beam::fan;
  s.arc = scan.beam == BeamKind::fan_arc;
  s.source_axis_mm = source_axis_mm(scan);
  s.source_detector_mm = magnification * s.source_axis_mm;
  s.columns = whole_columns;
  s.rows = !scan.three_dimensional() ? 1 : phantom == PhantomKind::ball ? 132 : 64;
  s.pixel_width_mm = voxel_mm * (scan.beam == BeamKind::parallel ? 1 : magnification);
  s.pixel_height_mm = voxel_mm * (scan.three_dimensional() ? magnification : 1);

  const bool half_fan = scan.coverage == CoverageKind::half_fan;
  if (half_fan) {  // the same edge on one side, 28 pixels beyond the axis on the other
    s.columns = half_fan_columns;
    s.detector_shift_u_mm = 0.5 * (whole_columns - half_fan_columns) * s.pixel_width_mm;
  }
  switch (scan.alignment) {
    case Alignment::aligned:
      break;
    case Alignment::shifted_detector:
      // A half-fan detector is shifted already: to the other side then, and not quite as far.
      s.detector_shift_u_mm =
          half_fan ? -s.detector_shift_u_mm + 2.3 * s.pixel_width_mm : shift_pixels * s.pixel_width_mm;
      if (scan.three_dimensional()) s.detector_shift_v_mm = shift_rows * s.pixel_height_mm;
      break;
    case Alignment::displaced_axis:
      s.axis_offset_mm = axis_mm;
      break;
    case Alignment::tilted_detector:
      s.in_plane_rad = radians(in_plane_deg);
      s.pitch_rad = radians(pitch_deg);
      s.yaw_rad = radians(yaw_deg);
      break;
    case Alignment::jittered_views:
      break;
  }
  const auto views = static_cast<std::int64_t>(arc_deg(scan) / step_deg + 0.5);
  for (std::int64_t i = 0; i < views; ++i)
    s.angles_rad.push_back(radians(arc_deg(scan) * static_cast<double>(i) / static_cast<double>(views)));
  if (scan.alignment == Alignment::jittered_views) s.perturbations = jitter(s.angles_rad.size());
  return s;
}

VolumeGrid grid(const ScanCase& scan, PhantomKind phantom) {
  const std::int64_t across = phantom == PhantomKind::ball ? 117 : 156;
  const std::int64_t slices = !scan.three_dimensional() ? 1 : phantom == PhantomKind::ball ? 109 : 49;
  return centred_grid(across, across, slices, {voxel_mm, voxel_mm, voxel_mm});
}

}  // namespace lepus::accuracy
