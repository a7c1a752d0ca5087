// SPDX-License-Identifier: Apache-2.0
// What is stored of a volume's voxels, as the user chose it.
#pragma once

#include <filesystem>

#include "core/context.h"
#include "io/volume_file.h"
#include <lepus/output_values.h>

namespace lepus {

// The type and the scale of the writer. Error(usage) where the range of integers is none.
void set_output_values(VolumeWriterOptions& options, const OutputValues& values);

// Error(unsupported) where the format of `path` cannot store them: for volumes that are written after long work.
void check_output_values(const std::filesystem::path& path, const OutputValues& values);

// A warning where voxels were beyond what the output stores.
void warn_of_cut_off(const VolumeWriter& writer, const VolumeGrid& grid, Progress& progress);

}  // namespace lepus
