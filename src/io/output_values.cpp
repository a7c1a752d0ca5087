// SPDX-License-Identifier: Apache-2.0
#include "io/output_values.h"

#include "core/check_numbers.h"
#include "core/format.h"
#include <lepus/error.h>

namespace lepus {

void set_output_values(VolumeWriterOptions& options, const OutputValues& values) {
  check_named(values.type, VoxelType::uint16, "VoxelType");
  if (values.type != VoxelType::uint16 && !(values.low == 0 && values.high == 0))
    throw Error(ErrorKind::usage, {.what = "floats need no range of values",
                                   .where = "option --output-range",
                                   .why = format("{} to {} are given", values.low, values.high),
                                   .hint = "leave it out, or store uint16"});
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
