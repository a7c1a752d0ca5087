// SPDX-License-Identifier: Apache-2.0
// IBA's projections as DICOM objects, each with its gantry angle, and the calibration in them or beside them.
#pragma once

#include <filesystem>

#include "import/scanner.h"

namespace lepus {

// By its ending and its manufacturer; false where it cannot be read.
bool is_iba_dicom(const std::filesystem::path& file);
// The scan of all DICOM files that lie beside this one.
ImportedScan read_iba_dicom(const std::filesystem::path& file);

}  // namespace lepus
