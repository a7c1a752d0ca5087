// SPDX-License-Identifier: Apache-2.0
// Bands in device memory: recorded pixels become grey levels or line integrals, grey levels line integrals, and views
// are taken out of the band, with rows resampled where they are not those that are filtered.
#pragma once

#include <cuda_runtime_api.h>

#include "device/band_kernels.h"
#include "project/row_map.h"

namespace lepus::cuda {

// As BandKernels::to_stage.
void launch_to_stage(PixelType type, const void* recorded, const SinogramBand& band, const BandStaging& staging,
                     cudaStream_t stream);
// p = -ln max(g, lowest); lowest is what staging.clip counts of the pixel make, or lowest_of_lines where the frames
// were line integrals.
void launch_logarithm(const SinogramBand& band, const BandStaging& staging, float lowest_of_lines, cudaStream_t stream);

// Rows of the band of some views, [view][row][column]: views[i] is the i-th's number, in device memory.
void launch_take_views(const SinogramBand& band, RowBand rows, const std::int64_t* views, std::int64_t count,
                       float* out, cudaStream_t stream);

// The same of rows that are made from those of the band, `columns` long: map has tables in device memory.
void launch_map_views(const SinogramBand& band, const RowMap& map, RowBand rows, std::int64_t columns,
                      const std::int64_t* views, std::int64_t count, float* out, cudaStream_t stream);

// Pictures with rows and columns exchanged, packed.
void launch_transpose(const Planes& in, const Planes& out, cudaStream_t stream);

}  // namespace lepus::cuda
