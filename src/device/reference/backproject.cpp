// SPDX-License-Identifier: Apache-2.0
// Backprojection as it is written in a textbook: for every voxel, for every view, project, interpolate, weigh, add.
// All in double precision. The slab is float, so the sum of each block of views is rounded once, when it is added.
#include <algorithm>
#include <numeric>

#include "device/host/wedge.h"
#include "geometry/camera.h"
#include "project/detector_point.h"
#include "project/interpolate.h"

namespace lepus {
namespace {

class ReferenceBackprojector : public Backprojector {
public:
  ReferenceBackprojector(const ScanGeometry& geometry, const VolumeGrid& grid, Interpolation interpolation)
      : beam_(geometry.beam),
        columns_(geometry.columns),
        rows_(geometry.rows),
        grid_(grid),
        interpolation_(interpolation),
        order_(geometry.matrices.size()) {
    std::iota(order_.begin(), order_.end(), std::int64_t{0});
    for (const auto& matrix : geometry.matrices) matrices_.push_back(in_voxel_indices(matrix, grid));
  }

  std::string description() const override { return "plain loops in double precision"; }
  const std::vector<std::int64_t>& view_order() const override { return order_; }
  std::int64_t view_block() const override { return 64; }

  void accumulate(const BandSet& wedge, const SlabView& slab, ThreadPool& threads) const override {
    check_wedge(*this, grid_, wedge, slab);
    threads.parallel_for(0, grid_.ny * grid_.nx, 1, [&](std::int64_t first, std::int64_t last, int) {
      for (std::int64_t column = first; column < last; ++column)
        for (std::int64_t z = slab.z0; z < slab.z1; ++z) {
          float& voxel = slab.data[column * slab.z_stride + (z - slab.z0)];
          const auto views = static_cast<std::int64_t>(wedge.bands.size());
          for (std::int64_t begin = 0; begin < views; begin += view_block())
            voxel += static_cast<float>(block_sum(wedge, begin, std::min(begin + view_block(), views),
                                                  column % grid_.nx, column / grid_.nx, z));
        }
    });
  }

private:
  double block_sum(const BandSet& wedge, std::int64_t begin, std::int64_t end, std::int64_t x, std::int64_t y,
                   std::int64_t z) const {
    double sum = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const auto& matrix = matrices_[static_cast<std::size_t>(wedge.first + i)];
      const auto point = detector_point(matrix.m.data(), beam_, static_cast<double>(x), static_cast<double>(y),
                                        static_cast<double>(z));
      if (!in_front_of_source(point.w)) continue;
      const ViewBand& band = wedge.bands[static_cast<std::size_t>(i)];
      const auto pixel = [&](std::int64_t column, std::int64_t row) {
        const std::int64_t held = row - band.first_row;
        return held < 0 || held >= band.rows ? 0.0 : static_cast<double>(band.data[column * wedge.row_stride + held]);
      };
      sum += distance_weight(beam_, point.w) * sample(interpolation_, columns_, rows_, point.u, point.v, pixel);
    }
    return sum;
  }

  Beam beam_;
  std::int64_t columns_, rows_;
  VolumeGrid grid_;
  Interpolation interpolation_;
  std::vector<std::int64_t> order_;
  std::vector<Matrix34> matrices_;
};

}  // namespace

std::unique_ptr<Backprojector> make_reference_backprojector(const ScanGeometry& geometry, const VolumeGrid& grid,
                                                            Interpolation interpolation) {
  return std::make_unique<ReferenceBackprojector>(geometry, grid, interpolation);
}

}  // namespace lepus
