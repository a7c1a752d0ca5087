// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/ray_projector_upright_scan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <vector>

#include "device/cuda/cuda_check.h"
#include "device/cuda/device.h"
#include "device/cuda/devices.h"
#include "device/cuda/ray_projector_scan.h"
#include "device/cuda/ray_projector_upright.h"
#include "project/ray_views.h"

namespace lepus::cuda {
namespace {

// What blocks are made for.
struct UprightSizes {
  int tile = upright_widest_tile, slots = 0, slices = 0, voxels_per_row = 0;
};

// The largest of each, over all views and voxels.
struct LargestRatios {
  double voxels_per_column = 0, voxels_per_row = 0, columns_per_voxel = 0, rows_per_voxel = 0;
};

// How far the place at which a detector column passes a layer moves at most from column to column. At plane i of axis k
// that is (i - source) (d x d') / d_k^2, d the direction and d' its change, and for parallel rays |p' x d| / d_k.
double voxels_per_column(const RayViews& job, const JosephView& view) {
  const double slowest = slowest_direction(view, -1, static_cast<double>(job.columns));
  const auto cross = [](const double(&a)[3][3], int i, const double(&b)[3][3], int j) {
    return std::abs(a[0][i] * b[1][j] - a[1][i] * b[0][j]);
  };
  if (!std::isfinite(view.nearest)) return cross(view.point, 1, view.direction, 0) / slowest;
  double farthest = 0;
  for (int k = 0; k < 2; ++k) {
    const double source = view.point[k][0] - view.direction[k][0];
    for (const int i : {-1, job.grid.size[k]}) farthest = std::max(farthest, std::abs(i - job.grid.middle[k] - source));
  }
  return farthest * cross(view.direction, 0, view.direction, 1) / (slowest * slowest);
}

LargestRatios largest_ratios(const RayViews& job, const std::vector<UprightView>& maps) {
  LargestRatios largest;
  for (std::size_t n = 0; n < maps.size(); ++n) {
    const UprightView& map = maps[n];
    double smallest_w = 1e300;
    for (const int x : {-1, job.grid.size[0]})
      for (const int y : {-1, job.grid.size[1]}) {
        const auto at = [&](const float(&term)[3]) {
          return static_cast<double>(term[0]) + static_cast<double>(term[1]) * (x - job.grid.middle[0]) +
                 static_cast<double>(term[2]) * (y - job.grid.middle[1]);
        };
        const double step = std::abs(at(map.step));
        largest.voxels_per_row = std::max(largest.voxels_per_row, step);
        largest.rows_per_voxel = std::max(largest.rows_per_voxel, 1 / step);
        smallest_w = std::min(smallest_w, at(map.w));
      }
    for (const double u : {-1.0, static_cast<double>(job.columns)}) {
      const auto change = [&](int k) {
        return std::abs(static_cast<double>(map.u[k]) - u * static_cast<double>(map.w[k]));
      };
      largest.columns_per_voxel = std::max(largest.columns_per_voxel, (change(1) + change(2)) / smallest_w);
    }
    largest.voxels_per_column = std::max(largest.voxels_per_column, voxels_per_column(job, job.views[n]));
  }
  return largest;
}

std::optional<UprightSizes> upright_sizes(const LargestRatios& largest) {
  constexpr double rounding = 0.05;
  UprightSizes sizes;
  // In a layer a column is spread over its own width and what its rays move by, which is one voxel at most.
  const double width = 1 + largest.voxels_per_column + rounding;
  if (!(width + 2 <= upright_shares + 1)) return std::nullopt;
  const auto voxels = [&](int tile) { return (tile - 1) * largest.voxels_per_column + width + 2; };
  while (sizes.tile > upright_widest_tile / 4 && voxels(sizes.tile) > upright_columns) sizes.tile /= 2;
  if (voxels(sizes.tile) > upright_columns) return std::nullopt;
  // Columns that reach a voxel by half of their width on each side, and a little more.
  const double columns = largest.columns_per_voxel + 1.2 + rounding;
  if (!(columns + 1 <= upright_slots[1])) return std::nullopt;
  sizes.slots = std::max(upright_slots[0], static_cast<int>(std::bit_ceil(static_cast<unsigned>(columns) + 1)));
  constexpr double around = 9;  // rows before a whole four of them, parts of rows at both ends
  sizes.slices = static_cast<int>(
      std::min<double>(upright_slices, (upright_rows - around) / (largest.rows_per_voxel * (1 + rounding))));
  if (sizes.slices < 1 || !(largest.voxels_per_row < 1000)) return std::nullopt;
  sizes.voxels_per_row = static_cast<int>(largest.voxels_per_row + 1e-3) + 2;
  return sizes;
}

std::vector<UprightView> upright_maps(const RayViews& job, const std::vector<Matrix34>& matrices) {
  std::vector<UprightView> maps;
  const auto middle_row = static_cast<double>(job.rows / 2);
  for (std::size_t view = 0; view < matrices.size(); ++view) {
    const UprightRows& rows = job.views[view].rows;
    UprightView map{};
    for (int i = 0; i < 3; ++i) {
      const int k = i == 0 ? 3 : i - 1;
      map.u[i] = static_cast<float>(matrices[view](0, k));
      map.w[i] = static_cast<float>(matrices[view](2, k));
      map.z0[i] = static_cast<float>(rows.z0[i] + middle_row * rows.step[i]);
      map.step[i] = static_cast<float>(rows.step[i]);
    }
    maps.push_back(map);
  }
  return maps;
}

class UprightFootprints final : public RayProjector {
public:
  UprightFootprints(int device, RayViews job, const std::vector<UprightView>& maps, const UprightSizes& sizes)
      : device_((use_device(device), device)),
        job_(std::move(job)),
        sizes_(sizes),
        views_(on_device(job_.views.data(), static_cast<std::int64_t>(job_.views.size()), "copy views to the device")),
        maps_(on_device(maps.data(), static_cast<std::int64_t>(maps.size()), "copy maps of views to the device")) {}

  std::string description() const override { return "footprint, fp32 weights; upright views, transpose too"; }
  std::int64_t work_bytes(std::int64_t slices, std::int64_t views, std::int64_t rows) const override {
    const std::int64_t bytes = view_bytes(rows);
    return 4 * job_.slice_voxels() * column_pitch(slices) + std::min(views * bytes, std::max(batch_bytes, bytes));
  }

  void forward(const SlabVoxels<const float>& slab, const ViewRows<float>& lines, Queue& queue) override {
    if (lines.views == 0 || lines.rows.size() == 0) return;
    use_device(device_);
    const ScratchScope scope(queue);
    const std::int64_t slices = slab.slices.slices(), pitch = column_pitch(slices);
    const int first = static_cast<int>(slab.slices.z0) - job_.grid.middle[2];
    const VoxelColumns columns{.voxels = queue.scratch<float>(job_.slice_voxels() * pitch),
                               .nx = job_.grid.size[0],
                               .ny = job_.grid.size[1],
                               .slices = static_cast<int>(slices),
                               .zeros = sizes_.voxels_per_row,
                               .pitch = pitch};
    launch_voxel_columns(slab.voxels, columns, stream_of(queue));
    launch_upright_forward({.rays = {.view = views_.data() + lines.first_view,
                                     .views = static_cast<int>(lines.views),
                                     .columns = static_cast<int>(job_.columns),
                                     .first_row = static_cast<int>(lines.rows.first),
                                     .rows = static_cast<int>(lines.rows.size()),
                                     .sums = lines.values},
                            .maps = maps_.data() + lines.first_view,
                            .volume = columns,
                            .grid = job_.grid,
                            .first = first,
                            .last = first + static_cast<int>(slices),
                            .middle_row = middle_row(),
                            .tile = sizes_.tile,
                            .voxels_per_row = sizes_.voxels_per_row},
                           stream_of(queue));
  }

  void adjoint(const ViewRows<const float>& lines, const SlabVoxels<float>& slab, Queue& queue) override {
    if (lines.rows.size() == 0 || slab.slices.slices() == 0) return;
    use_device(device_);
    const std::int64_t at_once = std::max<std::int64_t>(1, batch_bytes / view_bytes(lines.rows.size()));
    for (std::int64_t first = 0; first < lines.views; first += at_once) {
      const std::int64_t views = std::min(at_once, lines.views - first);
      add_views({.values = lines.values + first * lines.rows.size() * job_.columns,
                 .first_view = lines.first_view + first,
                 .views = views,
                 .rows = lines.rows},
                slab, queue);
    }
  }

private:
  static constexpr std::int64_t batch_bytes = std::int64_t{512} << 20;
  int middle_row() const { return static_cast<int>(job_.rows / 2); }
  std::int64_t column_pitch(std::int64_t slices) const { return (slices + 2 * sizes_.voxels_per_row + 7) / 8 * 8; }
  static std::int64_t row_pitch(std::int64_t rows) { return (rows + 3) / 4 * 4; }
  std::int64_t view_bytes(std::int64_t rows) const {
    return job_.columns * (row_pitch(rows) * 4 + std::int64_t{sizeof(ColumnBeam)});
  }

  void add_views(const ViewRows<const float>& lines, const SlabVoxels<float>& slab, Queue& queue) const {
    const ScratchScope scope(queue);
    const std::int64_t pitch = row_pitch(lines.rows.size());
    auto* const values = queue.scratch<float>(lines.views * job_.columns * pitch);
    auto* const beams = queue.scratch<ColumnBeam>(lines.views * job_.columns);
    const ViewColumns views{.view = views_.data() + lines.first_view,
                            .grid = job_.grid,
                            .views = static_cast<int>(lines.views),
                            .columns = static_cast<int>(job_.columns),
                            .first_row = static_cast<int>(lines.rows.first),
                            .rows = static_cast<int>(lines.rows.size()),
                            .middle_row = middle_row(),
                            .pitch = static_cast<int>(pitch)};
    launch_view_columns(views, lines.values, values, stream_of(queue));
    launch_column_beams(views, beams, stream_of(queue));
    // Chunks of about the same size.
    const auto slices = static_cast<int>(slab.slices.slices()), chunks = (slices + sizes_.slices - 1) / sizes_.slices;
    launch_upright_adjoint({.maps = maps_.data() + lines.first_view,
                            .beams = beams,
                            .values = values,
                            .views = views.views,
                            .columns = views.columns,
                            .pitch = views.pitch,
                            .low = views.first_row - views.middle_row,
                            .rows = views.rows,
                            .slots = sizes_.slots,
                            .slices = (slices + chunks - 1) / chunks,
                            .grid = job_.grid,
                            .voxels = slab.voxels,
                            .z0 = static_cast<int>(slab.slices.z0),
                            .z1 = static_cast<int>(slab.slices.z1)},
                           stream_of(queue));
  }

  int device_;
  RayViews job_;
  UprightSizes sizes_;
  DeviceBuffer<JosephView> views_;
  DeviceBuffer<UprightView> maps_;
};

}  // namespace

std::unique_ptr<RayProjector> make_upright_footprints(int device, const RayProjectorSetup& setup) {
  RayViews job = ray_views(*setup.geometry, setup.grid);
  if (!std::all_of(job.views.begin(), job.views.end(), [](const JosephView& view) { return view.rows.any(); }))
    return nullptr;
  const std::vector<UprightView> maps = upright_maps(job, matrices_from_middle(*setup.geometry, setup.grid, job.grid));
  const std::optional<UprightSizes> sizes = upright_sizes(largest_ratios(job, maps));
  if (!sizes) return nullptr;
  return std::make_unique<UprightFootprints>(device, std::move(job), maps, *sizes);
}

}  // namespace lepus::cuda
