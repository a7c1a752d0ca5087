// SPDX-License-Identifier: Apache-2.0
#include "operators/plan.h"

#include <algorithm>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus {
namespace {

// Two wedges are on a device: one is worked on while the other is copied.
constexpr std::int64_t wedges_at_once = 2;
// Fewer views than this in a wedge keep a device waiting for its launches and copies.
constexpr std::int64_t enough_views = 8;

std::vector<ViewRange> cut_views(std::int64_t views, std::int64_t most, std::int64_t block) {
  const std::int64_t step = std::max(block, most / block * block);
  std::vector<ViewRange> wedges;
  for (std::int64_t first = 0; first < views; first += step) wedges.push_back({first, std::min(step, views - first)});
  return wedges;
}

// Part `i` of `n` about equal ones of [0, size).
std::int64_t cut(std::int64_t size, std::int64_t i, std::int64_t n) { return size * i / n; }

template <class ChunkOf>
OperatorPlan plan(const OperatorSizes& sizes, std::int64_t units, std::int64_t fewest_chunks, std::int64_t view_block,
                  const ChunkOf& chunk_of) {
  const std::int64_t views = sizes.geometry.views(), block = std::min(view_block, views);
  const std::int64_t slice_bytes = sizes.volume_there ? 0 : sizes.grid.nx * sizes.grid.ny * std::int64_t{sizeof(float)};
  const std::int64_t row_bytes = sizes.geometry.columns * std::int64_t{sizeof(float)};
  const auto attempt = [&](std::int64_t chunks, std::int64_t minimum_views) {
    OperatorPlan made;
    made.volume_there = sizes.volume_there;
    std::int64_t slices = 0, rows = 0;
    for (std::int64_t i = 0; i < chunks; ++i) {
      made.chunks.push_back(chunk_of(cut(units, i, chunks), cut(units, i + 1, chunks)));
      slices = std::max(slices, made.chunks.back().slices.slices());
      rows = std::max(rows, made.chunks.back().rows.size());
    }
    const auto bytes = [&](std::int64_t wedge) {
      return slices * slice_bytes + std::min(wedges_at_once * wedge, views) * rows * row_bytes +
             sizes.projector.work_bytes(slices, wedge, rows);
    };
    // Several wedges each, so that devices that are done take from those that are not.
    std::int64_t wedge = std::max(block, (views + 4 * sizes.workers - 1) / (4 * sizes.workers));
    while (wedge > minimum_views && bytes(wedge) > sizes.device_bytes) wedge = std::max(minimum_views, wedge / 2);
    made.bytes = bytes(wedge);
    made.wedges = cut_views(views, wedge, block);
    return made;
  };
  const std::int64_t comfortable = std::max(block, std::min(enough_views, views));
  for (std::int64_t chunks = std::min(fewest_chunks, units); chunks <= units;
       chunks = chunks == units ? units + 1 : std::min(units, chunks + (chunks + 1) / 2))
    if (OperatorPlan made = attempt(chunks, comfortable); made.bytes <= sizes.device_bytes) return made;
  OperatorPlan thinnest = attempt(units, block);
  if (thinnest.bytes > sizes.device_bytes)
    throw Error(ErrorKind::memory,
                {.what = sizes.on_host ? "the operator does not fit into the memory, however it is cut"
                                       : "the operator does not fit a device's memory, however it is cut",
                 .where = {},
                 .why = format("the thinnest piece needs {} MiB, and {} MiB may be used", (thinnest.bytes >> 20) + 1,
                               sizes.device_bytes >> 20),
                 .hint = sizes.on_host ? "allow more with --memory, or make the voxels larger"
                                       : "allow more device memory, or compute on the host"});
  return thinnest;
}

}  // namespace

OperatorPlan plan_forward(const OperatorSizes& sizes) {
  return plan(sizes, sizes.geometry.rows, 1, 1, [&](std::int64_t first, std::int64_t last) {
    const RowBand rows{first, last};
    return OperatorChunk{rows, sizes.pieces.slices({0, sizes.geometry.views()}, rows)};
  });
}

OperatorPlan plan_adjoint(const OperatorSizes& sizes) {
  return plan(sizes, sizes.grid.nz, sizes.workers, sizes.projector.view_block(),
              [&](std::int64_t first, std::int64_t last) {
                const SlabRange slices{first, last};
                return OperatorChunk{sizes.pieces.rows({0, sizes.geometry.views()}, slices), slices};
              });
}

}  // namespace lepus
