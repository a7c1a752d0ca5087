// SPDX-License-Identifier: Apache-2.0
// Joseph's operator on the host. Views whose detector stands upright go through the kernels of joseph_columns.h, others
// through those of joseph_rays.h; rays that run along z most through plain loops.
// A: the slab is copied with z fastest, and tasks are a few neighbouring detector columns of a view. Its transpose:
// tasks are tiles of voxel columns, and the views come in blocks, turned so that rows lie side by side.
#include <algorithm>
#include <limits>
#include <vector>

#include "core/memory.h"
#include "device/host/device.h"
#include "device/host/joseph_columns.h"
#include "device/host/joseph_rays.h"
#include "device/host/ray_projector.h"
#include "device/host/z_fastest.h"
#include "geometry/camera.h"
#include "project/ray_views.h"
#include "project/seen_pixels.h"
#include "project/visit_voxels.h"

namespace lepus::host {
namespace {

// Detector columns that are summed together: their sums stay in the L1 cache, and they share voxel columns.
constexpr std::int64_t columns_together = 8;
// Voxel columns per side of a tile: with a few hundred slices it stays in the L2 cache.
constexpr std::int64_t joseph_tile = 16;
// Views that are turned at once: a tile is copied in and out once for all of them.
constexpr std::int64_t views_together = 16, tilted_views_together = 4;

class JosephProjector final : public RayProjector {
public:
  explicit JosephProjector(const RayProjectorSetup& setup)
      : setup_(setup),
        grid_(joseph_grid(setup.grid)),
        views_(joseph_views(*setup.geometry, setup.grid)),
        kernel_(cpu::chosen_joseph_kernel()),
        ray_kernel_(cpu::chosen_joseph_ray_kernel()) {
    for (const Matrix34& matrix : setup.geometry->matrices) matrices_.push_back(in_voxel_indices(matrix, setup.grid));
    for (const JosephView& view : views_) upright_.push_back(cpu::stands_upright(view, setup.geometry->rows));
  }

  std::string description() const override {
    const auto upright = std::count(upright_.begin(), upright_.end(), true);
    const std::string ways = upright == static_cast<std::ptrdiff_t>(upright_.size()) ? "columns of the detector, "
                             : upright == 0                                          ? "single rays, "
                                                                                     : "columns and single rays, ";
    return ways + kernel_.target;
  }
  std::int64_t work_bytes(std::int64_t slices, std::int64_t views, std::int64_t rows) const override {
    const std::int64_t forward = (setup_.grid.nx + 3) * (setup_.grid.ny + 3) * stride(slices);
    // Of a turned view one float per pixel, of single rays nine.
    const std::int64_t pixels = setup_.geometry->columns * (rows + cpu::joseph_padding);
    const std::int64_t back = std::min(views, 9 * tilted_views_together) * pixels;
    return std::max(forward, back) * std::int64_t{sizeof(float)};
  }

  void forward(const SlabVoxels<const float>& slab, const ViewRows<float>& out, Queue& queue) override {
    const std::int64_t view_values = out.rows.size() * setup_.geometry->columns;
    each_run(out.first_view, out.views, [&](std::int64_t first, std::int64_t count, bool upright) {
      const ViewRows<float> part{out.values + (first - out.first_view) * view_values, first, count, out.rows};
      upright ? forward_upright(slab, part, queue) : forward_tilted(slab, part, queue);
    });
  }

  void adjoint(const ViewRows<const float>& in, const SlabVoxels<float>& slab, Queue& queue) override {
    const std::int64_t view_values = in.rows.size() * setup_.geometry->columns;
    each_run(in.first_view, in.views, [&](std::int64_t first, std::int64_t count, bool upright) {
      const std::int64_t together = upright ? views_together : tilted_views_together;
      for (std::int64_t view = first; view < first + count; view += together) {
        const ViewRows<const float> part{in.values + (view - in.first_view) * view_values, view,
                                         std::min(together, first + count - view), in.rows};
        upright ? adjoint_upright(part, slab, queue) : adjoint_tilted(part, slab, queue);
      }
    });
  }

private:
  static std::int64_t stride(std::int64_t slices) { return ZFastest::padded(slices + cpu::joseph_padding); }

  // Neighbouring views of one kind, one run after the other.
  template <class Run>
  void each_run(std::int64_t first, std::int64_t count, const Run& run) const {
    for (std::int64_t begin = first; begin < first + count;) {
      const bool upright = upright_[static_cast<std::size_t>(begin)];
      std::int64_t end = begin + 1;
      while (end < first + count && upright_[static_cast<std::size_t>(end)] == upright) ++end;
      run(begin, end - begin, upright);
      begin = end;
    }
  }

  // Rows of a column whose rays run along z.
  template <class Each>
  static void each_steep_row(const cpu::JosephColumn& column, RowBand rows, const Each& each) {
    for (std::int64_t row = rows.first; row < rows.last; ++row)
      if (row < column.rows.first || row >= column.rows.last) each(row);
  }
  template <class Visit>
  void visit_ray(std::int64_t view, std::int64_t u, std::int64_t row, const IndexBox& box, const Visit& visit) const {
    visit_voxels<float>(RayModel::joseph, views_[static_cast<std::size_t>(view)], grid_, static_cast<double>(u),
                        static_cast<double>(row), box, visit);
  }
  IndexBox indices(const VoxelRanges& box) const {
    const std::int64_t first[3] = {box.x0, box.y0, box.z0}, last[3] = {box.x1, box.y1, box.z1};
    IndexBox out;
    for (int k = 0; k < 3; ++k) {
      out.first[k] = static_cast<int>(first[k]) - grid_.middle[k];
      out.last[k] = static_cast<int>(last[k]) - grid_.middle[k];
    }
    return out;
  }

  void forward_upright(const SlabVoxels<const float>& slab, const ViewRows<float>& out, Queue& queue) const {
    ThreadPool& threads = threads_of(queue);
    const ScanGeometry& geometry = *setup_.geometry;
    const std::int64_t nx = setup_.grid.nx, ny = setup_.grid.ny, slices = slab.slices.slices(), rows = out.rows.size();
    const ZFastest order{nx, ny, slices, stride(slices)};
    Buffer<float> turned(nx * ny * order.stride + cpu::joseph_padding);
    threads.parallel_for(0, ny, 1, [&](std::int64_t first, std::int64_t last, int) {
      order.each_voxel(0, nx, first, last, [&](std::int64_t from, std::int64_t to) {
        turned.data()[first * nx * order.stride + to] = slab.voxels[from];
      });
    });
    const IndexBox box = indices({0, nx, 0, ny, slab.slices.z0, slab.slices.z1});
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
          columns[i] =
              cpu::joseph_column(views_[static_cast<std::size_t>(out.first_view + view)], grid_, u0 + i, geometry.rows);
        std::fill(sums.begin(), sums.end(), 0.0F);
        kernel_.forward({grid_, columns, static_cast<int>(count), turned.data(), order.stride, slab.slices.z0,
                         slab.slices.z1, out.rows, sums.data(), sums_stride},
                        scratch);
        float* values = out.values + view * rows * geometry.columns + u0;
        for (std::int64_t i = 0; i < count; ++i) {
          each_steep_row(columns[i], out.rows, [&](std::int64_t row) {
            float sum = 0;
            visit_ray(out.first_view + view, u0 + i, row, box, [&](int x, int y, int z, float weight) {
              sum += weight * slab.voxels[((z - box.first[2]) * ny + y - box.first[1]) * nx + x - box.first[0]];
            });
            values[(row - out.rows.first) * geometry.columns + i] = sum;
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
    const std::int64_t columns = setup_.geometry->columns, rows = in.rows.size();
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
          const cpu::JosephColumn column = cpu::joseph_column(views_[static_cast<std::size_t>(in.first_view + view)],
                                                              grid_, u, setup_.geometry->rows);
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

  // add(tile, its voxels) for every tile of the slab's voxel columns, on all threads; a tile lies with z fastest.
  template <class Add>
  void each_tile(const SlabVoxels<float>& slab, ThreadPool& threads, const Add& add) const {
    const VolumeGrid& grid = setup_.grid;
    const ZFastest order{grid.nx, grid.ny, slab.slices.slices(), stride(slab.slices.slices())};
    const std::int64_t tiles_x = (grid.nx + joseph_tile - 1) / joseph_tile,
                       tiles_y = (grid.ny + joseph_tile - 1) / joseph_tile;
    threads.parallel_for(0, tiles_x * tiles_y, 1, [&](std::int64_t first, std::int64_t last, int) {
      Buffer<float> tile(joseph_tile * joseph_tile * order.stride + cpu::joseph_padding);
      for (std::int64_t task = first; task < last; ++task) {
        const std::int64_t x0 = task % tiles_x * joseph_tile, y0 = task / tiles_x * joseph_tile;
        const VoxelRanges box{x0,
                              std::min(x0 + joseph_tile, grid.nx),
                              y0,
                              std::min(y0 + joseph_tile, grid.ny),
                              slab.slices.z0,
                              slab.slices.z1};
        order.each_voxel(box.x0, box.x1, box.y0, box.y1,
                         [&](std::int64_t from, std::int64_t to) { tile.data()[to] = slab.voxels[from]; });
        add(box, tile.data());
        order.each_voxel(box.x0, box.x1, box.y0, box.y1,
                         [&](std::int64_t to, std::int64_t from) { slab.voxels[to] = tile.data()[from]; });
      }
    });
  }
  PixelWindow seen_by(std::int64_t view, const VoxelRanges& box) const {
    return seen_pixels(matrices_[static_cast<std::size_t>(view)], setup_.geometry->beam, setup_.geometry->columns,
                       setup_.geometry->rows, box);
  }
  // A ray that runs along z, into a tile.
  void add_steep_ray(std::int64_t view, std::int64_t u, std::int64_t row, float value, const VoxelRanges& box,
                     float* tile) const {
    const IndexBox part = indices(box);
    const std::int64_t width = box.x1 - box.x0, tile_stride = stride(box.z1 - box.z0);
    visit_ray(view, u, row, part, [&](int x, int y, int z, float weight) {
      tile[((y - part.first[1]) * width + x - part.first[0]) * tile_stride + z - part.first[2]] += weight * value;
    });
  }

  void adjoint_upright(const ViewRows<const float>& in, const SlabVoxels<float>& slab, Queue& queue) const {
    const TurnedViews turned = turn_views(in, threads_of(queue));
    each_tile(slab, threads_of(queue), [&](const VoxelRanges& box, float* tile) {
      cpu::JosephScratch scratch;
      for (std::int64_t view = 0; view < in.views; ++view) add_view(in, turned, view, box, tile, scratch);
    });
  }

  void add_view(const ViewRows<const float>& in, const TurnedViews& turned, std::int64_t view, const VoxelRanges& box,
                float* tile, cpu::JosephScratch& scratch) const {
    const ScanGeometry& geometry = *setup_.geometry;
    const PixelWindow seen = seen_by(in.first_view + view, box);
    if (seen.empty()) return;
    const cpu::JosephColumn* columns = turned.columns.data() + view * geometry.columns;
    kernel_.back(
        {grid_, columns, seen.u0, seen.u1, turned.values.data() + view * geometry.columns * turned.stride,
         turned.stride, in.rows, tile, stride(box.z1 - box.z0), box.x0, box.x1, box.y0, box.y1, box.z0, box.z1},
        scratch);
    for (std::int64_t u = seen.u0; u < seen.u1; ++u) {
      if (!turned.steep[static_cast<std::size_t>(view * geometry.columns + u)]) continue;
      each_steep_row(columns[u], common_rows(in.rows, {seen.v0, seen.v1}), [&](std::int64_t row) {
        add_steep_ray(in.first_view + view, u, row,
                      in.values[(view * in.rows.size() + row - in.rows.first) * geometry.columns + u], box, tile);
      });
    }
  }

  JosephRay ray_of(std::int64_t view, std::int64_t u, std::int64_t row) const {
    return joseph_ray(
        joseph_line(views_[static_cast<std::size_t>(view)], grid_, static_cast<double>(u), static_cast<double>(row)));
  }

  // Voxels of zero around the slab spare the kernel asking where it ends.
  void forward_tilted(const SlabVoxels<const float>& slab, const ViewRows<float>& out, Queue& queue) const {
    ThreadPool& threads = threads_of(queue);
    const ScanGeometry& geometry = *setup_.geometry;
    const std::int64_t nx = setup_.grid.nx, ny = setup_.grid.ny, slices = slab.slices.slices(), rows = out.rows.size();
    const ZFastest order{nx, ny, slices, stride(slices)};
    const std::int64_t width = nx + 3, floats = width * (ny + 3) * order.stride;
    if (floats > std::numeric_limits<std::int32_t>::max())  // the kernel's offsets
      return make_plain_projector(joseph_setup(), WeightPrecision::single_precision)->forward(slab, out, queue);
    Buffer<float> padded(floats);
    threads.parallel_for(0, ny + 3, 1, [&](std::int64_t first, std::int64_t last, int) {
      std::fill(padded.data() + first * width * order.stride, padded.data() + last * width * order.stride, 0.0F);
      for (std::int64_t y = std::max<std::int64_t>(first - 1, 0); y < std::min(last - 1, ny); ++y)
        order.each_voxel(0, nx, y, y + 1, [&](std::int64_t from, std::int64_t to) {
          padded.data()[((y + 1) * width + 1) * order.stride + 1 + to] = slab.voxels[from];
        });
    });
    const IndexBox box = indices({0, nx, 0, ny, slab.slices.z0, slab.slices.z1});
    threads.parallel_for(0, out.views * geometry.columns, 16, [&](std::int64_t first, std::int64_t last, int) {
      cpu::JosephRays rays;
      rays.resize(1, rows);
      std::vector<float> sums(static_cast<std::size_t>(rays.stride)), ways(sums);
      for (std::int64_t task = first; task < last; ++task) {
        const std::int64_t view = task / geometry.columns, u = task % geometry.columns;
        for (std::int64_t row = 0; row < rows; ++row) {
          const JosephRay ray = ray_of(out.first_view + view, u, out.rows.first + row);
          rays.set(0, row, ray, 0);
          ways[static_cast<std::size_t>(row)] = ray.axis == 2 ? -1 : ray.way_mm;
        }
        ray_kernel_.forward(
            {grid_, &rays, 0, rows, padded.data(), order.stride, slab.slices.z0, slab.slices.z1, sums.data()});
        for (std::int64_t row = 0; row < rows; ++row) {
          const float way = ways[static_cast<std::size_t>(row)];
          float sum = way < 0 ? 0.0F : sums[static_cast<std::size_t>(row)] * way;
          if (way < 0)
            visit_ray(out.first_view + view, u, out.rows.first + row, box, [&](int x, int y, int z, float weight) {
              sum += weight * slab.voxels[((z - box.first[2]) * ny + y - box.first[1]) * nx + x - box.first[0]];
            });
          out.values[(view * rows + row) * geometry.columns + u] = sum;
        }
      }
    });
  }

  // All rays of some views, with their values times the way.
  struct TiltedView {
    cpu::JosephRays rays;
    std::vector<char> steep;  // of each column: whether some of its rays run along z
    bool on_axis[2] = {false, false};
  };

  std::vector<TiltedView> tilted_views(const ViewRows<const float>& in, ThreadPool& threads) const {
    const std::int64_t columns = setup_.geometry->columns, rows = in.rows.size();
    std::vector<TiltedView> out(static_cast<std::size_t>(in.views));
    for (std::int64_t view = 0; view < in.views; ++view) {
      TiltedView& made = out[static_cast<std::size_t>(view)];
      made.rays.resize(columns, rows);
      made.steep.assign(static_cast<std::size_t>(columns), 0);
      threads.parallel_for(0, columns, 8, [&](std::int64_t first, std::int64_t last, int) {
        for (std::int64_t u = first; u < last; ++u)
          for (std::int64_t row = 0; row < rows; ++row) {
            const JosephRay ray = ray_of(in.first_view + view, u, in.rows.first + row);
            made.rays.set(u, row, ray, in.values[(view * rows + row) * columns + u] * ray.way_mm);
            if (ray.axis == 2) made.steep[static_cast<std::size_t>(u)] = 1;
          }
      });
      for (int axis = 0; axis < 2; ++axis)
        made.on_axis[axis] = std::any_of(made.rays.last[axis].begin(), made.rays.last[axis].end(),
                                         [](float last) { return last > -1e8F; });
    }
    return out;
  }

  struct TiltedScratch {
    Buffer<float> pairs;
    std::vector<std::int32_t> offsets;
    std::vector<float> shares;
  };

  void adjoint_tilted(const ViewRows<const float>& in, const SlabVoxels<float>& slab, Queue& queue) const {
    const std::vector<TiltedView> views = tilted_views(in, threads_of(queue));
    const std::int64_t slices = slab.slices.slices(), cells = slices + 3, columns = setup_.geometry->columns;
    each_tile(slab, threads_of(queue), [&](const VoxelRanges& box, float* tile) {
      TiltedScratch scratch;
      scratch.pairs = Buffer<float>(2 * (joseph_tile + 3) * cells);
      scratch.offsets.resize(static_cast<std::size_t>(in.rows.size() + cpu::joseph_padding));
      scratch.shares.resize(4 * scratch.offsets.size());
      for (std::int64_t view = 0; view < in.views; ++view) {
        const TiltedView& rays = views[static_cast<std::size_t>(view)];
        for (int axis = 0; axis < 2; ++axis)
          if (rays.on_axis[axis]) add_planes(in, view, rays.rays, axis, box, scratch, tile);
        const PixelWindow seen = seen_by(in.first_view + view, box);
        for (std::int64_t u = seen.u0; u < seen.u1; ++u) {
          if (!rays.steep[static_cast<std::size_t>(u)]) continue;
          for (std::int64_t row = std::max(seen.v0, in.rows.first); row < std::min(seen.v1, in.rows.last); ++row)
            if (ray_of(in.first_view + view, u, row).axis == 2)
              add_steep_ray(in.first_view + view, u, row,
                            in.values[(view * in.rows.size() + row - in.rows.first) * columns + u], box, tile);
        }
      }
    });
  }

  // The tile's planes on one axis, one after the other.
  void add_planes(const ViewRows<const float>& in, std::int64_t view, const cpu::JosephRays& rays, int axis,
                  const VoxelRanges& box, TiltedScratch& scratch, float* tile) const {
    float* pairs = scratch.pairs.data();
    const std::int64_t slices = box.z1 - box.z0, cells = slices + 3, width = box.x1 - box.x0;
    const std::int64_t first = axis == 0 ? box.x0 : box.y0, last = axis == 0 ? box.x1 : box.y1;
    const std::int64_t a_first = axis == 0 ? box.y0 : box.x0, a_last = axis == 0 ? box.y1 : box.x1;
    for (std::int64_t plane = first; plane < last; ++plane) {
      VoxelRanges part = box;
      (axis == 0 ? part.x0 : part.y0) = plane;
      (axis == 0 ? part.x1 : part.y1) = plane + 1;
      const PixelWindow seen = seen_by(in.first_view + view, part);
      const RowBand rows = common_rows({seen.v0, seen.v1}, in.rows);
      if (seen.empty() || rows.size() == 0) continue;
      std::fill(pairs, pairs + 2 * (a_last - a_first + 3) * cells, 0.0F);
      ray_kernel_.back({grid_, &rays, seen.u0, seen.u1, rows.first - in.rows.first, rows.last - in.rows.first, axis,
                        static_cast<int>(plane) - grid_.middle[axis], a_first, a_last, box.z0, box.z1, cells, pairs,
                        scratch.offsets.data(), scratch.shares.data()});
      for (std::int64_t a = a_first; a < a_last; ++a) {
        const std::int64_t x = axis == 0 ? plane : a, y = axis == 0 ? a : plane;
        ray_kernel_.add_pairs(pairs + 2 * (a - a_first + 1) * cells, slices,
                              tile + ((y - box.y0) * width + x - box.x0) * stride(slices));
      }
    }
  }

  RayProjectorSetup joseph_setup() const {
    RayProjectorSetup setup = setup_;
    setup.model = RayModel::joseph;
    return setup;
  }

  RayProjectorSetup setup_;
  JosephGrid grid_;
  std::vector<JosephView> views_;
  std::vector<Matrix34> matrices_;
  std::vector<bool> upright_;
  cpu::JosephKernel kernel_;
  cpu::JosephRayKernel ray_kernel_;
};

}  // namespace

std::unique_ptr<RayProjector> make_joseph_projector(const RayProjectorSetup& setup) {
  return std::make_unique<JosephProjector>(setup);
}

}  // namespace lepus::host
