// SPDX-License-Identifier: Apache-2.0
#include "analysis/watershed.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <queue>

namespace lepus::analysis {
namespace {

// Calls visit(index) for the neighbours of a voxel that exist, in order.
template <class Visit>
void each_neighbour(std::int64_t index, const VolumeSize& size, const std::vector<std::array<int, 3>>& offsets,
                    Visit&& visit) {
  const std::int64_t x = index % size.nx, y = index / size.nx % size.ny, z = index / (size.nx * size.ny);
  for (const auto& d : offsets) {
    const std::int64_t i = x + d[0], j = y + d[1], k = z + d[2];
    if (i < 0 || j < 0 || k < 0 || i >= size.nx || j >= size.ny || k >= size.nz) continue;
    visit((k * size.ny + j) * size.nx + i);
  }
}

constexpr std::uint32_t unseen = std::numeric_limits<std::uint32_t>::max();

template <class T>
ArrayLabels part(const BitVolume& bits, const SquaredSteps<T>& steps, const WatershedOptions& options,
                 WorkMemory& memory, Context& context) {
  const VolumeSize& size = bits.size();
  constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
  const std::int64_t slice = size.nx * size.ny, ones = bits.count(context);
  const WorkMemory::Share share = memory.take(size.voxels() * (bytes + 8) + 24 * ones, "parting blobs",
                                              "analyse a part of the volume (--box), or leave --part out");
  Buffer<T> distances(size.voxels());
  {
    WorkMemory enough(size.voxels() * bytes * 4, memory.folder());  // counted above
    const DistanceVolume<T> volume(bits, steps, enough, context);
    for (std::int64_t z = 0; z < size.nz; ++z) {
      T* const to = distances.data() + z * slice;
      if (const T* const from = volume.slice(z, to); from != to) std::copy_n(from, slice, to);
    }
  }
  const std::vector<std::int64_t> peaks = find_peaks(distances.data(), size, options.connectivity, options.depth);
  Buffer<Label> labels(size.voxels());
  grow_markers(distances.data(), size, options.connectivity, peaks, labels.data());
  // By the first voxel, as components are.
  std::vector<Label> renumbered(peaks.size() + 1, 0);
  Label next = 0;
  for (Label& label : labels) {
    if (label == 0) continue;
    if (renumbered[label] == 0) renumbered[label] = ++next;
    label = renumbered[label];
  }
  return {size, std::move(labels), next, context.threads.size()};
}

}  // namespace

std::vector<std::array<int, 3>> neighbour_offsets(Connectivity connectivity) {
  const int most = connectivity == Connectivity::faces ? 1 : connectivity == Connectivity::edges ? 2 : 3;
  std::vector<std::array<int, 3>> offsets;
  for (int dz = -1; dz <= 1; ++dz)
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        if (const int sum = std::abs(dx) + std::abs(dy) + std::abs(dz); sum > 0 && sum <= most)
          offsets.push_back({dx, dy, dz});
  std::stable_sort(offsets.begin(), offsets.end(), [](const auto& a, const auto& b) {
    const auto squared = [](const auto& d) { return d[0] * d[0] + d[1] * d[1] + d[2] * d[2]; };
    return squared(a) < squared(b);
  });
  return offsets;
}

template <class T>
std::vector<std::int64_t> find_peaks(const T* squared, const VolumeSize& size, Connectivity connectivity,
                                     double depth) {
  const auto offsets = neighbour_offsets(connectivity);
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < size.voxels(); ++i)
    if (squared[i] > 0) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return squared[a] > squared[b]; });
  // Voxels join from the highest down; a set's root is the first of its voxels, its peak.
  std::vector<std::uint32_t> parent(order.size());
  std::vector<std::uint8_t> is_peak(order.size(), 0);
  Buffer<std::uint32_t> place(size.voxels());
  std::fill(place.begin(), place.end(), unseen);
  const auto root = [&](std::uint32_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  std::vector<std::uint32_t> met;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = parent[i] = i;
    met.clear();
    each_neighbour(order[i], size, offsets, [&](std::int64_t n) {
      if (place[n] != unseen && place[n] != i) met.push_back(root(place[n]));
    });
    std::sort(met.begin(), met.end());
    met.erase(std::unique(met.begin(), met.end()), met.end());
    if (met.empty()) {
      is_peak[i] = 1;
      continue;
    }
    parent[i] = met[0];  // the highest
    const double level = std::sqrt(static_cast<double>(squared[order[i]]));
    for (std::size_t m = 1; m < met.size(); ++m) {
      if (std::sqrt(static_cast<double>(squared[order[met[m]]])) - level >= depth) continue;
      is_peak[met[m]] = 0;
      parent[met[m]] = met[0];
    }
  }
  std::vector<std::int64_t> peaks;
  for (std::size_t i = 0; i < order.size(); ++i)
    if (is_peak[i] != 0) peaks.push_back(order[i]);
  std::sort(peaks.begin(), peaks.end());
  return peaks;
}

template <class T>
void grow_markers(const T* squared, const VolumeSize& size, Connectivity connectivity,
                  const std::vector<std::int64_t>& markers, Label* labels) {
  struct Front {
    T height;
    std::int64_t age, index;
    bool operator<(const Front& other) const {  // the largest comes first out of a priority queue
      return height != other.height ? height < other.height : age > other.age;
    }
  };
  const auto offsets = neighbour_offsets(connectivity);
  std::fill_n(labels, size.voxels(), Label{0});
  std::priority_queue<Front> fronts;
  std::int64_t age = 0;
  for (std::size_t i = 0; i < markers.size(); ++i) {
    labels[markers[i]] = static_cast<Label>(i + 1);
    fronts.push({squared[markers[i]], age++, markers[i]});
  }
  while (!fronts.empty()) {
    const std::int64_t from = fronts.top().index;
    fronts.pop();
    each_neighbour(from, size, offsets, [&](std::int64_t to) {
      if (!(squared[to] > 0) || labels[to] != 0) return;
      labels[to] = labels[from];
      fronts.push({squared[to], age++, to});
    });
  }
}

ArrayLabels part_blobs(const BitVolume& bits, const SquaredSteps<double>& steps, bool cubes,
                       const WatershedOptions& options, WorkMemory& memory, Context& context) {
  if (cubes) return part<std::int32_t>(bits, {}, options, memory, context);
  return part<double>(bits, steps, options, memory, context);
}

template std::vector<std::int64_t> find_peaks(const std::int32_t*, const VolumeSize&, Connectivity, double);
template std::vector<std::int64_t> find_peaks(const double*, const VolumeSize&, Connectivity, double);
template void grow_markers(const std::int32_t*, const VolumeSize&, Connectivity, const std::vector<std::int64_t>&,
                           Label*);
template void grow_markers(const double*, const VolumeSize&, Connectivity, const std::vector<std::int64_t>&, Label*);

}  // namespace lepus::analysis
