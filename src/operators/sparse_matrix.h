// SPDX-License-Identifier: Apache-2.0
// The matrix A of a small problem, row by row (CSR): one row per pixel, one column per voxel, weights in mm. As .npz
// that scipy.sparse.load_npz reads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/threads.h"
#include <lepus/geometry.h>
#include <lepus/operator.h>

namespace lepus {

struct SparseMatrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<std::int64_t> starts;   // rows + 1: where each row begins in the other two
  std::vector<std::int64_t> indices;  // of columns, ascending within a row
  std::vector<float> values;
};

// Weights are computed in double precision and rounded once. RayModel::voxel has the matrix of its A, Joseph's. Throws
// Error(usage) for an empty grid or scan, Error(memory) where the matrix would take more than `maximum_bytes`.
SparseMatrix sparse_matrix(const ScanGeometry& geometry, const VolumeGrid& grid, RayModel model,
                           std::int64_t maximum_bytes, ThreadPool& threads);

// Throws Error(disk) where the file exists (unless forced) or cannot be written.
void write_npz(const SparseMatrix& matrix, const std::filesystem::path& file, bool force);

}  // namespace lepus
