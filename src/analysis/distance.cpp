// SPDX-License-Identifier: Apache-2.0
#include "analysis/distance.h"

#include <algorithm>
#include <cmath>
#include <mutex>

namespace lepus::analysis {
namespace {

// Up to this distance a search in both directions, of 16 columns side by side, is faster than the envelope.
constexpr std::int64_t search_reach = 40;

// Along a row: distance to the nearer end of its run, where that is not an end of the volume.
template <class T>
void squared_distances_in_row(const Word* bits, std::int64_t nx, T step, T cap, T* out) {
  std::fill_n(out, nx, T{0});
  each_run(bits, words_for(nx), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t left = first > 0 ? i - first + 1 : nx, right = last < nx ? last - i : nx;
      const std::int64_t d = std::min(left, right);
      out[i] = d == nx ? cap : std::min(cap, static_cast<T>(d) * static_cast<T>(d) * step);
    }
  });
}

// From voxel i of n to the nearer end of the volume, squared.
template <class T>
T squared_to_end(std::int64_t i, std::int64_t n, T step) {
  if (n == 1) return far<T>;
  const auto d = static_cast<T>(std::min(i + 1, n - i));
  return d * d * step;
}

}  // namespace

template <class T>
ColumnTransform<T>::ColumnTransform(std::int64_t n, T step)
    : n_(n), step_(step), copy_(n * maximum_lanes), result_(n), sites_(n), starts_(n + 1) {}

// out[lane] = the minimum, or false where it may lie further away than the search goes.
template <class T>
bool ColumnTransform<T>::search(std::int64_t i, T* out) const {
  const T* const here = copy_.data() + i * maximum_lanes;
  T best[maximum_lanes];
  T largest = 0;
  for (std::int64_t l = 0; l < maximum_lanes; ++l) best[l] = here[l];
  for (std::int64_t l = 0; l < maximum_lanes; ++l) largest = std::max(largest, best[l]);
  for (std::int64_t k = 1;; ++k) {
    const T square = static_cast<T>(k) * static_cast<T>(k) * step_;
    if (square >= largest) break;
    if (k > search_reach) return false;
    const T* const before = copy_.data() + std::max<std::int64_t>(0, i - k) * maximum_lanes;
    const T* const after = copy_.data() + std::min(n_ - 1, i + k) * maximum_lanes;
    // Beyond an end the end itself is looked at once more, from too far away: that changes nothing.
    for (std::int64_t l = 0; l < maximum_lanes; ++l) {
      const T nearer = std::min(before[l], after[l]) + square;
      best[l] = std::min(best[l], nearer);
    }
    if (k % 4 != 0) continue;
    largest = 0;
    for (std::int64_t l = 0; l < maximum_lanes; ++l) largest = std::max(largest, best[l]);
  }
  for (std::int64_t l = 0; l < maximum_lanes; ++l) out[l] = best[l];
  return true;
}

template <class T>
void ColumnTransform<T>::envelope(std::int64_t lane) {
  const auto f = [&](std::int64_t i) { return copy_[i * maximum_lanes + lane]; };
  // From where on the parabola of j lies below that of i < j, rounded up to a voxel.
  const auto from = [&](std::int64_t i, std::int64_t j) {
    if constexpr (std::is_integral_v<T>) {
      const std::int64_t top = std::int64_t{f(j)} - f(i) + step_ * (j * j - i * i), bottom = 2 * step_ * (j - i);
      return top >= 0 ? (top + bottom - 1) / bottom : -(-top / bottom);
    } else {
      const double at = (f(j) - f(i)) / (2 * step_ * static_cast<double>(j - i)) + 0.5 * static_cast<double>(i + j);
      return static_cast<std::int64_t>(std::ceil(std::clamp(at, -1.0, static_cast<double>(n_))));
    }
  };
  std::int64_t sites = 0;
  for (std::int64_t j = 0; j < n_; ++j) {
    if (f(j) >= far<T>) continue;
    std::int64_t start = 0;
    while (sites > 0) {
      start = from(sites_[sites - 1], j);
      if (start > starts_[sites - 1]) break;
      --sites;
    }
    if (sites == 0) start = 0;
    if (start >= n_) continue;
    sites_[sites] = j;
    starts_[sites++] = start;
  }
  starts_[sites] = n_;
  if (sites == 0) std::fill_n(result_.data(), n_, far<T>);
  for (std::int64_t s = 0; s < sites; ++s)
    for (std::int64_t i = starts_[s]; i < starts_[s + 1]; ++i) {
      const T d = static_cast<T>(i - sites_[s]);
      result_[i] = f(sites_[s]) + d * d * step_;
    }
}

template <class T>
void ColumnTransform<T>::apply(T* data, std::int64_t stride, std::int64_t lanes) {
  for (std::int64_t i = 0; i < n_; ++i) {
    T* const row = copy_.data() + i * maximum_lanes;
    if (lanes == maximum_lanes) {
      std::copy_n(data + i * stride, maximum_lanes, row);
    } else {
      std::fill(std::copy_n(data + i * stride, lanes, row), row + maximum_lanes, T{0});
    }
  }
  for (std::int64_t i = 0; i < n_; ++i) {
    T best[maximum_lanes];
    if (search(i, best)) {
      std::copy_n(best, lanes, data + i * stride);
      continue;
    }
    for (std::int64_t l = 0; l < lanes; ++l) {
      envelope(l);
      for (std::int64_t k = 0; k < n_; ++k) data[k * stride + l] = result_[k];
    }
    return;
  }
}

template <class T>
void squared_distances_in_slice(const Word* bits, const VolumeSize& size, const SquaredSteps<T>& steps, T cap,
                                ColumnTransform<T>& along_y, T* out) {
  const std::int64_t row_words = words_for(size.nx);
  for (std::int64_t y = 0; y < size.ny; ++y)
    squared_distances_in_row(bits + y * row_words, size.nx, steps.x, cap, out + y * size.nx);
  constexpr std::int64_t lanes = ColumnTransform<T>::maximum_lanes;
  for (std::int64_t x = 0; x < size.nx; x += lanes) along_y.apply(out + x, size.nx, std::min(lanes, size.nx - x));
}

template <class T>
DistanceVolume<T>::DistanceVolume(const BitVolume& bits, const SquaredSteps<T>& steps, WorkMemory& memory,
                                  Context& context, Beyond beyond)
    : store_(memory, bits.size().nx * bits.size().ny, bits.size().nz, "distances") {
  const VolumeSize& size = bits.size();
  const int workers = context.threads.size();
  const std::int64_t slice = size.nx * size.ny;
  constexpr std::int64_t lanes = ColumnTransform<T>::maximum_lanes;
  constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
  context.progress.begin("distances", 2 * size.nz);
  {
    const WorkMemory::Share share =
        memory.take(store_.on_disk() ? workers * slice * bytes : 0, "a slice of distances", {});
    WorkerSlices words(bits, workers);
    std::vector<Buffer<T>> slices(static_cast<std::size_t>(workers));
    std::vector<std::unique_ptr<ColumnTransform<T>>> columns(static_cast<std::size_t>(workers));
    context.threads.parallel_for(0, size.nz, 1, [&](std::int64_t z, std::int64_t, int worker) {
      auto& along_y = columns[static_cast<std::size_t>(worker)];
      Buffer<T>& buffer = slices[static_cast<std::size_t>(worker)];
      if (!along_y) along_y = std::make_unique<ColumnTransform<T>>(size.ny, steps.y);
      if (store_.on_disk() && buffer.size() == 0) buffer = Buffer<T>(slice);
      T* const out = store_.on_disk() ? buffer.data() : store_.in_memory(z);
      squared_distances_in_slice(bits.slice(z, words[worker]), size, steps, far<T>, *along_y, out);
      if (store_.on_disk()) store_.write(z, 0, slice, out);
      context.progress.advance(1);
    });
  }

  // Along z a band of rows of all slices at a time, where they lie or in a copy.
  std::int64_t rows = size.ny;
  WorkMemory::Share share;
  Buffer<T> band;
  if (store_.on_disk()) {
    const std::int64_t row = size.nx * size.nz * bytes;
    rows = std::clamp<std::int64_t>(memory.left_bytes() / 2 / row, 1, size.ny);
    share = memory.take(rows * row, "one row of distances in every slice", {});
    band = Buffer<T>(rows * size.nx * size.nz);
  }
  std::mutex mutex;
  for (std::int64_t y0 = 0; y0 < size.ny; y0 += rows) {
    const std::int64_t held = std::min(rows, size.ny - y0), elements = held * size.nx;
    if (store_.on_disk())
      context.threads.parallel_for(0, size.nz, 1, [&](std::int64_t z, std::int64_t, int) {
        store_.read(z, y0 * size.nx, elements, band.data() + z * elements);
      });
    T* const data = store_.on_disk() ? band.data() : store_.in_memory(0);
    context.threads.parallel_for(0, held, 1, [&](std::int64_t y, std::int64_t, int) {
      ColumnTransform<T> along_z(size.nz, steps.z);
      T largest = 0;
      for (std::int64_t x = 0; x < size.nx; x += lanes) {
        const std::int64_t count = std::min(lanes, size.nx - x);
        T* const column = data + y * size.nx + x;
        along_z.apply(column, elements, count);
        for (std::int64_t z = 0; z < size.nz; ++z)
          for (std::int64_t l = 0; l < count; ++l) {
            T& squared = column[z * elements + l];
            if (beyond == Beyond::zeros)
              squared = std::min({squared, squared_to_end(x + l, size.nx, steps.x),
                                  squared_to_end(y0 + y, size.ny, steps.y), squared_to_end(z, size.nz, steps.z)});
            largest = std::max(largest, squared);
          }
      }
      const std::lock_guard lock(mutex);
      largest_ = std::max(largest_, largest);
    });
    if (store_.on_disk())
      context.threads.parallel_for(0, size.nz, 1, [&](std::int64_t z, std::int64_t, int) {
        store_.write(z, y0 * size.nx, elements, band.data() + z * elements);
      });
    context.progress.advance(size.nz * (y0 + held) / size.ny - size.nz * y0 / size.ny);
  }
  context.progress.end();
}

template class ColumnTransform<std::int32_t>;
template class ColumnTransform<double>;
template class DistanceVolume<std::int32_t>;
template class DistanceVolume<double>;
template void squared_distances_in_slice(const Word*, const VolumeSize&, const SquaredSteps<std::int32_t>&,
                                         std::int32_t, ColumnTransform<std::int32_t>&, std::int32_t*);
template void squared_distances_in_slice(const Word*, const VolumeSize&, const SquaredSteps<double>&, double,
                                         ColumnTransform<double>&, double*);

}  // namespace lepus::analysis
