// SPDX-License-Identifier: Apache-2.0
// Footprints on the host. Upright views go through the kernels of footprint_columns.h: A brings each voxel column onto
// the detector's rows once for a block of detector columns; its transpose sums, for each voxel column of a tile, the
// shares of the detector columns that see it, and lays the sum onto the slices. Other views go through
// block_projector.h.
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "core/memory.h"
#include "device/host/block_projector.h"
#include "device/host/device.h"
#include "device/host/footprint_columns.h"
#include "device/host/ray_projector.h"
#include "device/host/ray_scan.h"

namespace lepus::host {
namespace {

// Detector columns that are summed together: voxel columns that two blocks see are brought onto the rows twice.
constexpr std::int64_t footprint_columns_together = 32;
constexpr std::int64_t footprint_views_together = 16;

// A detector column of an upright view.
struct UprightColumn {
  FootprintRay<float> ray;  // of the middle row: on x and y all rows are alike
  double over = 0, across_mm = 0, dz = 0, dz_row = 0;

  // The mean way through a layer.
  float way_mm(std::int64_t row) const {
    const double up = dz + static_cast<double>(row) * dz_row;
    return static_cast<float>(std::sqrt(across_mm * across_mm + up * up) * over);
  }
};

UprightColumn upright_column(const JosephView& view, const JosephGrid& grid, std::int64_t u, std::int64_t rows) {
  const auto at = static_cast<double>(u), middle = static_cast<double>(rows / 2);
  const auto along = [&](int k) {
    return (view.direction[k][0] + at * view.direction[k][1] + middle * view.direction[k][2]) * view.step_mm[k];
  };
  UprightColumn out;
  out.ray = footprint_ray<float>(view, grid, at, middle);
  const int axis = out.ray.axis;
  out.over = view.step_mm[axis] / std::fabs(along(axis));
  out.across_mm = std::sqrt(along(0) * along(0) + along(1) * along(1));
  out.dz = (view.direction[2][0] + at * view.direction[2][1]) * view.step_mm[2];
  out.dz_row = view.direction[2][2] * view.step_mm[2];
  return out;
}

// The shares of voxels [first, last) of a layer in a detector column.
struct LayerShares {
  int first = 0, last = 0;
  Trapezoid<float> on_a;
  float a = 0;

  // Voxels [low, high) alone.
  LayerShares(const FootprintRay<float>& ray, int layer, int low, int high) {
    const auto i = static_cast<float>(layer);
    a = ray.a0 + i * ray.da;
    on_a = trapezoid(ray.da, ray.au0 + i * ray.dau, 0.0F);
    const IndexRange range = footprint_indices(on_a, a);
    first = std::max(range.first, low);
    last = std::min(range.last + 1, high);
  }
  float share(int j) const { return footprint_share(on_a, a, j); }
};

class FootprintProjector final : public RayProjector {
public:
  explicit FootprintProjector(const RayProjectorSetup& setup)
      : scan_(setup), kernel_(cpu::chosen_footprint_kernel()), tilted_(scan_) {}

  std::string description() const override {
    const auto upright =
        std::count_if(scan_.views.begin(), scan_.views.end(), [](const JosephView& view) { return view.rows.any(); });
    const std::string ways = upright == static_cast<std::ptrdiff_t>(scan_.views.size()) ? "columns of the detector, "
                             : upright == 0                                             ? "single rays, "
                                                                                        : "columns and single rays, ";
    return ways + kernel_.target;
  }
  std::int64_t work_bytes(std::int64_t slices, std::int64_t views, std::int64_t rows) const override {
    const std::int64_t forward = scan_.setup.grid.nx * scan_.setup.grid.ny * RayScan::stride(slices);
    const std::int64_t back = std::min(views, footprint_views_together) * columns() * (rows + cpu::joseph_padding);
    return std::max(std::max(forward, back) * std::int64_t{sizeof(float)}, tilted_.work_bytes(slices, views, rows));
  }

  void forward(const SlabVoxels<const float>& slab, const ViewRows<float>& out, Queue& queue) override {
    each_run(out.first_view, out.views, upright(), [&](std::int64_t first, std::int64_t count, bool fast) {
      const ViewRows<float> part = part_of(out, columns(), first, count);
      fast ? forward_upright(slab, part, threads_of(queue)) : tilted_.forward(slab, part, queue);
    });
  }

  void adjoint(const ViewRows<const float>& in, const SlabVoxels<float>& slab, Queue& queue) override {
    each_run(in.first_view, in.views, upright(), [&](std::int64_t first, std::int64_t count, bool fast) {
      if (!fast) return tilted_.adjoint(part_of(in, columns(), first, count), slab, threads_of(queue));
      for (std::int64_t view = first; view < first + count; view += footprint_views_together)
        adjoint_upright(part_of(in, columns(), view, std::min(footprint_views_together, first + count - view)), slab,
                        threads_of(queue));
    });
  }

private:
  std::int64_t columns() const { return scan_.setup.geometry->columns; }
  int middle_row() const { return static_cast<int>(scan_.setup.geometry->rows / 2); }
  std::function<bool(std::int64_t)> upright() const {
    return [this](std::int64_t view) { return scan_.view(view).rows.any(); };
  }
  cpu::FootprintRows rows_on(std::int64_t view, int axis, int layer, int j) const {
    return cpu::footprint_rows(scan_.view(view).rows, axis == 0 ? layer : j, axis == 0 ? j : layer, middle_row());
  }

  void forward_upright(const SlabVoxels<const float>& slab, const ViewRows<float>& out, ThreadPool& threads) const {
    const std::int64_t nx = scan_.setup.grid.nx, ny = scan_.setup.grid.ny, slices = slab.slices.slices();
    const std::int64_t stride = RayScan::stride(slices);
    const ZFastest order{nx, ny, slices, stride};
    Buffer<float> turned(nx * ny * stride);
    threads.parallel_for(0, ny, 1, [&](std::int64_t first, std::int64_t last, int) {
      std::fill(turned.data() + first * nx * stride, turned.data() + last * nx * stride, 0.0F);
      order.each_voxel(0, nx, first, last, [&](std::int64_t from, std::int64_t to) {
        turned.data()[first * nx * stride + cpu::column_start + to] = slab.voxels[from];
      });
    });
    const cpu::FootprintHeld held{scan_.grid, out.rows, middle_row(), slab.slices.z0, slab.slices.z1};
    const std::int64_t blocks = (columns() + footprint_columns_together - 1) / footprint_columns_together;
    threads.parallel_for(0, out.views * blocks, 1, [&](std::int64_t first, std::int64_t last, int) {
      cpu::FootprintScratch scratch;
      scratch.reserve(out.rows.size(), slices);
      const std::int64_t sums_stride = out.rows.size() + cpu::joseph_padding;
      std::vector<float> sums(static_cast<std::size_t>(footprint_columns_together * sums_stride)),
          samples(static_cast<std::size_t>(sums_stride));
      for (std::int64_t task = first; task < last; ++task) {
        const std::int64_t view = task / blocks, u0 = task % blocks * footprint_columns_together;
        const std::int64_t count = std::min(footprint_columns_together, columns() - u0);
        std::fill(sums.begin(), sums.end(), 0.0F);
        std::vector<UprightColumn> block;
        for (std::int64_t i = 0; i < count; ++i)
          block.push_back(
              upright_column(scan_.view(out.first_view + view), scan_.grid, u0 + i, scan_.setup.geometry->rows));
        for (int axis = 0; axis < 2; ++axis)
          sum_layers(out.first_view + view, held, axis, block, turned.data(), stride, samples.data(), sums.data(),
                     sums_stride, scratch);
        for (std::int64_t i = 0; i < count; ++i)
          for (std::int64_t row = 0; row < out.rows.size(); ++row)
            out.values[(view * out.rows.size() + row) * columns() + u0 + i] =
                sums[static_cast<std::size_t>(i * sums_stride + row)] *
                block[static_cast<std::size_t>(i)].way_mm(out.rows.first + row);
      }
    });
  }

  // Layers on one axis into the sums of those columns that have it for their main one.
  void sum_layers(std::int64_t view, const cpu::FootprintHeld& held, int axis, const std::vector<UprightColumn>& block,
                  const float* voxels, std::int64_t stride, float* samples, float* sums, std::int64_t sums_stride,
                  cpu::FootprintScratch& scratch) const {
    const JosephGrid& grid = scan_.grid;
    const int a = joseph_axis_a(axis), low = -grid.middle[a], high = grid.size[a] - grid.middle[a];
    const std::int64_t apart[2] = {stride, stride * grid.size[0]};
    if (std::none_of(block.begin(), block.end(), [&](const UprightColumn& c) { return c.ray.axis == axis; })) return;
    std::vector<LayerShares> layer_shares;
    for (int layer = -grid.middle[axis]; layer < grid.size[axis] - grid.middle[axis]; ++layer) {
      layer_shares.clear();
      int first = high, last = low;
      for (const UprightColumn& column : block) {
        layer_shares.emplace_back(column.ray, layer, low, column.ray.axis == axis ? high : low);
        if (layer_shares.back().first >= layer_shares.back().last) continue;
        first = std::min(first, layer_shares.back().first);
        last = std::max(last, layer_shares.back().last);
      }
      for (int j = first; j < last; ++j) {
        const cpu::FootprintRows rows = rows_on(view, axis, layer, j);
        const cpu::RowSpan span = kernel_.span(held, rows);
        if (span.first >= span.last) continue;
        const float* column = voxels + (layer + grid.middle[axis]) * apart[axis] + (j + grid.middle[a]) * apart[a];
        kernel_.sample(held, rows, span, column, samples, scratch);
        for (std::size_t i = 0; i < block.size(); ++i) {
          const LayerShares& shares = layer_shares[i];
          if (j < shares.first || j >= shares.last) continue;
          if (const float share = shares.share(j); share > 0)
            kernel_.add(span, share / static_cast<float>(rows.pieces), samples,
                        sums + static_cast<std::int64_t>(i) * sums_stride);
        }
      }
    }
  }

  // Of some views: all detector columns, and their values times the way, rows side by side.
  struct TurnedFootprints {
    std::vector<UprightColumn> columns;
    std::vector<float> values;
    std::int64_t stride = 0;
  };

  TurnedFootprints turn_views(const ViewRows<const float>& in, ThreadPool& threads) const {
    TurnedFootprints out;
    out.stride = in.rows.size() + cpu::joseph_padding;
    out.columns.resize(static_cast<std::size_t>(in.views * columns()));
    out.values.assign(out.columns.size() * static_cast<std::size_t>(out.stride), 0.0F);
    threads.parallel_for(0, in.views * columns(), 16, [&](std::int64_t first, std::int64_t last, int) {
      for (std::int64_t at = first; at < last; ++at) {
        const std::int64_t view = at / columns(), u = at % columns();
        UprightColumn& column = out.columns[static_cast<std::size_t>(at)];
        column = upright_column(scan_.view(in.first_view + view), scan_.grid, u, scan_.setup.geometry->rows);
        for (std::int64_t row = 0; row < in.rows.size(); ++row)
          out.values[static_cast<std::size_t>(at * out.stride + row)] =
              in.values[(view * in.rows.size() + row) * columns() + u] * column.way_mm(in.rows.first + row);
      }
    });
    return out;
  }

  void adjoint_upright(const ViewRows<const float>& in, const SlabVoxels<float>& slab, ThreadPool& threads) const {
    const TurnedFootprints turned = turn_views(in, threads);
    const cpu::FootprintHeld held{scan_.grid, in.rows, middle_row(), slab.slices.z0, slab.slices.z1};
    scan_.each_tile(slab, threads, [&](const VoxelRanges& box, float* tile) {
      cpu::FootprintScratch scratch;
      scratch.reserve(in.rows.size(), slab.slices.slices());
      std::vector<float> sums(static_cast<std::size_t>(ray_tile * turned.stride));
      for (std::int64_t view = 0; view < in.views; ++view) {
        const PixelWindow seen = scan_.seen_by(in.first_view + view, box);
        if (seen.empty()) continue;
        const UprightColumn* its_columns = turned.columns.data() + view * columns();
        for (int axis = 0; axis < 2; ++axis)
          if (std::any_of(its_columns + seen.u0, its_columns + seen.u1,
                          [&](const UprightColumn& c) { return c.ray.axis == axis; }))
            share_layers(in.first_view + view, held, axis, its_columns, seen,
                         turned.values.data() + view * columns() * turned.stride, turned.stride, box, tile, sums.data(),
                         scratch);
      }
    });
  }

  // A tile's layers on one axis: for each of a layer's voxel columns the sum over detector columns first.
  void share_layers(std::int64_t view, const cpu::FootprintHeld& held, int axis, const UprightColumn* its_columns,
                    const PixelWindow& seen, const float* values, std::int64_t stride, const VoxelRanges& box,
                    float* tile, float* sums, cpu::FootprintScratch& scratch) const {
    const IndexBox part = scan_.indices(box);
    const int a = joseph_axis_a(axis), low = part.first[a], high = part.last[a];
    const std::int64_t tile_stride = RayScan::stride(box.z1 - box.z0);
    const std::int64_t apart[2] = {tile_stride, tile_stride * (box.x1 - box.x0)};
    cpu::RowSpan spans[ray_tile];
    cpu::FootprintRows rows[ray_tile];
    for (int layer = part.first[axis]; layer < part.last[axis]; ++layer) {
      for (int j = low; j < high; ++j) {
        rows[j - low] = rows_on(view, axis, layer, j);
        const cpu::RowSpan& span = spans[j - low] = kernel_.span(held, rows[j - low]);
        if (span.first < span.last)
          std::fill(sums + (j - low) * stride + span.first, sums + (j - low) * stride + span.last, 0.0F);
      }
      for (std::int64_t u = seen.u0; u < seen.u1; ++u) {
        if (its_columns[u].ray.axis != axis) continue;
        const LayerShares shares(its_columns[u].ray, layer, low, high);
        for (int j = shares.first; j < shares.last; ++j)
          if (const float share = shares.share(j); share > 0)
            kernel_.add(spans[j - low], share / static_cast<float>(rows[j - low].pieces), values + u * stride,
                        sums + (j - low) * stride);
      }
      for (int j = low; j < high; ++j)
        if (spans[j - low].first < spans[j - low].last)
          kernel_.share(held, rows[j - low], spans[j - low], sums + (j - low) * stride,
                        tile + (layer - part.first[axis]) * apart[axis] + (j - low) * apart[a], scratch);
    }
  }

  RayScan scan_;
  cpu::FootprintKernel kernel_;
  BlockProjector tilted_;
};

}  // namespace

std::unique_ptr<RayProjector> make_footprint_projector(const RayProjectorSetup& setup) {
  return std::make_unique<FootprintProjector>(setup);
}

}  // namespace lepus::host
