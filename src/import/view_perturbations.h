// SPDX-License-Identifier: Apache-2.0
// What each view of a scanner deviates by, as keys of the scan file.
#pragma once

#include <string>
#include <vector>

#include "import/scan_file_text.h"
#include <lepus/geometry.h>

namespace lepus {

// What is the same in all views becomes an offset of the axis, a shift or a tilt of the detector, the rest
// geometry.view_perturbations; nothing where no view deviates. At least one view.
void set_view_perturbations(const std::vector<ViewPerturbation>& views, const std::string& from, ScanFileText& text);

}  // namespace lepus
