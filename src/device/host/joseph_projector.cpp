// SPDX-License-Identifier: Apache-2.0
// Joseph's operator on the host. Views whose detector stands upright go through the kernels of joseph_columns.h, others
// through block_projector.h; rays that run along z most through plain loops.
// A: the slab is copied with z fastest, and tasks are a few neighbouring detector columns of a view. Its transpose:
// tasks are tiles of voxel columns, and the views come in blocks, turned so that rows lie side by side.
#include <algorithm>
#include <functional>
#include <vector>

#include "core/memory.h"
#include "device/host/block_projector.h"
#include "device/host/device.h"
#include "device/host/joseph_columns.h"
#include "device/host/ray_projector.h"
#include "device/host/ray_scan.h"

namespace lepus::host {
namespace {

// Detector columns that are summed together: their sums stay in the L1 cache, and they share voxel columns.
constexpr std::int64_t columns_together = 8;
// Views that are turned at once: a tile is copied in and out once for all of them.
constexpr std::int64_t views_together = 16;

class JosephProjector final : public RayProjector {
public:
  explicit JosephProjector(const RayProjectorSetup& setup)
      : scan_(setup), kernel_(cpu::chosen_joseph_kernel()), tilted_(scan_) {
    for (const JosephView& view : scan_.views) upright_.push_back(cpu::stands_upright(view, setup.geometry->rows));
  }

  std::string description() const override {
    const auto upright = std::count(upright_.begin(), upright_.end(), true);
    const std::string ways = upright == static_cast<std::ptrdiff_t>(upright_.size()) ? "columns of the detector, "
                             : upright == 0                                          ? "single rays, "
                                                                                     : "columns and single rays, ";
    return ways + kernel_.target;
  }
  std::int64_t work_bytes(std::int64_t slices, std::int64_t views, std::int64_t rows) const override {
    const std::int64_t pixels = scan_.setup.geometry->columns * (rows + cpu::joseph_padding);
    return std::max(tilted_.work_bytes(slices, views, rows),
                    std::min(views, views_together) * pixels * std::int64_t{sizeof(float)});
  }

  void forward(const SlabVoxels<const float>& slab, const ViewRows<float>& out, Queue& queue) override {
    each_run(out.first_view, out.views, stands_upright(), [&](std::int64_t first, std::int64_t count, bool upright) {
      const ViewRows<float> part = part_of(out, columns(), first, count);
      upright ? forward_upright(slab, part, queue) : tilted_.forward(slab, part, queue);
    });
  }

  void adjoint(const ViewRows<const float>& in, const SlabVoxels<float>& slab, Queue& queue) override {
    each_run(in.first_view, in.views, stands_upright(), [&](std::int64_t first, std::int64_t count, bool upright) {
      if (!upright) return tilted_.adjoint(part_of(in, columns(), first, count), slab, threads_of(queue));
      for (std::int64_t view = first; view < first + count; view += views_together)
        adjoint_upright(part_of(in, columns(), view, std::min(views_together, first + count - view)), slab, queue);
    });
  }

private:
  std::int64_t columns() const { return scan_.setup.geometry->columns; }
  std::function<bool(std::int64_t)> stands_upright() const {
    return [this](std::int64_t view) -> bool { return upright_[static_cast<std::size_t>(view)]; };
  }

  // Rows of a column whose rays run along z.
  template <class Each>
  static void each_steep_row(const cpu::JosephColumn& column, RowBand rows, const Each& each) {
    for (std::int64_t row = rows.first; row < rows.last; ++row)
      if (row < column.rows.first || row >= column.rows.last) each(row);
  }
  void forward_upright(const SlabVoxels<const float>& slab, const ViewRows<float>& out, Queue& queue) const {
    ThreadPool& threads = threads_of(queue);
    const ScanGeometry& geometry = *scan_.setup.geometry;
    const std::int64_t nx = scan_.setup.grid.nx, ny = scan_.setup.grid.ny, slices = slab.slices.slices(),
                       rows = out.rows.size();
    const ZFastest order{nx, ny, slices, RayScan::stride(slices)};
    Buffer<float> turned(nx * ny * order.stride + cpu::joseph_padding);
    threads.parallel_for(0, ny, 1, [&](std::int64_t first, std::int64_t last, int) {
      order.each_voxel(0, nx, first, last, [&](std::int64_t from, std::int64_t to) {
        turned.data()[first * nx * order.stride + to] = slab.voxels[from];
      });
    });
    const std::int64_t groups = (geometry.columns + columns_together - 1) / columns_together;
    const std::int64_t sums_stride = rows + cpu::joseph_padding;
    threads.parallel_for(0, out.views * groups, 4, [&](std::int64_t first, std::int64_t last, int) {
      std::vector<float> sums(static_cast<std::size_t>(columns_together * sums_stride));
      cpu::JosephScratch scratch;
      cpu::JosephColumn columns[columns_together];
      for (std::int64_t task = first; task < last; ++task) {
        const std::int64_t view = task / groups, u0 = task % groups * columns_together;
        const std::int64_t count = std::min(columns_together, geometry.columns - u0);
        for (std::int64_t i = 0; i < count; ++i)
          columns[i] = cpu::joseph_column(scan_.view(out.first_view + view), scan_.grid, u0 + i, geometry.rows);
        std::fill(sums.begin(), sums.end(), 0.0F);
        kernel_.forward({scan_.grid, columns, static_cast<int>(count), turned.data(), order.stride, slab.slices.z0,
                         slab.slices.z1, out.rows, sums.data(), sums_stride},
                        scratch);
        float* values = out.values + view * rows * geometry.columns + u0;
        for (std::int64_t i = 0; i < count; ++i) {
          each_steep_row(columns[i], out.rows, [&](std::int64_t row) {
            values[(row - out.rows.first) * geometry.columns + i] =
                scan_.sum_plainly(out.first_view + view, u0 + i, row, slab);
          });
          const RowBand fast = common_rows(columns[i].rows, out.rows);
          for (std::int64_t row = fast.first; row < fast.last; ++row)
            values[(row - out.rows.first) * geometry.columns + i] =
                sums[static_cast<std::size_t>(i * sums_stride + row - out.rows.first)] * columns[i].way_mm(row);
        }
      }
    });
  }

  // Of a block of views: all detector columns, and their values times the way, rows side by side.
  struct TurnedViews {
    std::vector<cpu::JosephColumn> columns;
    std::vector<float> values;
    std::vector<char> steep;  // of each column: whether some of its rays run along z
    std::int64_t stride = 0;
  };

  TurnedViews turn_views(const ViewRows<const float>& in, ThreadPool& threads) const {
    const std::int64_t columns = scan_.setup.geometry->columns, rows = in.rows.size();
    TurnedViews out;
    out.stride = rows + cpu::joseph_padding;
    out.columns.resize(static_cast<std::size_t>(in.views * columns));
    out.steep.resize(out.columns.size());
    out.values.assign(out.columns.size() * static_cast<std::size_t>(out.stride), 0.0F);
    constexpr std::int64_t block = 16;  // a cache line of every row
    const std::int64_t blocks = (columns + block - 1) / block;
    threads.parallel_for(0, in.views * blocks, 4, [&](std::int64_t first, std::int64_t last, int) {
      for (std::int64_t task = first; task < last; ++task) {
        const std::int64_t view = task / blocks;
        for (std::int64_t u = task % blocks * block; u < std::min((task % blocks + 1) * block, columns); ++u) {
          const auto at = static_cast<std::size_t>(view * columns + u);
          const cpu::JosephColumn column =
              cpu::joseph_column(scan_.view(in.first_view + view), scan_.grid, u, scan_.setup.geometry->rows);
          const RowBand fast = common_rows(column.rows, in.rows);
          for (std::int64_t row = fast.first; row < fast.last; ++row)
            out.values[at * static_cast<std::size_t>(out.stride) + static_cast<std::size_t>(row - in.rows.first)] =
                in.values[(view * rows + row - in.rows.first) * columns + u] * column.way_mm(row);
          out.steep[at] = fast.size() < rows;
          out.columns[at] = column;
        }
      }
    });
    return out;
  }

  void adjoint_upright(const ViewRows<const float>& in, const SlabVoxels<float>& slab, Queue& queue) const {
    const TurnedViews turned = turn_views(in, threads_of(queue));
    scan_.each_tile(slab, threads_of(queue), [&](const VoxelRanges& box, float* tile) {
      cpu::JosephScratch scratch;
      for (std::int64_t view = 0; view < in.views; ++view) add_view(in, turned, view, box, tile, scratch);
    });
  }

  void add_view(const ViewRows<const float>& in, const TurnedViews& turned, std::int64_t view, const VoxelRanges& box,
                float* tile, cpu::JosephScratch& scratch) const {
    const ScanGeometry& geometry = *scan_.setup.geometry;
    const PixelWindow seen = scan_.seen_by(in.first_view + view, box);
    if (seen.empty()) return;
    const cpu::JosephColumn* columns = turned.columns.data() + view * geometry.columns;
    kernel_.back({scan_.grid, columns, seen.u0, seen.u1, turned.values.data() + view * geometry.columns * turned.stride,
                  turned.stride, in.rows, tile, RayScan::stride(box.z1 - box.z0), box.x0, box.x1, box.y0, box.y1,
                  box.z0, box.z1},
                 scratch);
    for (std::int64_t u = seen.u0; u < seen.u1; ++u) {
      if (!turned.steep[static_cast<std::size_t>(view * geometry.columns + u)]) continue;
      each_steep_row(columns[u], common_rows(in.rows, {seen.v0, seen.v1}), [&](std::int64_t row) {
        scan_.add_plainly(in.first_view + view, u, row,
                          in.values[(view * in.rows.size() + row - in.rows.first) * geometry.columns + u], box, tile);
      });
    }
  }

  RayScan scan_;
  std::vector<bool> upright_;
  cpu::JosephKernel kernel_;
  BlockProjector tilted_;
};

}  // namespace

std::unique_ptr<RayProjector> make_joseph_projector(const RayProjectorSetup& setup) {
  return std::make_unique<JosephProjector>(setup);
}

}  // namespace lepus::host
