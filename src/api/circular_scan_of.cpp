// SPDX-License-Identifier: Apache-2.0
#include "api/circular_scan_of.h"

#include <cmath>

#include <toml++/toml.h>

#include "core/format.h"
#include "geometry/camera.h"

namespace lepus {

CircularScan circular_scan_of(const Scan& scan) {
  const toml::table resolved = toml::parse(scan.resolved);
  const auto g = resolved["geometry"];
  const auto need = [&](const char* key) {
    if (const auto value = g[key].value<double>()) return *value;
    throw Error(ErrorKind::usage,
                {.what = "the scan file does not describe a circular cone-beam scan by its parameters",
                 .where = scan.file.string(),
                 .why = format("there is no geometry.{}", key),
                 .hint = "give about right source_axis_mm, source_detector_mm and pixel_width_mm"});
  };
  if (scan.selection.rows != scan.recorded.rows || scan.selection.row_step != 1)
    throw Error(ErrorKind::usage, {.what = "a calibration needs all rows of the detector",
                                   .where = scan.file.string(),
                                   .why = "the scan file selects some of them",
                                   .hint = "leave the selection of rows out"});
  for (const char* key : {"perturbations_file", "view_perturbations", "pitch_mm"})
    if (g[key] && g[key].value<double>() != 0.0)
      throw Error(ErrorKind::usage, {.what = "a calibration finds one geometry for all views",
                                     .where = scan.file.string(),
                                     .why = format("geometry.{} moves views off the circle", key),
                                     .hint = "calibrate with a scan on a circle, without that key"});
  CircularScan s;
  s.beam = scan.geometry.beam;
  s.arc = scan.geometry.recorded_on_arc.has_value();
  s.columns = scan.recorded.columns;
  s.rows = scan.recorded.rows;
  s.pixel_width_mm = need("pixel_width_mm");
  s.pixel_height_mm = g["pixel_height_mm"].value<double>().value_or(s.pixel_width_mm);
  s.source_axis_mm = need("source_axis_mm");
  s.source_detector_mm = need("source_detector_mm");
  s.detector_shift_u_mm = need("detector_shift_u_mm");
  s.detector_shift_v_mm = need("detector_shift_v_mm");
  s.axis_offset_mm = need("axis_offset_mm");
  s.in_plane_rad = radians(need("in_plane_deg"));
  s.pitch_rad = radians(need("pitch_deg"));
  s.yaw_rad = radians(need("yaw_deg"));
  s.mirror_columns = g["mirror_columns"].value_or(false);
  s.mirror_rows = g["mirror_rows"].value_or(false);
  double last = 0;
  for (std::int64_t view = 0; view < scan.geometry.views(); ++view) {
    const double angle = view_angle_rad(camera_of(scan.geometry, view));
    last = view == 0 ? angle : last + std::remainder(angle - last, 2 * pi);
    s.angles_rad.push_back(last);
  }
  for (const auto& [key, direction] :
       {std::pair{"view_shifts_u_mm", &Vec3::x}, std::pair{"view_shifts_v_mm", &Vec3::y}}) {
    const toml::array* shifts = g[key].as_array();
    if (!shifts) continue;
    s.perturbations.resize(s.angles_rad.size());
    for (std::size_t i = 0; i < s.perturbations.size(); ++i)
      s.perturbations[i].detector_mm.*direction =
          (*shifts)[static_cast<std::size_t>(scan.selection.frames[i])].value_or(0.0);
  }
  return s;
}

}  // namespace lepus
