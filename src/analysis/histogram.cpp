// SPDX-License-Identifier: Apache-2.0
#include "analysis/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>

#include "analysis/same_grid.h"
#include "analysis/value_slices.h"
#include "core/format.h"
#include <lepus/error.h>

namespace lepus::analysis {
namespace {

// Bins of the search for several thresholds: its time goes with their square.
constexpr std::size_t maximum_multi_bins = 2048;

// What readers say of a file that does not say where it lies, nor perhaps how large its voxels are.
bool may_lie_on(const VolumeGrid& grid, VolumeGrid mask) {
  if (norm(mask.origin_mm) != 0) return false;
  mask.origin_mm = grid.origin_mm;
  if (mask.step_mm.x == 1 && mask.step_mm.y == 1 && mask.step_mm.z == 1) mask.step_mm = grid.step_mm;
  return same_grid(grid, mask);
}

void require_same_grid(const VolumeReader& volume, const VolumeReader& mask, Progress& progress) {
  const VolumeGrid &a = volume.grid(), &b = mask.grid();
  if (same_grid(a, b)) return;
  const bool same_size = a.nx == b.nx && a.ny == b.ny && a.nz == b.nz;
  if (may_lie_on(a, b))
    return progress.warning(
        "the mask does not say where its voxels lie, or that they begin at 0: it is laid on the volume voxel by voxel");
  throw Error(ErrorKind::input, {.what = format("the mask has another {} than the volume", same_size ? "grid" : "size"),
                                 .where = "option --mask",
                                 .why = format("it has {}, the volume {}", describe(b), describe(a)),
                                 .hint = "give a mask of the same grid, such as one that was made of this volume"});
}

// At most `most` bins, each of several neighbours.
Histogram grouped(const Histogram& h, std::size_t most) {
  if (h.counts.size() <= most) return h;
  const std::size_t group = (h.counts.size() + most - 1) / most;
  Histogram result;
  result.low = h.integers ? h.low - h.width / 2 : h.low;
  result.width = h.width * static_cast<double>(group);
  result.counts.assign((h.counts.size() + group - 1) / group, 0);
  for (std::size_t i = 0; i < h.counts.size(); ++i) result.counts[i / group] += h.counts[i];
  return result;
}

[[noreturn]] void throw_one_value(const Histogram& h) {
  std::size_t bin = 0;
  while (bin + 1 < h.counts.size() && h.counts[bin] == 0) ++bin;
  throw Error(ErrorKind::input,
              {.what = "the values have no classes to part",
               .where = "threshold",
               .why = format("the {} voxels inside all have the value {:g}, or nearly", h.total(), h.centre(bin)),
               .hint = "check the region, or give the threshold as a number"});
}

}  // namespace

VolumeSize size_of(const VolumeReader& volume) { return {volume.grid().nx, volume.grid().ny, volume.grid().nz}; }

Survey survey(const VolumeReader& volume, const Region& region, BitVolume& inside, WorkMemory& memory,
              Context& context) {
  const VolumeGrid& grid = volume.grid();
  if (region.mask_volume) require_same_grid(volume, *region.mask_volume, context.progress);
  const int workers = context.threads.size();
  const std::int64_t slice = grid.nx * grid.ny;
  Survey total;
  total.voxels = grid.voxels();
  total.smallest = std::numeric_limits<float>::infinity();
  total.largest = -total.smallest;
  std::mutex mutex;
  WorkerSlices words(inside, workers);
  Buffer<float> masks(region.mask_volume ? slice * workers : 0);
  Buffer<std::uint8_t> keep(grid.nx * workers);
  each_value_slice(volume, "region", memory, context, [&](std::int64_t z, const float* values, int worker) {
    Word* const bits = words[worker];
    std::fill_n(bits, inside.slice_words(), Word{0});
    float* const mask = region.mask_volume ? masks.data() + worker * slice : nullptr;
    if (mask) region.mask_volume->read(z, z + 1, mask);
    std::uint8_t* const kept = keep.data() + worker * grid.nx;
    std::fill_n(kept, grid.nx, std::uint8_t{1});
    Survey here{.voxels = 0, .not_finite = 0, .inside = 0, .smallest = total.smallest, .largest = total.largest};
    here.smallest = std::numeric_limits<float>::infinity();
    here.largest = -here.smallest;
    for (std::int64_t y = 0; y < grid.ny; ++y) {
      const float* const row = values + y * grid.nx;
      Word* const out = bits + y * inside.row_words();
      if (!region.mask.empty()) region.mask.row(grid, y, z, row, kept);
      for (std::int64_t x = 0; x < grid.nx; ++x) {
        const bool finite = std::isfinite(row[x]);
        here.not_finite += finite ? 0 : 1;
        bool in = finite && kept[x] != 0;
        if (mask) in = in && mask[y * grid.nx + x] != 0 && !std::isnan(mask[y * grid.nx + x]);
        if (!in) continue;
        out[x / word_bits] |= Word{1} << (x % word_bits);
        ++here.inside;
        here.smallest = std::min(here.smallest, row[x]);
        here.largest = std::max(here.largest, row[x]);
      }
    }
    inside.write(z, bits);
    const std::lock_guard lock(mutex);
    total.not_finite += here.not_finite;
    total.inside += here.inside;
    total.smallest = std::min(total.smallest, here.smallest);
    total.largest = std::max(total.largest, here.largest);
  });
  if (total.inside == 0)
    throw Error(ErrorKind::input,
                {.what = "no voxel counts",
                 .where = region.mask_volume ? "the mask and the region" : "the region",
                 .why = format("{} of {} voxels are not finite numbers, and none of the others lies inside: {}",
                               total.not_finite, total.voxels, region.mask.description()),
                 .hint = "check --box, --radius and --mask (millimetres, as lepus info prints them)"});
  return total;
}

// Integers are exact; scaled ones were rounded, and may lie on either side of low + i width.
double Histogram::threshold_after(std::size_t bin) const {
  const bool scaled = integers && (width != 1 || low != std::floor(low));
  return centre(bin) + (scaled ? width / 2 : 0);
}

std::int64_t Histogram::total() const { return std::accumulate(counts.begin(), counts.end(), std::int64_t{0}); }

Histogram histogram_of(const VolumeReader& volume, const BitVolume& inside, const Survey& looked, std::int64_t bins,
                       WorkMemory& memory, Context& context) {
  const std::string type = volume.pixel_type();
  Histogram result;
  result.low = looked.smallest;
  result.integers = type == "uint8" || type == "int8" || type == "uint16" || type == "int16";
  if (result.integers) {
    constexpr double maximum_values = 1 << 16;
    result.width = std::abs(volume.scale().slope);
    const double steps = (static_cast<double>(looked.largest) - looked.smallest) / result.width;
    bins = static_cast<std::int64_t>(std::min(std::round(steps) + 1, maximum_values));
  } else {
    result.width = (static_cast<double>(looked.largest) - looked.smallest) / static_cast<double>(bins);
    if (!(result.width > 0)) {  // one value
      result.width = 1;
      bins = 1;
    }
  }
  result.counts.assign(static_cast<std::size_t>(bins), 0);
  const int workers = context.threads.size();
  const WorkMemory::Share share = memory.take(8 * bins * workers, "the histogram", "use fewer --bins");
  std::vector<std::vector<std::int64_t>> counts(static_cast<std::size_t>(workers));
  for (auto& own : counts) own.resize(static_cast<std::size_t>(bins));
  WorkerSlices words(inside, workers);
  const double low = result.low - (result.integers ? result.width / 2 : 0), per_bin = 1 / result.width,
               last_bin = static_cast<double>(bins - 1);
  const VolumeGrid& grid = volume.grid();
  each_value_slice(volume, "histogram", memory, context, [&](std::int64_t z, const float* values, int worker) {
    const Word* const bits = inside.slice(z, words[worker]);
    std::int64_t* const own = counts[static_cast<std::size_t>(worker)].data();
    for (std::int64_t y = 0; y < grid.ny; ++y)
      each_run(bits + y * inside.row_words(), inside.row_words(), [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t x = first; x < last; ++x) {
          const double bin = (static_cast<double>(values[y * grid.nx + x]) - low) * per_bin;
          ++own[static_cast<std::int64_t>(std::min(bin, last_bin))];
        }
      });
  });
  for (const auto& own : counts)
    for (std::size_t i = 0; i < own.size(); ++i) result.counts[i] += own[i];
  return result;
}

double otsu_threshold(const Histogram& h) {
  const std::size_t n = h.counts.size();
  double weight = 0, sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    weight += static_cast<double>(h.counts[i]);
    sum += static_cast<double>(h.counts[i]) * h.centre(i);
  }
  double below = 0, sum_below = 0, best = -1;
  std::size_t at = 0;
  for (std::size_t i = 0; i + 1 < n; ++i) {
    below += static_cast<double>(h.counts[i]);
    sum_below += static_cast<double>(h.counts[i]) * h.centre(i);
    if (below == 0 || below == weight) continue;
    const double between = sum_below / below - (sum - sum_below) / (weight - below);
    const double variance = below * (weight - below) * between * between;
    if (variance > best) {
      best = variance;
      at = i;
    }
  }
  if (!(best > 0)) throw_one_value(h);
  return h.threshold_after(at);
}

std::vector<double> multi_otsu_thresholds(const Histogram& histogram, int classes) {
  const Histogram h = grouped(histogram, maximum_multi_bins);
  const std::size_t n = h.counts.size();
  if (std::count_if(h.counts.begin(), h.counts.end(), [](std::int64_t c) { return c > 0; }) < classes)
    throw_one_value(histogram);
  std::vector<double> weight(n + 1, 0), sum(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i) {
    weight[i + 1] = weight[i] + static_cast<double>(h.counts[i]);
    sum[i + 1] = sum[i] + static_cast<double>(h.counts[i]) * h.centre(i);
  }
  // The variance between classes is the sum over classes of (sum of values)^2 / weight, but for a constant.
  const auto gain = [&](std::size_t first, std::size_t last) {
    const double w = weight[last] - weight[first], s = sum[last] - sum[first];
    return w > 0 ? s * s / w : -std::numeric_limits<double>::infinity();
  };
  // best[k][i]: of the bins before i in k + 1 classes; from[k][i]: where the last of these begins.
  const auto k_count = static_cast<std::size_t>(classes);
  std::vector<std::vector<double>> best(k_count, std::vector<double>(n + 1, -std::numeric_limits<double>::infinity()));
  std::vector<std::vector<std::size_t>> from(k_count, std::vector<std::size_t>(n + 1, 0));
  for (std::size_t i = 1; i <= n; ++i) best[0][i] = gain(0, i);
  for (std::size_t k = 1; k < k_count; ++k)
    for (std::size_t i = k + 1; i <= n; ++i)
      for (std::size_t j = k; j < i; ++j) {
        const double value = best[k - 1][j] + gain(j, i);
        if (value > best[k][i]) {
          best[k][i] = value;
          from[k][i] = j;
        }
      }
  std::vector<double> thresholds(k_count - 1);
  std::size_t end = n;
  for (std::size_t k = k_count - 1; k > 0; --k) {
    end = from[k][end];
    thresholds[k - 1] = h.threshold_after(end - 1);
  }
  return thresholds;
}

}  // namespace lepus::analysis
