// SPDX-License-Identifier: Apache-2.0
#include "job/automatic_center.h"

#include <cmath>

#include "align/center.h"
#include "align/scan_rows.h"
#include "core/format.h"
#include "core/json.h"
#include "geometry/row_band.h"
#include "scan/document.h"

namespace lepus {
namespace {

// None where matrices describe the views.
std::optional<double> frame_turn_of(const Scan& scan) {
  const ScanDocument document(scan.resolved, scan.file);
  if (!document.find<double>("geometry.detector_shift_u_mm")) return std::nullopt;
  if (scan.geometry.beam == Beam::parallel) return 0.0;
  const auto source_axis = document.find<double>("geometry.source_axis_mm");
  if (!source_axis) return std::nullopt;
  return std::atan2(document.find<double>("geometry.axis_offset_mm").value_or(0), *source_axis);
}

}  // namespace

AutomaticCenter find_automatic_center(const Scan& scan, Context& context) {
  // The pre-pass's warnings of a scan whose axis is not known yet are left to the one that follows.
  const CenterScan rows = read_center_rows(scan, {}, context);
  const CenterResult found = rows.in_frames(find_center(rows.input, context));
  const bool turned = found.tilt_matters();
  AutomaticCenter center;
  center.known = found.known;
  center.column = found.column;
  center.middle_row = found.middle_row;
  center.in_plane_deg = turned ? found.in_plane_deg : found.given_in_plane_deg;
  center.warnings = found.warnings;
  center.line =
      found.known
          ? format("the rotation axis is seen on column {:.2f} +- {:.2f} (the scan file had {:.2f}), by {}{}",
                   found.column, found.column_error, found.given_column, name_of(found.method),
                   turned ? format(", turned by {:.3f} +- {:.3f} degrees", found.in_plane_deg, found.in_plane_error_deg)
                          : "")
          : format("the rotation axis is not known and stays on column {:.2f}, where the scan file has it",
                   found.given_column);
  return center;
}

void use_automatic_center(Scan& scan, const AutomaticCenter& found, Progress& progress) {
  const auto say = [&](const std::string& warning) {
    progress.warning(warning);
    scan.warnings.push_back(warning);  // for the volume's provenance
  };
  for (const auto& warning : found.warnings) say(warning);
  if (found.known) {
    CenterResult axis;
    axis.column = found.column;
    axis.middle_row = found.middle_row;
    axis.in_plane_deg = found.in_plane_deg;
    const double before_mm = field_of_view_radius_mm(scan.geometry);
    std::erase(scan.warnings, part_not_seen(scan.geometry, scan.grid));  // with the axis elsewhere
    scan.geometry = centred(scan.geometry, axis, CenterKey::detector_shift, frame_turn_of(scan));
    if (const std::string warning = part_not_seen(scan.geometry, scan.grid); !warning.empty() && !scan.automatic_grid)
      say(warning);
    if (const double now_mm = field_of_view_radius_mm(scan.geometry);
        scan.automatic_grid && now_mm > before_mm + std::abs(scan.grid.step_mm.x))
      say(
          format("the size of the volume was chosen before the axis was found: the views see {:.4g} mm around it, the "
                 "volume was made for {:.4g} mm, and what lies beyond is cut off; write the axis into the scan file "
                 "(lepus center --write, then center = \"given\"), or give volume.size",
                 now_mm, before_mm));
  }
  scan.automatic_center = false;
  scan.axis_was_sought = true;
  progress.note(found.line);
  scan.resolved += format("\n# center = \"auto\": {}\n", found.line);
}

void center_automatically(Scan& scan, Context& context) {
  if (scan.automatic_center) use_automatic_center(scan, find_automatic_center(scan, context), context.progress);
}

std::string to_json(const AutomaticCenter& found) {
  return ascii_json_text(nlohmann::json{{"known", found.known},
                                        {"column", found.column},
                                        {"middle_row", found.middle_row},
                                        {"in_plane_deg", found.in_plane_deg},
                                        {"line", found.line},
                                        {"warnings", found.warnings}});
}

AutomaticCenter automatic_center_from_json(const std::string& json) {
  const auto all = parse_json(json);
  return {all.at("known").get<bool>(),          all.at("column").get<double>(),    all.at("middle_row").get<double>(),
          all.at("in_plane_deg").get<double>(), all.at("line").get<std::string>(), all.at("warnings")};
}

}  // namespace lepus
