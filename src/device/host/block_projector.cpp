// SPDX-License-Identifier: Apache-2.0
// A: the slab is copied with z fastest and zeros around it, and tasks are detector columns of a view. Its transpose:
// tasks are tiles of voxel columns, into which the views' rays are shared out layer by layer, a few views at a time.
#include "device/host/block_projector.h"

#include <algorithm>
#include <limits>

#include "device/host/device.h"
#include "device/host/ray_projector.h"

namespace lepus::host {
namespace {

// Views whose rays are kept at once: a tile is copied in and out once for all of them.
constexpr std::int64_t ray_views_together = 8;

// Rows that are put before the first one held, so that vectors of rows begin at the same ones wherever the cut is: the
// blocks of one vector are summed together.
std::int64_t rows_before(RowBand held) { return held.first % cpu::block_rows_together; }

// The slab as the kernel wants it.
struct PaddedSlab {
  std::int64_t width = 0, height = 0, stride = 0;
  std::int64_t floats() const { return width * height * stride + 2 * cpu::joseph_padding; }
};
PaddedSlab padded_slab(const VolumeGrid& grid, std::int64_t slices) {
  return {grid.nx + 2 * cpu::block_margin, grid.ny + 2 * cpu::block_margin, RayScan::stride(slices)};
}

cpu::BlockModel block_model(RayModel model) {
  return model == RayModel::footprint ? cpu::BlockModel::footprints
         : model == RayModel::siddon  ? cpu::BlockModel::lengths
                                      : cpu::BlockModel::linear;
}

}  // namespace

// All rays of a view, with their values times the way.
struct BlockProjector::View {
  cpu::BlockRays rays;
  std::vector<char> steep;  // of each column: whether some of its rays run along z
  bool on_axis[2] = {false, false};
};

BlockProjector::BlockProjector(const RayScan& scan)
    : scan_(scan), model_(block_model(scan.setup.model)), kernel_(cpu::chosen_block_kernel(model_)) {
  for (const JosephView& view : scan.views) {
    InFront in_front;
    for (int axis = 0; axis < 2; ++axis) {
      // Cone and fan: where the rays of all pixels come from. Parallel rays come from infinity, or are no number.
      const double source = view.point[axis][0] + view.nearest * view.direction[axis][0];
      const double first = -0.5 - scan.grid.middle[axis], last = scan.grid.size[axis] - 0.5 - scan.grid.middle[axis];
      in_front.of_axis[axis] = !(source >= first && source <= last);
    }
    in_front_.push_back(in_front);
  }
}

std::int64_t BlockProjector::work_bytes(std::int64_t slices, std::int64_t views, std::int64_t rows) const {
  const std::int64_t forward = padded_slab(scan_.setup.grid, slices).floats();
  const std::int64_t rays = scan_.setup.geometry->columns * (rows + cpu::joseph_padding);
  const std::int64_t back = std::min(views, ray_views_together) * cpu::BlockRays::floats_per_ray(model_) * rays;
  return std::max(forward, back) * std::int64_t{sizeof(float)};
}

float BlockProjector::set_ray(std::int64_t view, std::int64_t u, std::int64_t row, cpu::BlockRays& rays,
                              std::int64_t column, std::int64_t place, float value) const {
  const auto set = [&](const auto& ray) {
    rays.set(column, place, ray, value * ray.way_mm);
    return ray.axis == 2 ? -1 : ray.way_mm;
  };
  const auto at_u = static_cast<double>(u), at_v = static_cast<double>(row);
  if (model_ == cpu::BlockModel::footprints) return set(footprint_ray<float>(scan_.view(view), scan_.grid, at_u, at_v));
  if (model_ == cpu::BlockModel::lengths) return set(siddon_ray<float>(scan_.view(view), scan_.grid, at_u, at_v));
  return set(joseph_ray(joseph_line(scan_.view(view), scan_.grid, at_u, at_v)));
}

void BlockProjector::forward(const SlabVoxels<const float>& slab, const ViewRows<float>& out, Queue& queue) const {
  const VolumeGrid& grid = scan_.setup.grid;
  const std::int64_t nx = grid.nx, ny = grid.ny, slices = slab.slices.slices(), rows = out.rows.size();
  const std::int64_t columns = scan_.setup.geometry->columns;
  const PaddedSlab shape = padded_slab(grid, slices);
  // Offsets are of 32 bits; a larger slab would want others.
  if (shape.floats() > std::numeric_limits<std::int32_t>::max())
    return make_plain_projector(scan_.setup, WeightPrecision::single_precision)->forward(slab, out, queue);
  ThreadPool& threads = threads_of(queue);
  const ZFastest order{nx, ny, slices, shape.stride};
  Buffer<float> padded(shape.floats());
  threads.parallel_for(0, shape.height, 1, [&](std::int64_t first, std::int64_t last, int) {
    const std::int64_t line = shape.width * shape.stride;
    std::fill(padded.data() + first * line,
              last == shape.height ? padded.data() + padded.size() : padded.data() + last * line, 0.0F);
    constexpr std::int64_t margin = cpu::block_margin;
    for (std::int64_t y = std::max<std::int64_t>(first - margin, 0); y < std::min(last - margin, ny); ++y)
      order.each_voxel(0, nx, y, y + 1, [&](std::int64_t from, std::int64_t to) {
        padded.data()[(y + margin) * line + margin * shape.stride + cpu::block_slices_before + to] = slab.voxels[from];
      });
  });
  threads.parallel_for(0, out.views * columns, 16, [&](std::int64_t first, std::int64_t last, int) {
    cpu::BlockRays rays;
    rays.resize(1, rows, model_);
    std::vector<float> sums(static_cast<std::size_t>(rays.stride)), ways(sums);
    for (std::int64_t task = first; task < last; ++task) {
      const std::int64_t view = task / columns, u = task % columns;
      for (std::int64_t row = 0; row < rows; ++row)
        ways[static_cast<std::size_t>(row)] = set_ray(out.first_view + view, u, out.rows.first + row, rays, 0, row, 0);
      rays.finish(0, {0, rows}, in_front_[static_cast<std::size_t>(out.first_view + view)].of_axis);
      kernel_.forward(
          {scan_.grid, &rays, 0, rows, padded.data(), shape.stride, slab.slices.z0, slab.slices.z1, sums.data()});
      for (std::int64_t row = 0; row < rows; ++row) {
        const float way = ways[static_cast<std::size_t>(row)];
        out.values[(view * rows + row) * columns + u] =
            way < 0 ? scan_.sum_plainly(out.first_view + view, u, out.rows.first + row, slab)
                    : sums[static_cast<std::size_t>(row)] * way;
      }
    }
  });
}

void BlockProjector::adjoint(const ViewRows<const float>& in, const SlabVoxels<float>& slab,
                             ThreadPool& threads) const {
  for (std::int64_t view = in.first_view; view < in.first_view + in.views; view += ray_views_together) {
    const std::int64_t count = std::min(ray_views_together, in.first_view + in.views - view);
    add_views(part_of(in, scan_.setup.geometry->columns, view, count), slab, threads);
  }
}

BlockProjector::View BlockProjector::view_of(const ViewRows<const float>& in, std::int64_t view,
                                             ThreadPool& threads) const {
  const std::int64_t columns = scan_.setup.geometry->columns, rows = in.rows.size();
  View out;
  const std::int64_t before = rows_before(in.rows);
  out.rays.resize(columns, before + rows, model_);
  out.steep.assign(static_cast<std::size_t>(columns), 0);
  threads.parallel_for(0, columns, 8, [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t u = first; u < last; ++u) {
      for (std::int64_t row = 0; row < rows; ++row)
        if (set_ray(in.first_view + view, u, in.rows.first + row, out.rays, u, before + row,
                    in.values[(view * rows + row) * columns + u]) < 0)
          out.steep[static_cast<std::size_t>(u)] = 1;
      out.rays.finish(u, {before, before + rows}, in_front_[static_cast<std::size_t>(in.first_view + view)].of_axis);
    }
  });
  for (int axis = 0; axis < 2; ++axis)
    out.on_axis[axis] =
        std::any_of(out.rays.last[axis].begin(), out.rays.last[axis].end(), [](float last) { return last > -1e8F; });
  return out;
}

void BlockProjector::add_views(const ViewRows<const float>& in, const SlabVoxels<float>& slab,
                               ThreadPool& threads) const {
  std::vector<View> views;
  for (std::int64_t view = 0; view < in.views; ++view) views.push_back(view_of(in, view, threads));
  const std::int64_t cells = cpu::block_cells(slab.slices.slices()), columns = scan_.setup.geometry->columns;
  scan_.each_tile(slab, threads, [&](const VoxelRanges& box, float* tile) {
    Buffer<float> blocks(4 * (ray_tile + 2 * cpu::block_margin) * cells + cpu::joseph_padding);
    for (std::int64_t view = 0; view < in.views; ++view) {
      const View& rays = views[static_cast<std::size_t>(view)];
      for (int axis = 0; axis < 2; ++axis)
        if (rays.on_axis[axis]) add_layers(in, view, rays.rays, axis, box, blocks.data(), tile);
      const std::int64_t number = in.first_view + view;
      const PixelWindow seen = scan_.seen_by(number, box);
      for (std::int64_t u = seen.u0; u < seen.u1; ++u) {
        if (!rays.steep[static_cast<std::size_t>(u)]) continue;
        for (std::int64_t row = std::max(seen.v0, in.rows.first); row < std::min(seen.v1, in.rows.last); ++row)
          if (main_axis_ray(scan_.view(number), static_cast<double>(u), static_cast<double>(row)).axis == 2)
            scan_.add_plainly(number, u, row, in.values[(view * in.rows.size() + row - in.rows.first) * columns + u],
                              box, tile);
      }
    }
  });
}

// The tile's layers on one axis, one after the other.
void BlockProjector::add_layers(const ViewRows<const float>& in, std::int64_t view, const cpu::BlockRays& rays,
                                int axis, const VoxelRanges& box, float* blocks, float* tile) const {
  const std::int64_t slices = box.z1 - box.z0, cells = cpu::block_cells(slices), width = box.x1 - box.x0;
  const std::int64_t first = axis == 0 ? box.x0 : box.y0, last = axis == 0 ? box.x1 : box.y1;
  const std::int64_t a_first = axis == 0 ? box.y0 : box.x0, a_last = axis == 0 ? box.y1 : box.x1;
  const std::int64_t start_row = in.rows.first - rows_before(in.rows);
  for (std::int64_t layer = first; layer < last; ++layer) {
    VoxelRanges part = box;
    (axis == 0 ? part.x0 : part.y0) = layer;
    (axis == 0 ? part.x1 : part.y1) = layer + 1;
    const PixelWindow seen = scan_.seen_by(in.first_view + view, part);
    const RowBand rows = common_rows({seen.v0, seen.v1}, in.rows);
    if (seen.empty() || rows.size() == 0) continue;
    std::fill(blocks, blocks + 4 * (a_last - a_first + 2 * cpu::block_margin) * cells, 0.0F);
    const std::int64_t row0 = (rows.first - start_row) / cpu::block_rows_together * cpu::block_rows_together;
    kernel_.back({scan_.grid, &rays, axis, static_cast<int>(layer) - scan_.grid.middle[axis], seen.u0, seen.u1, row0,
                  rows.last - start_row, a_first, a_last, box.z0, box.z1, cells, blocks});
    const auto column = [&](std::int64_t a) -> float* {
      if (a < a_first || a >= a_last) return nullptr;
      const std::int64_t x = axis == 0 ? layer : a, y = axis == 0 ? a : layer;
      return tile + ((y - box.y0) * width + x - box.x0) * RayScan::stride(slices);
    };
    const float* own = blocks + 4 * cpu::block_slices_before;
    for (std::int64_t a = a_first - 1; a < a_last; ++a)
      kernel_.add_blocks(own + 4 * (a - a_first + cpu::block_margin) * cells, slices, column(a), column(a + 1));
  }
}

}  // namespace lepus::host
