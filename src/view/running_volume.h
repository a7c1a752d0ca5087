// SPDX-License-Identifier: Apache-2.0
// The output of a reconstruction that still runs: the partial MetaImage beside it (core/output_file.h), whose header is
// there from the start and whose slabs come in any order. What was not written yet is a hole in the file, or lies
// beyond its end, and reads as NaN. Slices smaller than a block of the file system may show a neighbour's block as 0.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "io/volume_file.h"

namespace lepus::view {

// "v.mha" -> "v.mha.partial-4711-0a1b2c3d" where a run writes it now, or "v.mha.partial" where one can go on with it.
std::optional<std::filesystem::path> partial_of(const std::filesystem::path& output);
bool is_partial_name(const std::filesystem::path& path);

using SliceRanges = std::vector<std::pair<std::int64_t, std::int64_t>>;  // [z0, z1), ascending

class RunningVolume : public VolumeReader {
public:
  virtual SliceRanges written() const = 0;  // slices of which every byte is there now
};

// Throws Error(unsupported) for formats whose partial file cannot be read.
std::unique_ptr<RunningVolume> open_running_volume(const std::filesystem::path& partial);

}  // namespace lepus::view
