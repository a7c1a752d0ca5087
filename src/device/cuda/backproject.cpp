// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/backproject.h"

#include <algorithm>
#include <cmath>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus::cuda {
namespace {

Launcher launcher_for(TexelKind kind) {
  switch (kind) {
    case TexelKind::float1:
    case TexelKind::half1:
      return launch_general;
    case TexelKind::float2:
    case TexelKind::half2:
      return launch_pairs;
    case TexelKind::half4:
      return launch_quads;
    case TexelKind::gather:
      return launch_exact;
    case TexelKind::linear:
      return launch_plain;
  }
  return launch_plain;
}

void refuse_cut(const std::string& why) {
  throw Error(ErrorKind::internal,
              {.what = "backprojection was given a cut it cannot take", .where = "CUDA", .why = why, .hint = {}});
}

// u changes least along the rays. Samples less than two pixels apart do not mind how the lanes lie.
Rays rays_of(const Matrix34& m, const VolumeGrid& grid, Beam beam) {
  const double x = 0.5 * static_cast<double>(grid.nx - 1), y = 0.5 * static_cast<double>(grid.ny - 1);
  const double z = 0.5 * static_cast<double>(grid.nz - 1);
  const double w = beam == Beam::parallel ? 1.0 : m(2, 0) * x + m(2, 1) * y + m(2, 2) * z + m(2, 3);
  const double u = (m(0, 0) * x + m(0, 1) * y + m(0, 2) * z + m(0, 3)) / w;
  const double per_x = std::abs((m(0, 0) - (beam == Beam::parallel ? 0.0 : u * m(2, 0))) / w);
  const double per_y = std::abs((m(0, 1) - (beam == Beam::parallel ? 0.0 : u * m(2, 1))) / w);
  if (!(std::hypot(per_x, per_y) >= 2.0)) return Rays::any;
  return per_x < per_y ? Rays::along_x : Rays::along_y;
}

// Below this w a float coordinate has no digits left, and the exact kernel's floor no range: such voxels take the
// guarded kernel, which asks each one.
constexpr double surely_in_front = 0.01;

}  // namespace

Backprojection::Backprojection(const ScanGeometry& geometry, const VolumeGrid& grid, Precision precision,
                               Interpolation interpolation, bool views_share_texels)
    : layout_(lay_out_views(geometry, grid, precision, interpolation, views_share_texels)),
      beam_(geometry.beam),
      columns_(geometry.columns),
      detector_rows_(geometry.rows),
      grid_(grid),
      interpolation_(interpolation),
      launcher_(launcher_for(layout_.kind)) {
  // Voxel indices are whole numbers in single precision, and the grid of blocks is counted in 16 bits.
  constexpr std::int64_t most = 65535;
  if (grid.nx > most || grid.ny > most || grid.nz > most)
    throw Error(ErrorKind::unsupported,
                {.what = "the volume is too large for the backend cuda",
                 .where = {},
                 .why = format("{} x {} x {} voxels, at most {} each way", grid.nx, grid.ny, grid.nz, most),
                 .hint = "use the backend cpu"});
}

StoreShape Backprojection::store_shape(std::int64_t slots, std::int64_t rows) const {
  const std::int64_t group = layout_.group;
  return {.kind = layout_.kind,
          .columns = columns_,
          .detector_rows = detector_rows_,
          .slots = (slots + group - 1) / group * group,
          .rows = std::min(rows, detector_rows_)};
}

// w is affine, so its smallest value in a box lies at a corner.
bool Backprojection::all_in_front(const Wedge& wedge, const Slab& slab) const {
  if (beam_ == Beam::parallel) return true;
  const double xs[2] = {0, static_cast<double>(grid_.nx - 1)}, ys[2] = {0, static_cast<double>(grid_.ny - 1)};
  const double zs[2] = {static_cast<double>(slab.z0), static_cast<double>(slab.z1 - 1)};
  for (std::int64_t i = wedge.first_view; i < wedge.first_view + wedge.views; ++i) {
    const Matrix34& m = layout_.matrices[static_cast<std::size_t>(i)];
    double least = m(2, 3);
    least += std::min(m(2, 0) * xs[0], m(2, 0) * xs[1]) + std::min(m(2, 1) * ys[0], m(2, 1) * ys[1]) +
             std::min(m(2, 2) * zs[0], m(2, 2) * zs[1]);
    if (!(least > surely_in_front)) return false;
  }
  return true;
}

void Backprojection::accumulate(const Wedge& wedge, const Slab& slab, cudaStream_t stream) const {
  const ViewTextures& store = *wedge.store;
  const std::int64_t group = layout_.group, views = static_cast<std::int64_t>(layout_.order.size());
  if (wedge.first_view % group != 0 || wedge.first_slot % group != 0 || wedge.views % group != 0 ||
      wedge.first_view < 0 || wedge.views < 0 || wedge.first_view + wedge.views > views || wedge.first_slot < 0 ||
      wedge.first_slot + wedge.views > store.shape().slots || store.shape().kind != layout_.kind)
    refuse_cut(format("views [{}, {}) of {} in slots from {} of {}, groups of {}", wedge.first_view,
                      wedge.first_view + wedge.views, views, wedge.first_slot, store.shape().slots, group));
  if (slab.z0 < 0 || slab.z1 < slab.z0 || slab.z1 > grid_.nz)
    refuse_cut(format("slices [{}, {}) of {}", slab.z0, slab.z1, grid_.nz));
  if (slab.z0 == slab.z1 || wedge.views == 0 || grid_.nx == 0 || grid_.ny == 0) return;

  Launch launch{.beam = beam_,
                .guard = !all_in_front(wedge, slab),
                .rays = Rays::any,
                .interpolation = interpolation_,
                .weighted = weighted_,
                .stream = stream};
  const bool from_middle = layout_.kind == TexelKind::gather || layout_.kind == TexelKind::linear;
  const auto half = [&](std::int64_t n) { return from_middle ? n / 2 : 0; };
  const std::int64_t column0 = half(columns_), row0 = half(detector_rows_);
  const std::int64_t x0 = half(grid_.nx), y0 = half(grid_.ny), middle_z = half(grid_.nz);
  const SlabOnDevice target{.data = slab.data,
                            .nx = static_cast<int>(grid_.nx),
                            .ny = static_cast<int>(grid_.ny),
                            .z0 = static_cast<int>(slab.z0),
                            .z1 = static_cast<int>(slab.z1),
                            .gain = 1.0f / store.scale(),
                            .columns = static_cast<int>(columns_),
                            .detector_rows = static_cast<int>(detector_rows_),
                            .band_rows = static_cast<int>(store.shape().rows),
                            .x0 = static_cast<int>(x0),
                            .y0 = static_cast<int>(y0),
                            .middle_z = static_cast<int>(middle_z),
                            .column0 = static_cast<int>(column0),
                            .row0 = static_cast<int>(row0)};
  const double root = std::sqrt(static_cast<double>(store.scale()));  // a power of two
  ViewBlock block;
  block.count = 0;
  const auto flush = [&] {
    if (block.count > 0) launcher_(block, target, launch);
    block.count = 0;
  };
  for (std::int64_t i = 0; i < wedge.views; i += group) {
    Matrix34 m = layout_.matrices[static_cast<std::size_t>(wedge.first_view + i)];
    const Rays rays = group == 2 ? rays_of(m, grid_, beam_) : Rays::any;
    if (block.count == views_per_launch || rays != launch.rays) flush();
    launch.rays = rays;
    ViewOnDevice& view = block.view[block.count++];
    const double u_factor = beam_ == Beam::parallel ? 1.0 : root, v_factor = beam_ == Beam::cone ? root : 1.0;
    for (int row = 0; row < 3; ++row)
      m(row, 3) += m(row, 0) * static_cast<double>(x0) + m(row, 1) * static_cast<double>(y0) +
                   m(row, 2) * static_cast<double>(middle_z);
    for (int j = 0; j < 4; ++j) {
      const double one = beam_ == Beam::cone ? m(2, j) : j == 3 ? 1.0 : 0.0;  // what v is divided by
      view.u[j] = static_cast<float>(u_factor * (m(0, j) - static_cast<double>(column0) * m(2, j)));
      view.v[j] = static_cast<float>(v_factor * (m(1, j) - static_cast<double>(row0) * one));
      view.w[j] = static_cast<float>(u_factor * m(2, j));
    }
    const auto place = store.place(wedge.first_slot + i);
    view.first_row = static_cast<float>(store.first_row(wedge.first_slot + i) - row0);
    view.layer = place.layer;
    if (layout_.kind == TexelKind::linear)
      view.pixels = place.pixels;
    else
      view.texture = place.texture;
  }
  flush();
}

}  // namespace lepus::cuda
