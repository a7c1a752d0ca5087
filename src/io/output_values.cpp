// SPDX-License-Identifier: Apache-2.0
#include "io/output_values.h"

#include "core/format.h"

namespace lepus {

void set_output_values(VolumeWriterOptions& options, const OutputValues& values) {
  options.type = values.type == VoxelType::uint16    ? PixelType::u16
                 : values.type == VoxelType::float16 ? PixelType::f16
                                                     : PixelType::f32;
  if (values.type == VoxelType::uint16) options.scale = scale_of_range(values.low, values.high);
}

void warn_of_cut_off(const VolumeWriter& writer, const VolumeGrid& grid, Progress& progress) {
  if (const std::int64_t count = writer.cut_off(); count > 0)
    progress.warning(
        format("{} of {} voxels ({:.3g} %) were beyond the range that the output stores and got its nearest value",
               count, grid.voxels(), 100.0 * static_cast<double>(count) / static_cast<double>(grid.voxels())));
}

}  // namespace lepus
