// SPDX-License-Identifier: Apache-2.0
// A frame that is missing from a numbered series would shift every later view to a wrong angle without anybody
// noticing.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lepus {

// The name of the first file that a numbered series lacks ("frames/0007.tif" between 0006 and 0008), "" where none is:
// the names differ in one number only, and all steps but a few (a tenth at most) are the same.
std::string missing_in_series(const std::vector<std::filesystem::path>& files);

}  // namespace lepus
