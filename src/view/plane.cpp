// SPDX-License-Identifier: Apache-2.0
#include "view/plane.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace lepus::view {
namespace {

constexpr std::int64_t piece_voxels = std::int64_t{1} << 21;

struct Piece {
  std::int64_t c0, c1, r0, r1;
};

std::array<double, 3> place(const PlaneGrid& plane, std::int64_t c, std::int64_t r) {
  const Vec3 at = plane.origin + static_cast<double>(c) * plane.right + static_cast<double>(r) * plane.down;
  return {at.x, at.y, at.z};
}

class PlaneSampler {
public:
  PlaneSampler(const PlaneGrid& plane, const Level& level, PartCache& cache, std::vector<float>& out)
      : plane_(plane), level_(level), cache_(cache), out_(out), size_(level.size()) {}

  // Halved until the box around it is small.
  void sample(const Piece& piece) {
    VolumePart part;
    if (!box_around(piece, part)) return;
    const std::int64_t columns = piece.c1 - piece.c0, rows = piece.r1 - piece.r0;
    if (part.voxels() > piece_voxels && columns * rows > 1) {
      Piece one = piece, two = piece;
      if (columns >= rows) {
        one.c1 = two.c0 = piece.c0 + columns / 2;
      } else {
        one.r1 = two.r0 = piece.r0 + rows / 2;
      }
      sample(one);
      sample(two);
      return;
    }
    values_.resize(static_cast<std::size_t>(part.voxels()));
    read_level(level_, part, cache_, values_.data());
    for (std::int64_t r = piece.r0; r < piece.r1; ++r)
      for (std::int64_t c = piece.c0; c < piece.c1; ++c)
        out_[static_cast<std::size_t>(r * plane_.width + c)] = value_at(place(plane_, c, r), part);
  }

private:
  // The voxels that the piece's values are made of; false where it lies outside.
  bool box_around(const Piece& piece, VolumePart& part) const {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      double low = std::numeric_limits<double>::infinity(), high = -low;
      for (const std::int64_t c : {piece.c0, piece.c1 - 1})
        for (const std::int64_t r : {piece.r0, piece.r1 - 1}) {
          low = std::min(low, place(plane_, c, r)[axis]);
          high = std::max(high, place(plane_, c, r)[axis]);
        }
      const auto last = static_cast<double>(size_[axis] - 1);
      if (!(high >= -0.5 && low <= last + 0.5)) return false;
      part.first[axis] = static_cast<std::int64_t>(std::floor(std::clamp(low, 0.0, last)));
      part.end[axis] = static_cast<std::int64_t>(std::floor(std::clamp(high, 0.0, last))) + 2;
      part.end[axis] = std::min(part.end[axis], size_[axis]);
    }
    return true;
  }

  float value_at(const std::array<double, 3>& at, const VolumePart& part) const {
    std::array<std::int64_t, 3> low{}, high{};
    std::array<double, 3> share{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto last = static_cast<double>(size_[axis] - 1);
      if (!(at[axis] >= -0.5 && at[axis] <= last + 0.5)) return std::numeric_limits<float>::quiet_NaN();
      const double inside = std::clamp(at[axis], 0.0, last);
      low[axis] = static_cast<std::int64_t>(inside) - part.first[axis];
      share[axis] = inside - std::floor(inside);
      high[axis] = low[axis] + (share[axis] > 0 ? 1 : 0);  // a neighbour of no weight may be NaN
    }
    const std::int64_t nx = part.along(0), ny = part.along(1);
    const auto row = [&](std::int64_t y, std::int64_t z) {
      const float* from = values_.data() + (z * ny + y) * nx;
      return (1 - share[0]) * static_cast<double>(from[low[0]]) + share[0] * static_cast<double>(from[high[0]]);
    };
    const auto slice = [&](std::int64_t z) { return (1 - share[1]) * row(low[1], z) + share[1] * row(high[1], z); };
    return static_cast<float>((1 - share[2]) * slice(low[2]) + share[2] * slice(high[2]));
  }

  const PlaneGrid& plane_;
  const Level& level_;
  PartCache& cache_;
  std::vector<float>& out_;
  std::array<std::int64_t, 3> size_;
  std::vector<float> values_;
};

}  // namespace

std::vector<float> sample_plane(const PlaneGrid& plane, const Level& level, PartCache& cache) {
  std::vector<float> values(static_cast<std::size_t>(plane.width * plane.height),
                            std::numeric_limits<float>::quiet_NaN());
  PlaneSampler sampler(plane, level, cache, values);
  constexpr std::int64_t tile = 64;
  for (std::int64_t r = 0; r < plane.height; r += tile)
    for (std::int64_t c = 0; c < plane.width; c += tile)
      sampler.sample({c, std::min(c + tile, plane.width), r, std::min(r + tile, plane.height)});
  return values;
}

PlaneGrid in_level_of(const PlaneGrid& plane, std::int64_t factor) {
  const double by = 1 / static_cast<double>(factor);
  const double middle = 0.5 * (static_cast<double>(factor) - 1);  // of the voxels that voxel 0 is made of
  PlaneGrid coarse = plane;
  coarse.origin = by * (plane.origin - Vec3{middle, middle, middle});
  coarse.right = by * plane.right;
  coarse.down = by * plane.down;
  return coarse;
}

}  // namespace lepus::view
