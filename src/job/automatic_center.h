// SPDX-License-Identifier: Apache-2.0
// center = "auto" in a scan file: the axis goes where the frames show it, before the volume is made.
#pragma once

#include <string>
#include <vector>

#include "core/context.h"
#include "scan/scan.h"

namespace lepus {

// What was found, with all that the scan needs of it, so that it need not be looked for twice.
struct AutomaticCenter {
  bool known = false;  // false: the axis stays where the scan file has it
  double column = 0, middle_row = 0, in_plane_deg = 0;
  std::string line;  // for the report
  std::vector<std::string> warnings;
};

AutomaticCenter find_automatic_center(const Scan& scan, Context& context);
// Puts the axis there; `progress` is told.
void use_automatic_center(Scan& scan, const AutomaticCenter& found, Progress& progress);
// Both, where the scan file asks for it.
void center_automatically(Scan& scan, Context& context);

std::string to_json(const AutomaticCenter& found);
AutomaticCenter automatic_center_from_json(const std::string& json);  // that to_json wrote

}  // namespace lepus
