// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/band_kernels/phase_device.h"

#include <algorithm>

#include "device/cuda/cuda_check.h"
#include "device/cuda/device.h"
#include "device/cuda/band_kernels/beam_kernels.h"
#include "device/cuda/band_kernels/frame_transforms.h"

namespace lepus::cuda {
namespace {

constexpr std::int64_t batch_bytes = std::int64_t{128} << 20;  // of tiles in one transform: enough to fill a card

DeviceBuffer<float2> uploaded(const std::vector<Complex32>& values) {
  static_assert(sizeof(Complex32) == sizeof(float2));
  DeviceBuffer<float2> buffer(static_cast<std::int64_t>(values.size()));
  copy_to_device(buffer.data(), values.data(), static_cast<std::size_t>(buffer.bytes()), "copy twiddles to the device");
  return buffer;
}

}  // namespace

struct PhaseDevice::State {
  const PhasePlan& plan;
  std::int64_t row_floats, tile_floats, batch;
  DeviceBuffer<float2> row_twiddles, column_twiddles;
  FrameTransforms transforms;

  State(const PhasePlan& p, std::int64_t views)
      : plan(p),
        row_floats(2 * (p.filter.width / 2 + 1)),
        tile_floats(p.filter.height * row_floats),
        batch(std::clamp<std::int64_t>(batch_bytes / (tile_floats * 4), 1, views)),
        row_twiddles(uploaded(p.row_twiddles)),
        column_twiddles(uploaded(p.column_twiddles)),
        transforms(p.filter.height, p.filter.width, batch) {}
};

PhaseDevice::PhaseDevice(const PhasePlan& plan, std::int64_t views)
    : state_(std::make_unique<State>(plan, std::max<std::int64_t>(views, 1))) {}
PhaseDevice::~PhaseDevice() = default;

void PhaseDevice::apply(const SinogramBand& band, RowBand wanted, Queue& queue) {
  if (wanted.size() <= 0 || band.views < 1) return;
  State& s = *state_;
  const ScratchScope scope(queue);
  const cudaStream_t stream = stream_of(queue);
  const RowBand numbers = s.plan.tiles_of(wanted);
  const std::int64_t tiles = numbers.size();
  // Rows of a view are written back only after all its tiles were read: a group holds whole views.
  const std::int64_t group = std::max<std::int64_t>(1, s.batch / tiles);
  const std::int64_t transforms = (group * tiles + s.batch - 1) / s.batch;
  TileBatch batch;
  batch.data = queue.scratch<float>(transforms * s.batch * s.tile_floats);
  batch.tiles = tiles;
  batch.first_tile = numbers.first;
  batch.row_floats = s.row_floats;
  // What the last group leaves unused is transformed all the same; zeros keep it free of NaN traps and slow numbers.
  check(cudaMemsetAsync(batch.data, 0, static_cast<std::size_t>(transforms * s.batch * s.tile_floats) * sizeof(float),
                        stream),
        "clear tiles");
  const Planes frames = band.frames();
  for (std::int64_t view = 0; view < band.views; view += group) {
    batch.first_view = view;
    batch.views = std::min(group, band.views - view);
    launch_gather_tiles(frames, band.rows.first, s.plan.tiles, batch, stream);
    const std::int64_t needed = (batch.views * tiles + s.batch - 1) / s.batch;
    for (std::int64_t i = 0; i < needed; ++i) s.transforms.there(stream, batch.data + i * s.batch * s.tile_floats);
    launch_phase_filter(s.plan.filter, s.row_twiddles.data(), s.column_twiddles.data(), batch, stream);
    for (std::int64_t i = 0; i < needed; ++i) s.transforms.back(stream, batch.data + i * s.batch * s.tile_floats);
    launch_scatter_tiles(frames, band.rows.first, wanted, s.plan.tiles, batch, stream);
  }
}

}  // namespace lepus::cuda
