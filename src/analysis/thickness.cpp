// SPDX-License-Identifier: Apache-2.0
#include "analysis/thickness.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include <lepus/error.h>

namespace lepus::analysis {
namespace {

template <class T>
struct Ball {
  std::int32_t x, y;
  T squared;  // of the radius
};

// Whether the ball of radius sqrt(a) lies in that of radius sqrt(b), its centre sqrt(d) away: sqrt(b) >= sqrt(a) +
// sqrt(d), squared twice so that integers stay exact.
template <class T>
bool lies_in(T a, T b, T d) {
  if constexpr (std::is_integral_v<T>) {
    const std::int64_t rest = std::int64_t{b} - a - d;
    return rest >= 0 && rest * rest >= 4 * std::int64_t{a} * d;
  } else {
    const double rest = b - a - d;
    return rest >= 0 && rest * rest >= 4 * a * d;
  }
}

// Balls whose centres lie in slice z and that lie in no neighbour's ball.
template <class T>
void add_balls(const T* below, const T* here, const T* above, const VolumeSize& size, const SquaredSteps<T>& steps,
               std::vector<Ball<T>>& balls) {
  const T* const slices[] = {below, here, above};
  for (std::int64_t y = 0; y < size.ny; ++y)
    for (std::int64_t x = 0; x < size.nx; ++x) {
      const T own = here[y * size.nx + x];
      if (own == 0) continue;
      bool covered = false;
      for (int dz = -1; dz <= 1 && !covered; ++dz) {
        const T* const slice = slices[dz + 1];
        if (!slice) continue;
        for (int dy = -1; dy <= 1 && !covered; ++dy)
          for (int dx = -1; dx <= 1 && !covered; ++dx) {
            const std::int64_t i = x + dx, j = y + dy;
            if ((dx == 0 && dy == 0 && dz == 0) || i < 0 || j < 0 || i >= size.nx || j >= size.ny) continue;
            const T d = (dx != 0 ? steps.x : T{0}) + (dy != 0 ? steps.y : T{0}) + (dz != 0 ? steps.z : T{0});
            const T other = slice[j * size.nx + i];
            covered = other > own && lies_in(own, other, d);
          }
      }
      if (!covered) balls.push_back({static_cast<std::int32_t>(x), static_cast<std::int32_t>(y), own});
    }
}

// thickest[voxel] = the largest squared radius of the balls of slice z0 that reach it in slice z.
template <class T>
void draw_balls(const std::vector<Ball<T>>& balls, T dz_squared, const VolumeSize& size, const SquaredSteps<T>& steps,
                T* thickest) {
  // The largest k with k^2 step < rest.
  const auto reach = [](T rest, T step) {
    auto k = static_cast<std::int64_t>(std::sqrt(static_cast<double>(rest) / static_cast<double>(step)));
    while (static_cast<T>(k) * static_cast<T>(k) * step >= rest) --k;
    while (static_cast<T>(k + 1) * static_cast<T>(k + 1) * step < rest) ++k;
    return k;
  };
  for (const Ball<T>& ball : balls) {
    const T in_slice = ball.squared - dz_squared;
    if (!(in_slice > 0)) continue;
    const std::int64_t rows = reach(in_slice, steps.y);
    for (std::int64_t y = std::max<std::int64_t>(0, ball.y - rows); y <= std::min(size.ny - 1, ball.y + rows); ++y) {
      const T dy = static_cast<T>(y - ball.y);
      const std::int64_t half = reach(in_slice - dy * dy * steps.y, steps.x);
      const std::int64_t first = std::max<std::int64_t>(0, ball.x - half), last = std::min(size.nx - 1, ball.x + half);
      T* const row = thickest + y * size.nx;
      for (std::int64_t x = first; x <= last; ++x) row[x] = std::max(row[x], ball.squared);
    }
  }
}

template <class T>
ThicknessResult thickness_of(const BitVolume& bits, const VoxelShape& shape, const SquaredSteps<T>& steps,
                             VolumeWriter* map, WorkMemory& memory, Context& context) {
  const VolumeSize& size = bits.size();
  const std::int64_t slice = size.nx * size.ny;
  const int workers = context.threads.size();
  constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
  const DistanceVolume<T> distances(bits, steps, memory, context);
  if (distances.largest() >= far<T>)
    throw Error(ErrorKind::input, {.what = "the phase has no border",
                                   .where = "thickness",
                                   .why = "every voxel of the volume belongs to it, so that its thickness has no end",
                                   .hint = "check the threshold"});
  ThicknessResult result;
  result.bin_mm = shape.edge_mm;
  const double radius = std::sqrt(static_cast<double>(distances.largest()));
  result.largest_mm = 2 * radius * shape.edge_mm;
  result.voxels.assign(static_cast<std::size_t>(2 * radius) + 1, 0);

  std::vector<std::vector<Ball<T>>> balls(static_cast<std::size_t>(size.nz));
  {
    const WorkMemory::Share share =
        memory.take(3 * slice * bytes * workers, "slices of distances", "use fewer --threads");
    Buffer<T> three(3 * slice * workers);
    context.threads.parallel_for(0, size.nz, 1, [&](std::int64_t z, std::int64_t, int worker) {
      T* const own = three.data() + 3 * slice * worker;
      const T* const below = z > 0 ? distances.slice(z - 1, own) : nullptr;
      const T* const here = distances.slice(z, own + slice);
      const T* const above = z + 1 < size.nz ? distances.slice(z + 1, own + 2 * slice) : nullptr;
      add_balls(below, here, above, size, steps, balls[static_cast<std::size_t>(z)]);
      balls[static_cast<std::size_t>(z)].shrink_to_fit();
    });
  }
  for (const auto& list : balls) result.balls += static_cast<std::int64_t>(list.size());
  const WorkMemory::Share held =
      memory.take(result.balls * static_cast<std::int64_t>(sizeof(Ball<T>)) + workers * slice * (bytes + 4),
                  "the balls of the local thickness", "clean the phase first with --clean");

  // Sums by squared radius are integers until the end.
  std::map<T, std::int64_t> counts;
  std::mutex mutex;
  const std::int64_t far_slices = static_cast<std::int64_t>(radius / std::sqrt(static_cast<double>(steps.z))) + 1;
  Buffer<T> thickest(slice * workers);
  Buffer<float> floats(map ? slice * workers : 0);
  context.progress.begin("thickness", size.nz);
  for (std::int64_t z0 = 0; z0 < size.nz;
       z0 += workers) {  // as many slices as workers, so that they are written in order
    const std::int64_t z1 = std::min<std::int64_t>(size.nz, z0 + workers);
    context.threads.parallel_for(z0, z1, 1, [&](std::int64_t z, std::int64_t, int) {
      T* const own = thickest.data() + (z - z0) * slice;
      std::fill_n(own, slice, T{0});
      for (std::int64_t from = std::max<std::int64_t>(0, z - far_slices); from < std::min(size.nz, z + far_slices + 1);
           ++from) {
        const T dz = static_cast<T>(from - z);
        draw_balls(balls[static_cast<std::size_t>(from)], dz * dz * steps.z, size, steps, own);
      }
      std::map<T, std::int64_t> here;
      for (std::int64_t i = 0; i < slice;) {
        std::int64_t j = i + 1;
        while (j < slice && own[j] == own[i]) ++j;
        if (own[i] > 0) here[own[i]] += j - i;
        i = j;
      }
      if (map)
        for (std::int64_t i = 0; i < slice; ++i)
          floats[(z - z0) * slice + i] = static_cast<float>(2 * std::sqrt(static_cast<double>(own[i])) * shape.edge_mm);
      const std::lock_guard lock(mutex);
      for (const auto& [squared, n] : here) counts[squared] += n;
    });
    if (map) map->write(z0, z1, floats.data());
    context.progress.advance(z1 - z0);
  }
  context.progress.end();
  double n = 0, sum = 0, squares = 0;
  for (const auto& [squared, voxels] : counts) {
    const double diameter = 2 * std::sqrt(static_cast<double>(squared)), count = static_cast<double>(voxels);
    n += count;
    sum += count * diameter;
    squares += count * diameter * diameter;
    result.voxels[std::min(result.voxels.size() - 1, static_cast<std::size_t>(diameter))] += voxels;
  }
  if (n == 0) return result;
  result.mean_mm = sum / n * shape.edge_mm;
  result.spread_mm = std::sqrt(std::max(0.0, squares / n - sum / n * (sum / n))) * shape.edge_mm;
  return result;
}

}  // namespace

ThicknessResult local_thickness(const BitVolume& bits, const VoxelShape& shape, VolumeWriter* map, WorkMemory& memory,
                                Context& context) {
  if (shape.cubes) return thickness_of<std::int32_t>(bits, shape, {}, map, memory, context);
  return thickness_of<double>(bits, shape, shape.steps, map, memory, context);
}

}  // namespace lepus::analysis
