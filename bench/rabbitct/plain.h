// SPDX-License-Identifier: Apache-2.0
// RabbitCT's backprojection by its definition, in double precision: some slices of a volume, views one after another.
//   w = a2 x + a5 y + a8 z + a11, u = (a0 x + a3 y + a6 z + a9) / w, v likewise; f += bilinear(u, v) / w^2
// with the matrices as they stand in the file, pixel centres at integers and zeros outside the picture. Voxels behind
// the source (where w has another sign than in the volume's middle) get nothing. Slow: what all else is held against.
#pragma once

#include <cstdint>
#include <vector>

#include "core/threads.h"
#include <lepus/geometry.h>

namespace lepus::rabbitct {

class PlainSlices {
public:
  PlainSlices(std::int64_t size, std::vector<std::int64_t> slices);

  void add(const Matrix34& matrix, std::int64_t columns, std::int64_t rows, const float* view, ThreadPool& threads);

  const std::vector<std::int64_t>& slices() const { return slices_; }
  const double* values(std::size_t index) const;  // of slices()[index], x fastest

private:
  VolumeGrid grid_;
  std::vector<std::int64_t> slices_;
  std::vector<double> sums_;
};

// `count` slices (at most all) spread evenly over a volume: the middles of equal parts.
std::vector<std::int64_t> spread_slices(std::int64_t size, std::int64_t count);

}  // namespace lepus::rabbitct
