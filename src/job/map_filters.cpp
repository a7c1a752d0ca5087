// SPDX-License-Identifier: Apache-2.0
#include "job/map_filters.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/format.h"
#include "core/memory.h"
#include "filter/ramp.h"
#include "io/frames.h"
#include "io/volume_file.h"
#include "iterative/vectors.h"
#include "run/fdk.h"
#include "run/float_bytes.h"
#include <lepus/error.h>

namespace lepus {
namespace {

// Vectors in files as the source of frames and the sink of slices, read and written by any thread.
class VectorFrames final : public FrameSource {
public:
  VectorFrames(const ScanGeometry& geometry, Device& home, const float* values)
      : columns_(geometry.columns), rows_(geometry.rows), frames_(geometry.views()), home_(home), values_(values) {}
  std::int64_t columns() const override { return columns_; }
  std::int64_t rows() const override { return rows_; }
  std::int64_t frames() const override { return frames_; }
  PixelType pixel_type() const override { return PixelType::f32; }
  std::string name(std::int64_t frame) const override { return format("line integrals, view {}", frame); }
  void read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const override {
    const auto queue = home_.make_queue(QueueRank::beside);
    home_.copy(out, values_ + (frame * rows_ + row0) * columns_, (row1 - row0) * columns_ * float_bytes, *queue);
  }

private:
  std::int64_t columns_, rows_, frames_;
  Device& home_;
  const float* values_;
};

class VectorVolume final : public VolumeWriter {
public:
  VectorVolume(const VolumeGrid& grid, Device& home, float* voxels)
      : slice_(grid.nx * grid.ny), home_(home), voxels_(voxels) {}
  void write(std::int64_t z0, std::int64_t z1, const float* slices) override {
    const auto queue = home_.make_queue(QueueRank::beside);
    home_.copy(voxels_ + z0 * slice_, slices, (z1 - z0) * slice_ * float_bytes, *queue);
  }
  void finish(const std::string&) override {}

private:
  std::int64_t slice_;
  Device& home_;
  float* voxels_;
};

}  // namespace

void fdk_of_map(LinearMap& map, const ScanGeometry& geometry, const VolumeGrid& grid, const FdkOptions& options,
                const float* line_integrals, float* volume) {
  Device& home = map.home();
  if (home.info().kind == files::kind) {
    const VectorFrames frames(geometry, home, line_integrals);
    VectorVolume writer(grid, home, volume);
    return fdk(geometry, frames, grid, writer, options);
  }
  std::vector<float> copy, voxels(static_cast<std::size_t>(map.voxels()));
  if (!home.info().host) {
    copy.resize(static_cast<std::size_t>(map.values()));
    Algebra(map).copy_values(copy.data(), line_integrals, map.values());
    line_integrals = copy.data();
  }
  fdk(geometry, {line_integrals, static_cast<std::size_t>(map.values())}, grid, voxels, options);
  Algebra(map).copy_values(volume, voxels.data(), map.voxels());
}

void require_fdk_beside(const files::Setup& files, const ScanGeometry& geometry, const VolumeGrid& grid,
                        FdkOptions options) try {
  options.compute.memory_bytes = resident_bytes() + files.work_bytes;
  require_fdk_memory(geometry, grid, options);
} catch (const Error& error) {
  if (error.kind() != ErrorKind::memory) throw;
  throw Error(ErrorKind::memory, {.what = "FDK does not fit into the memory beside the method's vectors",
                                  .where = {},
                                  .why = error.parts().why,
                                  .hint = "allow more with --memory"});
}

void ramp_of_map(LinearMap& map, const ScanGeometry& geometry, int threads, float* line_integrals) {
  constexpr std::int64_t values_at_once = 1 << 20;  // where they do not lie in the host's memory
  const std::int64_t columns = geometry.columns, rows = geometry.views() * geometry.rows;
  const bool here = map.home().info().host;
  const std::int64_t rows_at_once = here ? rows : std::max<std::int64_t>(1, values_at_once / columns);
  const RampFilter filter(columns, RampOptions{});
  ThreadPool pool(threads);
  std::vector<Buffer<float>> scratch;
  scratch.reserve(static_cast<std::size_t>(pool.size()));
  for (int i = 0; i < pool.size(); ++i) scratch.emplace_back(filter.scratch_floats());
  std::vector<float> copy(static_cast<std::size_t>(here ? 0 : rows_at_once * columns));
  Algebra algebra(map);
  for (std::int64_t first = 0; first < rows; first += rows_at_once) {
    const std::int64_t count = std::min(rows_at_once, rows - first);
    float* const there = line_integrals + first * columns;
    float* const values = here ? there : copy.data();
    if (!here) algebra.copy_values(values, there, count * columns);
    pool.parallel_for(0, count, 64, [&](std::int64_t begin, std::int64_t end, int worker) {
      for (std::int64_t row = begin; row < end; ++row)
        filter.apply(values + row * columns, scratch[static_cast<std::size_t>(worker)].data());
    });
    if (!here) algebra.copy_values(there, values, count * columns);
  }
}

}  // namespace lepus
