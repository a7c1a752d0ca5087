// SPDX-License-Identifier: Apache-2.0
#include "harness.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "geometry/camera.h"

namespace lepus::parity {
namespace {

constexpr float sentinel = -12345.0F;
constexpr std::int64_t guard = 256;  // floats around every buffer

}  // namespace

Views::Views(const ScanGeometry& geometry, const std::vector<RowBand>& held) : columns_(geometry.columns), held_(held) {
  std::int64_t highest = 1;
  for (const RowBand& band : held) highest = std::max(highest, band.size());
  stride_ = highest + 3;
  std::uint32_t state = 99;
  for (const RowBand& band : held) {
    std::vector<float> view(static_cast<std::size_t>(columns_ * stride_ + 2 * guard),
                            std::numeric_limits<float>::quiet_NaN());
    for (std::int64_t c = 0; c < columns_; ++c)
      for (std::int64_t r = 0; r < geometry.rows; ++r) {
        state = state * 1664525U + 1013904223U;  // drawn for every row, so that the values do not depend on the band
        const float value = std::sin(0.2F * static_cast<float>(c)) + static_cast<float>(state >> 8) * 0x1p-24F;
        if (r >= band.first && r < band.last)
          view[static_cast<std::size_t>(guard + c * stride_ + r - band.first)] = value;
      }
    data_.push_back(std::move(view));
  }
}

BandSet Views::wedge(const Backprojector& b, std::int64_t first, std::int64_t count) const {
  BandSet set{first, stride_, {}};
  for (std::int64_t i = first; i < first + count; ++i) {
    const auto view = static_cast<std::size_t>(b.view_order()[static_cast<std::size_t>(i)]);
    set.bands.push_back({data_[view].data() + guard, held_[view].first, held_[view].size()});
  }
  return set;
}

std::vector<RowBand> whole_views(const ScanGeometry& geometry) {
  return std::vector<RowBand>(static_cast<std::size_t>(geometry.views()), RowBand{0, geometry.rows});
}

std::vector<float> backproject(const Backprojector& b, const VolumeGrid& grid, const Views& views, const Cut& cut) {
  ThreadPool threads(cut.threads);
  const auto all = static_cast<std::int64_t>(b.view_order().size());
  std::vector<float> volume(static_cast<std::size_t>(grid.voxels()));
  for (std::int64_t z0 = 0; z0 < grid.nz; z0 += cut.slices) {
    const std::int64_t z1 = std::min(grid.nz, z0 + cut.slices);
    const std::int64_t stride =
        z1 - z0 < slab_alignment ? z1 - z0 : (z1 - z0 + slab_alignment - 1) / slab_alignment * slab_alignment;
    std::vector<float> buffer(static_cast<std::size_t>(grid.nx * grid.ny * stride + 2 * guard), sentinel);
    float* slab = buffer.data() + guard;
    std::fill(slab, slab + grid.nx * grid.ny * stride, 0.0F);
    for (std::int64_t first = 0; first < all; first += cut.views)
      b.accumulate(views.wedge(b, first, std::min(cut.views, all - first)), {slab, z0, z1, stride}, threads);
    for (std::int64_t i = 0; i < guard; ++i)
      if (buffer[static_cast<std::size_t>(i)] != sentinel ||
          buffer[buffer.size() - 1 - static_cast<std::size_t>(i)] != sentinel) {
        ADD_FAILURE() << "written outside the slab";
        break;
      }
    for (std::int64_t y = 0; y < grid.ny; ++y)
      for (std::int64_t x = 0; x < grid.nx; ++x)
        for (std::int64_t z = z0; z < z1; ++z)
          volume[static_cast<std::size_t>((z * grid.ny + y) * grid.nx + x)] = slab[(y * grid.nx + x) * stride + z - z0];
  }
  return volume;
}

namespace {

// Whether some view sees the voxel so near to the border of two pixels that rounding may choose either.
bool near_a_border(const Case& c, std::int64_t x, std::int64_t y, std::int64_t z) {
  const auto near_half = [](double t) { return std::abs(t - std::floor(t) - 0.5) < 2e-3; };
  for (const Matrix34& matrix : c.geometry.matrices) {
    const Vec3 p =
        transform(matrix, c.grid.centre(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)));
    if (near_half(p.x / p.z) || near_half(c.geometry.beam == Beam::fan ? p.y : p.y / p.z)) return true;
  }
  return false;
}

}  // namespace

Difference difference(const Case& c, const std::vector<float>& a, const std::vector<float>& reference,
                      bool skip_borders) {
  double sum = 0, norm = 0, most = 0, peak = 0;
  for (std::int64_t z = 0, i = 0; z < c.grid.nz; ++z)
    for (std::int64_t y = 0; y < c.grid.ny; ++y)
      for (std::int64_t x = 0; x < c.grid.nx; ++x, ++i) {
        if (skip_borders && near_a_border(c, x, y, z)) continue;
        const double r = reference[static_cast<std::size_t>(i)],
                     d = static_cast<double>(a[static_cast<std::size_t>(i)]) - r;
        if (!(std::abs(d) <= most)) most = std::abs(d);
        sum += d * d;
        norm += r * r;
        peak = std::max(peak, std::abs(r));
      }
  return {norm > 0 ? std::sqrt(sum / norm) : std::sqrt(sum), peak > 0 ? most / peak : most};
}

}  // namespace lepus::parity
