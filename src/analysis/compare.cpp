// SPDX-License-Identifier: Apache-2.0
// One pass over both volumes (and one over the reference before it where the peak is not given). Sums are taken row by
// row and added in the order of the rows, so that the result is the same for any number of threads and any memory.
#include "analysis/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "analysis/same_grid.h"
#include "analysis/ssim.h"
#include "core/format.h"
#include "core/memory.h"

namespace lepus {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Sums {
  std::int64_t voxels = 0, not_finite = 0;
  double reference = 0, volume = 0, difference = 0, absolute = 0, squared = 0;
  double reference_min = infinity, reference_max = -infinity, volume_min = infinity, volume_max = -infinity;
  double worst = -1;  // |difference|; infinite where it is not finite
  std::int64_t worst_x = 0, worst_y = 0, worst_z = 0;

  void add(const Sums& other) {
    voxels += other.voxels;
    not_finite += other.not_finite;
    reference += other.reference;
    volume += other.volume;
    difference += other.difference;
    absolute += other.absolute;
    squared += other.squared;
    reference_min = std::min(reference_min, other.reference_min);
    reference_max = std::max(reference_max, other.reference_max);
    volume_min = std::min(volume_min, other.volume_min);
    volume_max = std::max(volume_max, other.volume_max);
    if (other.worst > worst) {
      worst = other.worst;
      worst_x = other.worst_x;
      worst_y = other.worst_y;
      worst_z = other.worst_z;
    }
  }
};

Sums row_sums(const float* a, const float* b, const std::uint8_t* keep, std::int64_t nx, std::int64_t y,
              std::int64_t z) {
  Sums sums;
  for (std::int64_t x = 0; x < nx; ++x) {
    if (keep[x] == 0) continue;
    const double va = a[x], vb = b[x];
    ++sums.voxels;
    double distance = infinity;
    if (std::isfinite(va) && std::isfinite(vb)) {
      const double d = vb - va;
      distance = std::abs(d);
      sums.reference += va;
      sums.volume += vb;
      sums.difference += d;
      sums.absolute += distance;
      sums.squared += d * d;
      sums.reference_min = std::min(sums.reference_min, va);
      sums.reference_max = std::max(sums.reference_max, va);
      sums.volume_min = std::min(sums.volume_min, vb);
      sums.volume_max = std::max(sums.volume_max, vb);
    } else {
      ++sums.not_finite;
    }
    if (distance > sums.worst) {
      sums.worst = distance;
      sums.worst_x = x;
      sums.worst_y = y;
      sums.worst_z = z;
    }
  }
  return sums;
}

// Both volumes' slices around the slab in hand; slices that the next slab needs too are moved, not read again.
class SlabPair {
public:
  SlabPair(const VolumeReader& reference, const VolumeReader& volume, std::int64_t slab, std::int64_t halo)
      : reference_(reference),
        volume_(volume),
        nz_(reference.grid().nz),
        slice_(reference.grid().nx * reference.grid().ny),
        halo_(halo),
        a_((slab + 2 * halo) * slice_),
        b_((slab + 2 * halo) * slice_) {}

  void move_to(std::int64_t z0, std::int64_t z1) {
    const std::int64_t first = std::max<std::int64_t>(0, z0 - halo_), last = std::min(nz_, z1 + halo_);
    const std::int64_t kept = std::max<std::int64_t>(0, last_ - first);
    std::copy(a_.data() + (first - first_) * slice_, a_.data() + (first - first_ + kept) * slice_, a_.data());
    std::copy(b_.data() + (first - first_) * slice_, b_.data() + (first - first_ + kept) * slice_, b_.data());
    reference_.read(first + kept, last, a_.data() + kept * slice_);
    volume_.read(first + kept, last, b_.data() + kept * slice_);
    first_ = first;
    last_ = last;
  }
  const float* a(std::int64_t y_nx, std::int64_t z) const { return a_.data() + (z - first_) * slice_ + y_nx; }
  const float* b(std::int64_t y_nx, std::int64_t z) const { return b_.data() + (z - first_) * slice_ + y_nx; }
  std::int64_t first() const { return first_; }

private:
  const VolumeReader& reference_;
  const VolumeReader& volume_;
  std::int64_t nz_, slice_, halo_;
  Buffer<float> a_, b_;
  std::int64_t first_ = 0, last_ = 0;
};

SsimMode possible_mode(SsimMode wanted, const VolumeGrid& grid) {
  if (grid.nx < ssim_window || grid.ny < ssim_window) return SsimMode::none;
  return wanted == SsimMode::volume && grid.nz < ssim_window ? SsimMode::slices : wanted;
}

std::int64_t halo_of(SsimMode mode) { return mode == SsimMode::volume ? ssim_radius : 0; }

class Comparer {
public:
  Comparer(const VolumeReader& reference, const VolumeReader& volume, const CompareSettings& options, Context& context)
      : reference_(reference), volume_(volume), options_(options), context_(context), grid_(reference.grid()) {
    mode_ = possible_mode(options.ssim, grid_);
    keep_.resize(static_cast<std::size_t>(context.threads.size()));
    for (auto& row : keep_) row.resize(static_cast<std::size_t>(grid_.nx));
  }

  Comparison run() {
    const std::int64_t halo = halo_of(mode_);
    const std::int64_t slab = slab_slices(halo);
    const bool peak_first = mode_ != SsimMode::none && !options_.peak;
    context_.progress.begin("comparing", grid_.nz * (peak_first ? 2 : 1));
    double peak = options_.peak.value_or(0);
    if (peak_first) peak = reference_range(slab);

    Sums total;
    double ssim_sum = 0;
    std::int64_t ssim_count = 0;
    SlabPair slabs(reference_, volume_, slab, halo);
    for (std::int64_t z0 = 0; z0 < grid_.nz; z0 += slab) {
      context_.cancel.check();
      const std::int64_t z1 = std::min(grid_.nz, z0 + slab);
      slabs.move_to(z0, z1);
      add_rows(slabs, z0, z1, total);
      if (mode_ != SsimMode::none && peak > 0) add_ssim(slabs, z0, z1, halo, peak, ssim_sum, ssim_count);
      context_.progress.advance(z1 - z0);
    }
    context_.progress.end();
    return result(total, ssim_sum, ssim_count);
  }

private:
  std::int64_t slab_slices(std::int64_t halo) const {
    const std::int64_t per_slice = std::int64_t{8} * grid_.nx * grid_.ny;  // a float of each volume
    const std::int64_t fits = options_.memory_bytes / per_slice - 2 * halo;
    if (fits < 1)
      throw Error(ErrorKind::memory,
                  {.what = format("comparing needs {} of memory", format_bytes((2 * halo + 1) * per_slice)),
                   .where = {},
                   .why = format("the limit is {}, and {} slices of both volumes are needed at a time",
                                 format_bytes(options_.memory_bytes), 2 * halo + 1),
                   .hint = halo > 0 ? "raise --memory, or compare slice by slice (--ssim slices)" : "raise --memory"});
    // More than a few million voxels at a time gain nothing.
    return std::clamp<std::int64_t>((std::int64_t{1} << 24) / (grid_.nx * grid_.ny), 1, fits);
  }

  // Largest - smallest reference value that counts.
  double reference_range(std::int64_t slab) {
    Buffer<float> slices(slab * grid_.nx * grid_.ny);
    double low = infinity, high = -infinity;
    for (std::int64_t z0 = 0; z0 < grid_.nz; z0 += slab) {
      context_.cancel.check();
      const std::int64_t z1 = std::min(grid_.nz, z0 + slab), rows = (z1 - z0) * grid_.ny;
      reference_.read(z0, z1, slices.data());
      std::vector<ValueSummary> ranges(static_cast<std::size_t>(rows), {infinity, -infinity, 0});
      context_.threads.parallel_for(0, rows, 16, [&](std::int64_t begin, std::int64_t end, int worker) {
        auto& keep = keep_[static_cast<std::size_t>(worker)];
        for (std::int64_t r = begin; r < end; ++r) {
          const float* row = slices.data() + r * grid_.nx;
          options_.mask.row(grid_, r % grid_.ny, z0 + r / grid_.ny, row, keep.data());
          auto& range = ranges[static_cast<std::size_t>(r)];
          for (std::int64_t x = 0; x < grid_.nx; ++x)
            if (keep[static_cast<std::size_t>(x)] != 0 && std::isfinite(row[x])) {
              range.smallest = std::min<double>(range.smallest, row[x]);
              range.largest = std::max<double>(range.largest, row[x]);
            }
        }
      });
      for (const auto& range : ranges) {
        low = std::min(low, range.smallest);
        high = std::max(high, range.largest);
      }
      context_.progress.advance(z1 - z0);
    }
    return high > low ? high - low : 0.0;
  }

  void add_rows(const SlabPair& slabs, std::int64_t z0, std::int64_t z1, Sums& total) {
    const std::int64_t rows = (z1 - z0) * grid_.ny;
    std::vector<Sums> sums(static_cast<std::size_t>(rows));
    context_.threads.parallel_for(0, rows, 16, [&](std::int64_t begin, std::int64_t end, int worker) {
      auto& keep = keep_[static_cast<std::size_t>(worker)];
      for (std::int64_t r = begin; r < end; ++r) {
        const std::int64_t y = r % grid_.ny, z = z0 + r / grid_.ny;
        const float* a = slabs.a(y * grid_.nx, z);
        options_.mask.row(grid_, y, z, a, keep.data());
        sums[static_cast<std::size_t>(r)] = row_sums(a, slabs.b(y * grid_.nx, z), keep.data(), grid_.nx, y, z);
      }
    });
    for (const Sums& row : sums) total.add(row);
  }

  void add_ssim(const SlabPair& slabs, std::int64_t z0, std::int64_t z1, std::int64_t halo, double peak, double& sum,
                std::int64_t& count) {
    const std::int64_t first = std::max(z0, halo), last = std::min(z1, grid_.nz - halo);
    const auto tiles = ssim_tiles(grid_.nx, grid_.ny);
    const auto tile_count = static_cast<std::int64_t>(tiles.size());
    if (first >= last) return;
    const SsimBlock block{slabs.a(0, slabs.first()), slabs.b(0, slabs.first()), grid_.nx, grid_.ny, slabs.first()};
    struct Part {
      double sum = 0;
      std::int64_t count = 0;
    };
    std::vector<Part> parts(static_cast<std::size_t>((last - first) * tile_count));
    std::vector<SsimKernel> kernels(keep_.size(), SsimKernel(peak, halo));
    context_.threads.parallel_for(0, (last - first) * tile_count, 4, [&](std::int64_t begin, std::int64_t end, int w) {
      auto& keep = keep_[static_cast<std::size_t>(w)];
      std::vector<double> map(static_cast<std::size_t>(ssim_tile_side * ssim_tile_side));
      for (std::int64_t i = begin; i < end; ++i) {
        if (context_.cancel.cancelled()) return;
        const std::int64_t z = first + i / tile_count;
        const SsimTile& tile = tiles[static_cast<std::size_t>(i % tile_count)];
        kernels[static_cast<std::size_t>(w)].tile(block, tile, z, map.data());
        Part part;
        for (std::int64_t y = tile.y0; y < tile.y1; ++y) {
          if (!options_.mask.empty()) options_.mask.row(grid_, y, z, slabs.a(y * grid_.nx, z), keep.data());
          for (std::int64_t x = tile.x0; x < tile.x1; ++x) {
            if (!options_.mask.empty() && keep[static_cast<std::size_t>(x)] == 0) continue;
            part.sum += map[static_cast<std::size_t>((y - tile.y0) * (tile.x1 - tile.x0) + x - tile.x0)];
            ++part.count;
          }
        }
        parts[static_cast<std::size_t>(i)] = part;
      }
    });
    for (const Part& part : parts) {
      sum += part.sum;
      count += part.count;
    }
  }

  Comparison result(const Sums& total, double ssim_sum, std::int64_t ssim_count) const {
    if (total.voxels == 0)
      throw Error(ErrorKind::input, {.what = "no voxel is left to compare",
                                     .where = {},
                                     .why = options_.mask.description(),
                                     .hint = "widen the mask"});
    Comparison c;
    const auto n = static_cast<double>(total.voxels), finite = static_cast<double>(total.voxels - total.not_finite);
    c.voxels = total.voxels;
    c.not_finite = total.not_finite;
    c.reference = {total.reference_min, total.reference_max, total.reference / finite};
    c.volume = {total.volume_min, total.volume_max, total.volume / finite};
    const double valid = total.not_finite == 0 ? 1.0 : not_a_number;
    c.rmse = valid * std::sqrt(total.squared / n);
    c.mae = valid * (total.absolute / n);
    c.bias = valid * (total.difference / n);
    c.maximum_error = total.not_finite == 0 ? total.worst : not_a_number;
    c.at_x = total.worst_x;
    c.at_y = total.worst_y;
    c.at_z = total.worst_z;
    c.peak = options_.peak.value_or(total.reference_max - total.reference_min);
    c.nrmse = c.rmse / c.peak;
    c.psnr_db = 20 * std::log10(c.peak / c.rmse);
    c.ssim_mode = mode_;
    if (ssim_count > 0) c.ssim = valid * ssim_sum / static_cast<double>(ssim_count);
    return c;
  }

  const VolumeReader& reference_;
  const VolumeReader& volume_;
  const CompareSettings& options_;
  Context& context_;
  const VolumeGrid grid_;
  SsimMode mode_;
  std::vector<std::vector<std::uint8_t>> keep_;  // a mask row per worker
};

}  // namespace

std::int64_t minimum_compare_bytes(const VolumeGrid& grid, SsimMode ssim) {
  return (2 * halo_of(possible_mode(ssim, grid)) + 1) * 8 * grid.nx * grid.ny;
}

Comparison compare_volumes(const VolumeReader& reference, const VolumeReader& volume, const CompareSettings& options,
                           Context& context) {
  if (!same_grid(reference.grid(), volume.grid()))
    throw Error(
        ErrorKind::input,
        {.what = "the volumes have different grids",
         .where = {},
         .why = format("the reference has {}, the other {}", describe(reference.grid()), describe(volume.grid())),
         .hint =
             "reconstruct or voxelise both with the same [volume] section, or see lepus analyze --against --register"});
  return Comparer(reference, volume, options, context).run();
}

}  // namespace lepus
