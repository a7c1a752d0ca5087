// SPDX-License-Identifier: Apache-2.0
// The operations on bands that OpenCL devices have: stages, hot pixels, zingers, rings. All need double precision on
// the device; where it lacks that, the host works on the band.
#pragma once

#include <memory>

#include "device/band_kernels.h"
#include "device/opencl/program.h"
#include "device/opencl/queue.h"
#include "project/row_map.h"

namespace lepus::opencl {

std::unique_ptr<BandKernels> make_band_kernels(const Context& context);

// What it is made of, beside ring_methods.h. counts: in device memory.
void replace_hot_pixels(const Planes& sinograms, const pixels::HotRules& rules, int iterations, std::int64_t* counts,
                        Queue& queue);
void replace_zingers(const Planes& sinograms, const pixels::ZingerRules& rules, std::int64_t* counts, Queue& queue);

// Rows of views of a band, [view][row][column], as they are or as the map makes them from recorded ones. `views` and
// the map's tables lie in device memory.
void take_views(const SinogramBand& band, RowBand rows, const std::int64_t* views, std::int64_t count, float* out,
                Queue& queue);
void map_views(const SinogramBand& band, const RowMap& map, RowBand rows, std::int64_t columns,
               const std::int64_t* views, std::int64_t count, float* out, Queue& queue);

// Planes as kernels/*.cl have them.
struct PlanesArgument {
  explicit PlanesArgument(const Planes& p)
      : width(p.width), height(p.height), row_stride(p.row_stride), plane_stride(p.plane_stride) {}
  cl_long width, height, row_stride, plane_stride;
};

// Work-items along columns.
inline constexpr Sizes columns_group{64, 1, 1};
inline Sizes along_columns(std::int64_t columns, std::int64_t y, std::int64_t z) {
  return {(columns + columns_group[0] - 1) / columns_group[0], y, z};
}

}  // namespace lepus::opencl
