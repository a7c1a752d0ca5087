// SPDX-License-Identifier: Apache-2.0
#include "job/map_filters.h"

#include <vector>

#include "core/memory.h"
#include "filter/ramp.h"
#include "iterative/vectors.h"

namespace lepus {
namespace {

// The map's vector where the host works in its memory, else a copy of it.
template <class Value>
Value* on_host(LinearMap& map, Value* vector, std::int64_t count, std::vector<float>& copy) {
  if (map.home().info().host) return vector;
  copy.resize(static_cast<std::size_t>(count));
  Algebra(map).copy_values(copy.data(), vector, count);
  return copy.data();
}

}  // namespace

void fdk_of_map(LinearMap& map, const ScanGeometry& geometry, const VolumeGrid& grid, const FdkOptions& options,
                const float* line_integrals, float* volume) {
  std::vector<float> copy, voxels(static_cast<std::size_t>(map.voxels()));
  const float* values = on_host(map, line_integrals, map.values(), copy);
  fdk(geometry, {values, static_cast<std::size_t>(map.values())}, grid, voxels, options);
  Algebra(map).copy_values(volume, voxels.data(), map.voxels());
}

void ramp_of_map(LinearMap& map, const ScanGeometry& geometry, int threads, float* line_integrals) {
  const std::int64_t columns = geometry.columns, rows = geometry.views() * geometry.rows;
  std::vector<float> copy;
  float* values = on_host(map, line_integrals, rows * columns, copy);
  const RampFilter filter(columns, RampOptions{});
  ThreadPool pool(threads);
  std::vector<Buffer<float>> scratch;
  scratch.reserve(static_cast<std::size_t>(pool.size()));
  for (int i = 0; i < pool.size(); ++i) scratch.emplace_back(filter.scratch_floats());
  pool.parallel_for(0, rows, 64, [&](std::int64_t begin, std::int64_t end, int worker) {
    for (std::int64_t row = begin; row < end; ++row)
      filter.apply(values + row * columns, scratch[static_cast<std::size_t>(worker)].data());
  });
  if (values != line_integrals) Algebra(map).copy_values(line_integrals, values, rows * columns);
}

}  // namespace lepus
