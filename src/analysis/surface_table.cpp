// SPDX-License-Identifier: Apache-2.0
#include "analysis/surface_table.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace lepus::analysis {
namespace {

using Triangle = std::array<std::uint8_t, 3>;

// The corners of each face, counter-clockwise seen from outside the cube.
constexpr std::array<std::array<int, 4>, 6> faces{
    {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}}};

std::uint8_t edge_between(int a, int b) {
  const int low = std::min(a, b), difference = a ^ b;
  const int axis = difference == 1 ? 0 : difference == 2 ? 1 : 2;
  for (std::size_t e = 0; e < 12; ++e)
    if (cube_edges()[e].corner == low && cube_edges()[e].axis == axis) return static_cast<std::uint8_t>(e);
  return 0;
}

bool on_one_face(std::uint8_t a, std::uint8_t b) {
  for (const auto& face : faces) {
    bool has_a = false, has_b = false;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::uint8_t edge = edge_between(face[i], face[(i + 1) % 4]);
      has_a = has_a || edge == a;
      has_b = has_b || edge == b;
    }
    if (has_a && has_b) return true;
  }
  return false;
}

// For each crossed edge the one that follows it: around every run of inside corners of a face the line enters where
// the walk around the face comes into it and leaves where the walk leaves. Seen from outside the cube the inside is on
// its right, so that the loop is counter-clockwise for whoever stands outside the surface.
std::array<int, 12> followers(int inside) {
  std::array<int, 12> next{};
  next.fill(-1);
  const auto is_inside = [&](int corner) { return (inside >> corner & 1) != 0; };
  for (const auto& face : faces)
    for (std::size_t i = 0; i < 4; ++i) {
      // The walk goes from face[i] to face[i + 1]; here it comes in.
      if (is_inside(face[i]) || !is_inside(face[(i + 1) % 4])) continue;
      std::size_t last = (i + 1) % 4;
      while (is_inside(face[(last + 1) % 4])) last = (last + 1) % 4;
      const std::uint8_t in = edge_between(face[i], face[(i + 1) % 4]);
      const std::uint8_t out = edge_between(face[last], face[(last + 1) % 4]);
      next[in] = out;
    }
  return next;
}

// Triangles of loop[first .. last] whose inner lines lie on no face; nothing where there are none.
std::optional<std::vector<Triangle>> filled(const std::vector<std::uint8_t>& loop, std::size_t first,
                                            std::size_t last) {
  if (last - first < 2) return std::vector<Triangle>{};
  const auto allowed = [&](std::size_t a, std::size_t b) {
    const bool outer = b - a == 1 || (a == 0 && b == loop.size() - 1);
    return outer || !on_one_face(loop[a], loop[b]);
  };
  for (std::size_t middle = first + 1; middle < last; ++middle) {
    if (!allowed(first, middle) || !allowed(middle, last)) continue;
    auto left = filled(loop, first, middle);
    auto right = left ? filled(loop, middle, last) : std::nullopt;
    if (!right) continue;
    left->push_back({loop[first], loop[middle], loop[last]});
    left->insert(left->end(), right->begin(), right->end());
    return left;
  }
  return std::nullopt;
}

std::vector<SurfaceLoop> loops_of(int inside) {
  std::array<int, 12> next = followers(inside);
  std::vector<SurfaceLoop> loops;
  for (std::size_t start = 0; start < 12; ++start) {
    if (next[start] < 0) continue;
    SurfaceLoop loop;
    for (std::size_t edge = start; next[edge] >= 0;) {
      loop.edges.push_back(static_cast<std::uint8_t>(edge));
      const auto following = static_cast<std::size_t>(next[edge]);
      next[edge] = -1;
      edge = following;
    }
    if (auto triangles = filled(loop.edges, 0, loop.edges.size() - 1)) {
      loop.triangles = std::move(*triangles);
    } else {
      loop.with_middle = true;
      for (std::size_t i = 0; i < loop.edges.size(); ++i)
        loop.triangles.push_back({loop.edges[i], loop.edges[(i + 1) % loop.edges.size()], loop_middle});
    }
    loops.push_back(std::move(loop));
  }
  return loops;
}

}  // namespace

const std::array<CubeEdge, 12>& cube_edges() {
  static const std::array<CubeEdge, 12> edges{
      {{0, 0}, {2, 0}, {4, 0}, {6, 0}, {0, 1}, {1, 1}, {4, 1}, {5, 1}, {0, 2}, {1, 2}, {2, 2}, {3, 2}}};
  return edges;
}

const std::array<std::vector<SurfaceLoop>, 256>& surface_table() {
  static const auto table = [] {
    std::array<std::vector<SurfaceLoop>, 256> loops;
    for (int inside = 0; inside < 256; ++inside) loops[static_cast<std::size_t>(inside)] = loops_of(inside);
    return loops;
  }();
  return table;
}

}  // namespace lepus::analysis
