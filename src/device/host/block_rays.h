// SPDX-License-Identifier: Apache-2.0
// Rays of which every one has a place of its own in every layer of voxels across x or y, and weights for blocks of four
// voxels there: two by two around Joseph's sample (views that do not stand upright), or that Siddon's ray may run
// through; four on top of each other, as often as it takes, of a footprint (views that are not upright). Lanes are rows
// of a detector column; with z fastest in memory the voxels of all lanes mostly come with one load, else two at a time.
// A and its transpose take their weights from the same functions (block_weights-inl.h, footprint_weights-inl.h).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "geometry/row_band.h"
#include "project/footprint.h"
#include "project/joseph.h"
#include "project/siddon.h"

namespace lepus::cpu {

enum class BlockModel { linear, lengths, footprints };

// What is known of a ray: the first four always, then Siddon's or the footprint's.
enum class RayField { a0, da, b0, db, per_a = 4, per_b, begin, end, au0 = 4, dau, av0, dav, bu0, dbu, bv0, dbv };
inline std::int64_t fields_of(BlockModel model) {
  return model == BlockModel::footprints ? 12 : model == BlockModel::lengths ? 8 : 4;
}

// Rays of detector columns, rows side by side.
struct BlockRays {
  std::int64_t stride = 0;  // floats per column
  std::int64_t fields_per_ray = 0;
  std::vector<float> fields, value;  // fields: a column's one after the other
  // Layers [first, last) on x and on y; none where the ray has them on another axis.
  std::vector<float> first[2], last[2];
  // Of every column: whether all of its rays cross all layers on x, or on y, none of which lies behind the source.
  // Beyond [first, last) they meet no voxel.
  std::vector<char> whole[2];

  void resize(std::int64_t columns, std::int64_t rows, BlockModel model);
  void set(std::int64_t column, std::int64_t row, const JosephRay& ray, float its_value);
  void set(std::int64_t column, std::int64_t row, const SiddonRay<float>& ray, float its_value);
  void set(std::int64_t column, std::int64_t row, const FootprintRay<float>& ray, float its_value);
  // When all rows of a column are set. in_front: all layers on x, or on y, lie in front of the source.
  void finish(std::int64_t column, RowBand rows, const bool (&in_front)[2]);

  const float* field(std::int64_t column, RayField which) const {
    return fields.data() + (column * fields_per_ray + static_cast<std::int64_t>(which)) * stride;
  }
  float* field(std::int64_t column, RayField which) {
    return const_cast<float*>(std::as_const(*this).field(column, which));
  }
  static std::int64_t floats_per_ray(BlockModel model) { return fields_of(model) + 5; }
};

// Voxels of zero on both sides of the slab on x and y, and as many cells around a tile; slices before the first.
inline constexpr std::int64_t block_margin = 2, block_slices_before = 4;
// Cells on z for a slab of slices; a block that begins behind the last one counts for nothing.
inline std::int64_t block_cells(std::int64_t slices) { return block_slices_before + slices + 1; }

// One column of rays through the slices held, z fastest and with voxels of zero around them:
// voxels[((y + block_margin) * (nx + 2 * block_margin) + x + block_margin) * stride + z - z0 + block_slices_before].
// Sums are not yet multiplied by the way.
struct BlockForward {
  JosephGrid grid;
  const BlockRays* rays = nullptr;
  std::int64_t column = 0, rows = 0;
  const float* voxels = nullptr;
  std::int64_t stride = 0, z0 = 0, z1 = 0;
  float* sums = nullptr;
};

// One layer of a tile (from the middle): voxel columns [a_first, a_last) on the layer's first axis. Rays of the pixels
// that see it share their values out to blocks of four voxels that begin at (j, k):
// blocks[((j - a_first + block_margin) * cells + k - z0 + block_slices_before) * 4].
inline constexpr std::int64_t block_rows_together = 8;  // a vector has as many lanes, or a part of that
struct BlockBack {
  JosephGrid grid;
  const BlockRays* rays = nullptr;
  int axis = 0, layer = 0;
  std::int64_t u0 = 0, u1 = 0, row0 = 0, row1 = 0;  // places in BlockRays; row0 is a multiple of block_rows_together
  std::int64_t a_first = 0, a_last = 0, z0 = 0, z1 = 0, cells = 0;
  float* blocks = nullptr;
};

struct BlockKernel {
  const char* target;
  void (*forward)(const BlockForward&);
  void (*back)(const BlockBack&);
  // Adds what the blocks of one j have for the voxel columns j and j + 1; null: not the tile's. blocks: of slice z0.
  void (*add_blocks)(const float* blocks, std::int64_t slices, float* lower, float* upper);
};
BlockKernel chosen_block_kernel(BlockModel model);

}  // namespace lepus::cpu
