// SPDX-License-Identifier: Apache-2.0
#include "operators/sparse_matrix.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "core/format.h"
#include "io/npz_file.h"
#include "project/ray_views.h"
#include "project/visit_voxels.h"
#include <lepus/error.h>

namespace lepus {

SparseMatrix sparse_matrix(const ScanGeometry& geometry, const VolumeGrid& grid, RayModel model,
                           std::int64_t maximum_bytes, ThreadPool& threads) {
  const JosephGrid joseph = joseph_grid(grid);
  const std::vector<JosephView> views = joseph_views(geometry, grid);
  SparseMatrix matrix;
  matrix.rows = geometry.views() * geometry.rows * geometry.columns;
  matrix.columns = grid.voxels();
  if (matrix.rows < 1)
    throw Error(ErrorKind::usage,
                {.what = "a scan without views or pixels has no matrix", .where = {}, .why = {}, .hint = {}});
  const IndexBox box = whole_grid(joseph);
  const auto row_of = [&](std::int64_t row, const auto& visit) {
    const std::int64_t u = row % geometry.columns, v = row / geometry.columns % geometry.rows;
    visit_voxels<double>(model, views[static_cast<std::size_t>(row / geometry.columns / geometry.rows)], joseph,
                         static_cast<double>(u), static_cast<double>(v), box, visit);
  };
  const auto each_row = [&](const auto& body) {
    threads.parallel_for(0, matrix.rows, 256, [&](std::int64_t first, std::int64_t last, int) {
      for (std::int64_t row = first; row < last; ++row) body(row);
    });
  };
  // Once to count, once to keep. Weights of zero are left out.
  matrix.starts.assign(static_cast<std::size_t>(matrix.rows) + 1, 0);
  each_row([&](std::int64_t row) {
    std::int64_t count = 0;
    row_of(row, [&](int, int, int, double weight) { count += static_cast<float>(weight) != 0; });
    matrix.starts[static_cast<std::size_t>(row) + 1] = count;
  });
  for (std::size_t row = 0; row < static_cast<std::size_t>(matrix.rows); ++row)
    matrix.starts[row + 1] += matrix.starts[row];
  constexpr std::int64_t entry_bytes = sizeof(std::int64_t) + sizeof(float);
  if (matrix.starts.back() > maximum_bytes / entry_bytes)
    throw Error(ErrorKind::memory,
                {.what = "the matrix is too large to be written out",
                 .where = {},
                 .why = format("its {} entries need {} MiB, and {} MiB may be used", matrix.starts.back(),
                               (matrix.starts.back() * entry_bytes) >> 20, maximum_bytes >> 20),
                 .hint = "take fewer views, pixels or voxels, or use the operator, which needs no matrix"});
  matrix.indices.resize(static_cast<std::size_t>(matrix.starts.back()));
  matrix.values.resize(static_cast<std::size_t>(matrix.starts.back()));
  each_row([&](std::int64_t row) {
    std::vector<std::pair<std::int64_t, float>> entries;
    row_of(row, [&](int x, int y, int z, double weight) {
      const std::int64_t at =
          (static_cast<std::int64_t>(z + joseph.middle[2]) * grid.ny + y + joseph.middle[1]) * grid.nx;
      if (static_cast<float>(weight) != 0) entries.emplace_back(at + x + joseph.middle[0], static_cast<float>(weight));
    });
    std::sort(entries.begin(), entries.end());
    auto out = static_cast<std::size_t>(matrix.starts[static_cast<std::size_t>(row)]);
    for (const auto& [index, value] : entries) {
      matrix.indices[out] = index;
      matrix.values[out++] = value;
    }
  });
  return matrix;
}

// The names are those of scipy.sparse.save_npz.
void write_npz(const SparseMatrix& matrix, const std::filesystem::path& file, bool force) {
  const std::int64_t shape[2] = {matrix.rows, matrix.columns};
  write_npz_file(file, force,
                 {npz_array("indices", matrix.indices.data(), matrix.indices.size()),
                  npz_array("indptr", matrix.starts.data(), matrix.starts.size()), npz_text("format", "csr"),
                  npz_array("shape", shape, 2), npz_array("data", matrix.values.data(), matrix.values.size())});
}

}  // namespace lepus
