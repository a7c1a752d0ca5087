// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/orbit_views.h"

#include <numeric>

#include "device/host/orbit.h"
#include "core/format.h"
#include "geometry/camera.h"

namespace lepus::cuda {
namespace {

// Groups of four, regrouped in pairs: the first and third member are half a turn apart, and so are the second and
// fourth. All first pairs come before all second ones, so that neighbours in the order have neighbouring angles.
void split_quads(Orbit& orbit) {
  const Orbit quads = orbit;
  const std::size_t n = quads.order.size();
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t pair = i / 2, from = pair % (n / 4) * 4 + pair / (n / 4) + i % 2 * 2;
    orbit.order[i] = quads.order[from];
    orbit.matrices[i] = quads.matrices[from];
  }
  orbit.group = 2;
}

}  // namespace

int views_per_texel(TexelKind kind) {
  switch (kind) {
    case TexelKind::float2:
    case TexelKind::half2:
      return 2;
    case TexelKind::half4:
      return 4;
    default:
      return 1;
  }
}
bool is_half(TexelKind kind) {
  return kind == TexelKind::half1 || kind == TexelKind::half2 || kind == TexelKind::half4;
}
std::int64_t bytes_per_pixel(TexelKind kind) { return is_half(kind) ? 2 : 4; }

ViewLayout lay_out_views(const ScanGeometry& geometry, const VolumeGrid& grid, Precision precision,
                         Interpolation interpolation, bool views_share_texels) {
  ViewLayout layout;
  Orbit orbit;
  if (views_share_texels && interpolation == Interpolation::linear && precision != Precision::exact)
    orbit = examine_orbit(geometry, grid);
  if (orbit.group == 4 && precision == Precision::fast) split_quads(orbit);
  if (orbit.upright && orbit.group > 1) {
    const bool half = precision == Precision::half;
    layout.kind = orbit.group == 4 ? TexelKind::half4 : half ? TexelKind::half2 : TexelKind::float2;
    layout.order = std::move(orbit.order);
    layout.matrices = std::move(orbit.matrices);
    layout.description = format("circular orbit, {} symmetric views, {} texels", orbit.group, half ? "fp16" : "fp32");
  } else {
    layout.order.resize(geometry.matrices.size());
    std::iota(layout.order.begin(), layout.order.end(), std::int64_t{0});
    for (const auto& matrix : geometry.matrices) layout.matrices.push_back(in_voxel_indices(matrix, grid));
    if (interpolation != Interpolation::linear) {
      layout.kind = TexelKind::linear;
      layout.description = "general matrices, fp32, plain kernel";
    } else if (precision == Precision::exact) {
      layout.kind = TexelKind::gather;
      layout.description = "general matrices, fp32 texels and weights";
    } else {
      layout.kind = precision == Precision::half ? TexelKind::half1 : TexelKind::float1;
      layout.description = format("general matrices, {} texels", precision == Precision::half ? "fp16" : "fp32");
    }
  }
  layout.group = views_per_texel(layout.kind);
  return layout;
}

}  // namespace lepus::cuda
