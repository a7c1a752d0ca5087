// SPDX-License-Identifier: Apache-2.0
#include "analysis/porosity.h"

#include <algorithm>
#include <bit>

namespace lepus::analysis {
namespace {

std::int64_t count_range(const Word* row, std::int64_t first, std::int64_t last) {
  std::int64_t count = 0;
  each_word(first, last, [&](std::int64_t word, Word mask) { count += std::popcount(row[word] & mask); });
  return count;
}

}  // namespace

Porosity measure_porosity(const BitVolume& phase, const BitVolume& inside, const Components& components,
                          const std::vector<std::uint8_t>& touched, std::int64_t cell_edge, Context& context) {
  const VolumeSize& size = phase.size();
  Porosity result;
  for (std::size_t i = 1; i < touched.size(); ++i) result.open += touched[i] != 0 ? components.voxels()[i] : 0;
  result.slice_inside.resize(static_cast<std::size_t>(size.nz));
  result.slice_phase.resize(static_cast<std::size_t>(size.nz));
  CellCounts& cells = result.cells;
  const auto cells_along = [&](std::int64_t n) { return (n + cell_edge - 1) / cell_edge; };
  cells = {cell_edge, cells_along(size.nx), cells_along(size.ny), cells_along(size.nz), {}, {}};
  cells.inside.resize(static_cast<std::size_t>(cells.nx * cells.ny * cells.nz));
  cells.phase.resize(cells.inside.size());
  const int workers = context.threads.size();
  WorkerSlices inside_words(inside, workers), phase_words(phase, workers);
  context.threads.parallel_for(0, cells.nz, 1, [&](std::int64_t layer, std::int64_t, int worker) {
    for (std::int64_t z = layer * cell_edge; z < std::min(size.nz, (layer + 1) * cell_edge); ++z) {
      const Word *const in = inside.slice(z, inside_words[worker]), *const ph = phase.slice(z, phase_words[worker]);
      const auto at_slice = static_cast<std::size_t>(z);
      for (std::int64_t y = 0; y < size.ny; ++y)
        for (std::int64_t cx = 0; cx < cells.nx; ++cx) {
          const std::int64_t first = cx * cell_edge, last = std::min(size.nx, first + cell_edge),
                             row = y * inside.row_words();
          const std::int64_t n = count_range(in + row, first, last), m = count_range(ph + row, first, last);
          const auto cell = static_cast<std::size_t>((layer * cells.ny + y / cell_edge) * cells.nx + cx);
          cells.inside[cell] += n;
          cells.phase[cell] += m;
          result.slice_inside[at_slice] += n;
          result.slice_phase[at_slice] += m;
        }
    }
  });
  for (const std::int64_t n : result.slice_inside) result.inside += n;
  for (const std::int64_t n : result.slice_phase) result.phase += n;
  return result;
}

std::vector<std::uint8_t> border_touching(const Components& components, const BitVolume& inside, Context& context) {
  const VolumeSize& size = inside.size();
  const std::int64_t row = inside.row_words(), words = inside.slice_words();
  WorkerSlices before(inside, components.pieces()), here(inside, components.pieces()),
      after(inside, components.pieces());
  const std::vector<Word> nothing(static_cast<std::size_t>(words), 0);
  return components_touching(
      components,
      [&](std::int64_t z, Word* marks, int piece) {
        const Word* const now = inside.slice(z, here[piece]);
        const Word* const below = z > 0 ? inside.slice(z - 1, before[piece]) : nothing.data();
        const Word* const above = z + 1 < size.nz ? inside.slice(z + 1, after[piece]) : nothing.data();
        for (std::int64_t y = 0; y < size.ny; ++y)
          for (std::int64_t w = 0; w < row; ++w) {
            const std::int64_t i = y * row + w;
            const Word left = now[i] << 1 | (w > 0 ? now[i - 1] >> 63 : 0);
            const Word right = now[i] >> 1 | (w + 1 < row ? now[i + 1] << 63 : 0);
            const Word front = y > 0 ? now[i - row] : 0, back = y + 1 < size.ny ? now[i + row] : 0;
            marks[i] = now[i] & ~(left & right & front & back & below[i] & above[i]);
          }
      },
      context);
}

}  // namespace lepus::analysis
