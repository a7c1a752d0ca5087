// SPDX-License-Identifier: Apache-2.0
#include "analysis/surface.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "analysis/surface_table.h"
#include "core/format.h"
#include "io/volume_part.h"
#include <lepus/error.h>
#include <lepus/math.h>

namespace lepus::analysis {
namespace {

using Point = std::array<float, 3>;

// Vertices keep this far from the voxels' centres, so that those of two edges never meet: triangles keep an area, and
// programs that join what lies in one place find the same body.
constexpr double nearest_to_centre = 1e-3;

class SurfaceWalk {
public:
  SurfaceWalk(const VolumeReader& volume, const SurfaceOptions& options, SurfaceSink& sink)
      : volume_(volume), threshold_(options.threshold), sink_(sink), grid_(volume.grid()) {
    box_ = options.box.value_or(std::array<std::int64_t, 6>{0, grid_.nx, 0, grid_.ny, 0, grid_.nz});
    width_ = box_[1] - box_[0] + 2;  // with a voxel of outside on either side
    height_ = box_[3] - box_[2] + 2;
    const auto places = static_cast<std::size_t>(width_ * height_);
    low_.resize(places, outside);
    high_.resize(places, outside);
    slice_.resize(static_cast<std::size_t>((width_ - 2) * (height_ - 2)));
    for (auto* numbers : {&low_x_, &low_y_, &high_x_, &high_y_, &along_z_}) numbers->resize(places, -1);
    mirrored_ = grid_.step_mm.x * grid_.step_mm.y * grid_.step_mm.z < 0;
  }

  SurfaceReport run(Context& context) {
    context.progress.begin("surface", box_[5] - box_[4] + 1);
    for (std::int64_t z = box_[4] - 1; z < box_[5]; ++z) {  // cubes between z and z + 1
      context.cancel.check();
      std::swap(low_, high_);
      std::swap(low_x_, high_x_);
      std::swap(low_y_, high_y_);
      for (auto* numbers : {&high_x_, &high_y_, &along_z_}) std::ranges::fill(*numbers, -1);
      fill_high(z + 1);
      forget_vertices();
      for (std::int64_t y = 0; y + 1 < height_; ++y) walk_row(y, z);
      context.progress.advance();
    }
    context.progress.end();
    if (report_.triangles == 0)
      throw Error(ErrorKind::input, {.what = "there is no surface",
                                     .where = {},
                                     .why = format("no voxel is above {:g}", threshold_),
                                     .hint = "choose a lower threshold; lepus info prints the range of the values"});
    return report_;
  }

private:
  static constexpr float outside = -std::numeric_limits<float>::infinity();

  void fill_high(std::int64_t z) {
    std::ranges::fill(high_, outside);
    if (z >= box_[5]) return;
    read_part(volume_, {{box_[0], box_[2], z}, {box_[1], box_[3], z + 1}, {1, 1, 1}}, slice_.data());
    for (std::int64_t y = 0; y < height_ - 2; ++y)
      std::copy_n(slice_.data() + y * (width_ - 2), width_ - 2, high_.data() + (y + 1) * width_ + 1);
  }

  bool inside(float value) const { return static_cast<double>(value) > threshold_; }

  void walk_row(std::int64_t y, std::int64_t z) {
    const float* rows[4] = {low_.data() + y * width_, low_.data() + (y + 1) * width_, high_.data() + y * width_,
                            high_.data() + (y + 1) * width_};
    const auto column = [&](std::int64_t x) {
      return (inside(rows[0][x]) ? 1 : 0) | (inside(rows[1][x]) ? 4 : 0) | (inside(rows[2][x]) ? 16 : 0) |
             (inside(rows[3][x]) ? 64 : 0);
    };
    int before = column(0);
    for (std::int64_t x = 0; x + 1 < width_; ++x) {
      const int after = column(x + 1), corners = before | after << 1;
      before = after;
      if (corners == 0 || corners == 255) continue;
      for (const SurfaceLoop& loop : surface_table()[static_cast<std::size_t>(corners)]) add(loop, x, y, z);
    }
  }

  void add(const SurfaceLoop& loop, std::int64_t x, std::int64_t y, std::int64_t z) {
    std::array<std::int64_t, 13> numbers{};
    for (const std::uint8_t edge : loop.edges) numbers[edge] = vertex_on(edge, x, y, z);
    if (loop.with_middle) {
      Point middle{};
      for (const std::uint8_t edge : loop.edges)
        for (std::size_t i = 0; i < 3; ++i)
          middle[i] += point(numbers[edge])[i] / static_cast<float>(loop.edges.size());
      numbers[loop_middle] = new_vertex(middle);
    }
    for (const auto& triangle : loop.triangles) {
      std::array<std::int64_t, 3> corners{numbers[triangle[0]], numbers[triangle[1]], numbers[triangle[2]]};
      if (mirrored_) std::swap(corners[1], corners[2]);
      emit(corners);
    }
  }

  void emit(const std::array<std::int64_t, 3>& corners) {
    const std::array<Point, 3> points{point(corners[0]), point(corners[1]), point(corners[2])};
    const auto vector = [](const Point& p) {
      return Vec3{static_cast<double>(p[0]), static_cast<double>(p[1]), static_cast<double>(p[2])};
    };
    const Vec3 a = vector(points[0]), normal = cross(vector(points[1]) - a, vector(points[2]) - a);
    report_.area_mm2 += norm(normal) / 2;
    report_.volume_mm3 += dot(a, normal) / 6;
    ++report_.triangles;
    sink_.triangle(corners, points);
  }

  // The vertex on an edge of the cube at (x, y, z); each is made once, for all four cubes of the edge.
  std::int64_t vertex_on(std::uint8_t edge, std::int64_t x, std::int64_t y, std::int64_t z) {
    const auto [corner, axis] = cube_edges()[edge];
    x += corner & 1;
    y += corner >> 1 & 1;
    const bool upper = (corner >> 2) != 0;
    const auto at = static_cast<std::size_t>(y * width_ + x);
    auto& numbers = axis == 2 ? along_z_ : axis == 1 ? (upper ? high_y_ : low_y_) : (upper ? high_x_ : low_x_);
    if (numbers[at] >= 0) return numbers[at];
    const std::vector<float>& slice = upper ? high_ : low_;
    const float from = slice[at];
    const float to = axis == 2 ? high_[at] : slice[at + static_cast<std::size_t>(axis == 1 ? width_ : 1)];
    std::array<double, 3> place{static_cast<double>(box_[0] - 1 + x), static_cast<double>(box_[2] - 1 + y),
                                static_cast<double>(z + (upper ? 1 : 0))};
    place[static_cast<std::size_t>(axis)] += share_of(from, to);
    const Vec3 mm = grid_.centre(place[0], place[1], place[2]);
    return numbers[at] = new_vertex({static_cast<float>(mm.x), static_cast<float>(mm.y), static_cast<float>(mm.z)});
  }

  // Where between two centres the threshold is passed; half way to the outside, which is the voxel's face.
  double share_of(float from, float to) const {
    const double share =
        (threshold_ - static_cast<double>(from)) / (static_cast<double>(to) - static_cast<double>(from));
    if (!std::isfinite(share) || std::isinf(from) || std::isinf(to)) return 0.5;
    return std::clamp(share, nearest_to_centre, 1 - nearest_to_centre);
  }

  std::int64_t new_vertex(const Point& mm) {
    recent_.push_back(mm);
    sink_.vertex(mm);
    return report_.vertices++;
  }
  const Point& point(std::int64_t number) const { return recent_[static_cast<std::size_t>(number - first_recent_)]; }
  // Those of the layer before the last are not asked for again.
  void forget_vertices() {
    recent_.erase(recent_.begin(), recent_.begin() + static_cast<std::ptrdiff_t>(layer_start_ - first_recent_));
    first_recent_ = layer_start_;
    layer_start_ = report_.vertices;
  }

  const VolumeReader& volume_;
  const double threshold_;
  SurfaceSink& sink_;
  const VolumeGrid grid_;
  std::array<std::int64_t, 6> box_{};
  std::int64_t width_ = 0, height_ = 0;
  bool mirrored_ = false;
  std::vector<float> low_, high_, slice_;
  std::vector<std::int64_t> low_x_, low_y_, high_x_, high_y_, along_z_;  // numbers of vertices on edges; -1: none
  std::vector<Point> recent_;
  std::int64_t first_recent_ = 0, layer_start_ = 0;
  SurfaceReport report_;
};

}  // namespace

SurfaceReport extract_surface(const VolumeReader& volume, const SurfaceOptions& options, SurfaceSink& sink,
                              Context& context) {
  return SurfaceWalk(volume, options, sink).run(context);
}

}  // namespace lepus::analysis
