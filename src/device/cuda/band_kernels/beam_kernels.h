// SPDX-License-Identifier: Apache-2.0
// The device's versions of device/host/band_kernels/view_loops.h and of the steps of phase retrieval around the
// transform. Planes, factors and spectra are in device memory; everything runs on the stream.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "device/band_kernels.h"
#include "project/beam_formulas.h"
#include "project/flat_formulas.h"
#include "project/phase_filter.h"
#include "project/planes.h"

namespace lepus::cuda {

void launch_scale_views(const Planes& sinograms, const float* factors, cudaStream_t stream);
void launch_remove_lag(const Planes& sinograms, const LagModel& model, LagStart start, cudaStream_t stream);
void launch_linearise(const Planes& sinograms, const HardeningCurve& curve, cudaStream_t stream);

// sinograms: from detector row first_row on.
void launch_interpolate_flats(const Planes& sinograms, std::int64_t first_row, const FlatsOfViews& flats,
                              cudaStream_t stream);

// A batch of tiles: tile t of view v at (v - first_view) * tiles + t, each of height x row_floats floats, the spectrum
// in place of the reals (row_floats = 2 (width / 2 + 1)).
struct TileBatch {
  float* data = nullptr;
  std::int64_t first_view = 0, views = 0, tiles = 0;
  std::int64_t first_tile = 0;  // absolute number of tile 0
  std::int64_t row_floats = 0;
};

// frames: of the band, whose first row is detector row `band_first`.
void launch_gather_tiles(const Planes& frames, std::int64_t band_first, const PhaseTiles& tiles, const TileBatch& batch,
                         cudaStream_t stream);
void launch_phase_filter(const PhaseFilter& filter, const float2* row_twiddles, const float2* column_twiddles,
                         const TileBatch& batch, cudaStream_t stream);
// Rows [first, last) of the detector from the tiles back into the band.
void launch_scatter_tiles(const Planes& frames, std::int64_t band_first, RowBand wanted, const PhaseTiles& tiles,
                          const TileBatch& batch, cudaStream_t stream);

}  // namespace lepus::cuda
