// SPDX-License-Identifier: Apache-2.0
#include "analysis/thickness.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>

#include <lepus/error.h>

namespace lepus::analysis {
namespace {

// Whether a ball lies in that of a neighbouring voxel, which then serves for both.
template <class T>
class Containment;

// Cubes: as sets of voxels. The ball of squared radius a around p is { q : |q - p|^2 < a }; it lies in that of squared
// radius b around p + d where the furthest of its voxels does: max |q - d|^2 < b over |q|^2 < a. By symmetry the
// furthest one has coordinates against those of d, so that a table over a for each of the three kinds of neighbours
// says it all.
template <>
class Containment<std::int32_t> {
public:
  explicit Containment(std::int32_t largest) {
    for (auto& table : furthest_) table.assign(static_cast<std::size_t>(largest) + 1, 0);
    // Coordinates in falling order stand for all others of the same length.
    for (std::int64_t x = 0; x * x < largest; ++x)
      for (std::int64_t y = 0; y <= x && x * x + y * y < largest; ++y)
        for (std::int64_t z = 0; z <= y && x * x + y * y + z * z < largest; ++z) {
          const std::int64_t squared = x * x + y * y + z * z;
          const std::array<std::int64_t, 3> along{x, x + y, x + y + z};
          for (std::size_t kind = 0; kind < 3; ++kind) {
            auto& far_one = furthest_[kind][static_cast<std::size_t>(squared) + 1];
            far_one = std::max(
                far_one, static_cast<std::int32_t>(squared + 2 * along[kind]) + static_cast<std::int32_t>(kind) + 1);
          }
        }
    for (auto& table : furthest_)
      for (std::size_t i = 1; i < table.size(); ++i) table[i] = std::max(table[i], table[i - 1]);
  }
  // kind 0, 1, 2: the neighbour shares a face, an edge, a corner.
  bool holds(std::int32_t own, std::int32_t other, int kind, std::int32_t /*squared_distance*/) const {
    return other > furthest_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(own)];
  }

private:
  std::array<std::vector<std::int32_t>, 3> furthest_;
};

// Other voxels: as balls in space. sqrt(b) >= sqrt(a) + distance, squared twice.
template <>
class Containment<double> {
public:
  explicit Containment(double /*largest*/) {}
  bool holds(double own, double other, int /*kind*/, double squared_distance) const {
    const double rest = other - own - squared_distance;
    return rest >= 0 && rest * rest >= 4 * own * squared_distance;
  }
};

// Marks the voxels of a slice whose ball lies in no neighbour's.
template <class T>
void mark_balls(const T* below, const T* here, const T* above, const VolumeSize& size, const SquaredSteps<T>& steps,
                const Containment<T>& containment, Word* marks) {
  const T* const slices[] = {below, here, above};
  const std::int64_t row_words = words_for(size.nx);
  std::fill_n(marks, row_words * size.ny, Word{0});
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
            const int kind = (dx != 0 ? 1 : 0) + (dy != 0 ? 1 : 0) + (dz != 0 ? 1 : 0) - 1;
            covered = other > own && containment.holds(own, other, kind, d);
          }
      }
      if (!covered) marks[y * row_words + x / word_bits] |= Word{1} << (x % word_bits);
    }
}

// Without the voxels on the sphere itself, whose distances may be rounded either way where they are no integers.
std::int32_t inner(std::int32_t squared) { return squared; }
double inner(double squared) { return squared * (1 - 1e-12); }

// thickest[voxel] = the largest squared radius of the marked balls of another slice, dz away, that reach it.
template <class T>
void draw_balls(const Word* marks, const T* squared, T dz_squared, const VolumeSize& size, const SquaredSteps<T>& steps,
                T* thickest) {
  // The largest k with k^2 step < rest.
  const auto reach = [](T rest, T step) {
    auto k = static_cast<std::int64_t>(std::sqrt(static_cast<double>(rest) / static_cast<double>(step)));
    while (static_cast<T>(k) * static_cast<T>(k) * step >= rest) --k;
    while (static_cast<T>(k + 1) * static_cast<T>(k + 1) * step < rest) ++k;
    return k;
  };
  const std::int64_t row_words = words_for(size.nx);
  for (std::int64_t at_y = 0; at_y < size.ny; ++at_y)
    each_run(marks + at_y * row_words, row_words, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t at_x = begin; at_x < end; ++at_x) {
        const T ball = squared[at_y * size.nx + at_x], in_slice = inner(ball) - dz_squared;
        if (!(in_slice > 0)) continue;
        const std::int64_t rows = reach(in_slice, steps.y);
        for (std::int64_t y = std::max<std::int64_t>(0, at_y - rows); y <= std::min(size.ny - 1, at_y + rows); ++y) {
          const T dy = static_cast<T>(y - at_y);
          const std::int64_t half = reach(in_slice - dy * dy * steps.y, steps.x);
          const std::int64_t first = std::max<std::int64_t>(0, at_x - half), last = std::min(size.nx - 1, at_x + half);
          T* const row = thickest + y * size.nx;
          for (std::int64_t x = first; x <= last; ++x) row[x] = std::max(row[x], ball);
        }
      }
    });
}

template <class T>
ThicknessResult thickness_of(const BitVolume& bits, const VoxelShape& shape, const SquaredSteps<T>& steps,
                             VolumeWriter* map, WorkMemory& memory, Context& context) {
  const VolumeSize& size = bits.size();
  const std::int64_t slice = size.nx * size.ny;
  const int workers = context.threads.size();
  constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
  const DistanceVolume<T> distances(bits, steps, memory, context, Beyond::zeros);
  if (distances.largest() >= far<T>)
    throw Error(ErrorKind::input, {.what = "the phase has no border",
                                   .where = "thickness",
                                   .why = "the volume is one voxel, and belongs to it",
                                   .hint = "check the threshold"});
  ThicknessResult result;
  result.bin_mm = shape.edge_mm;
  const double radius = std::sqrt(static_cast<double>(distances.largest()));
  result.largest_mm = 2 * radius * shape.edge_mm;
  result.voxels.assign(static_cast<std::size_t>(2 * radius) + 1, 0);

  BitVolume balls(memory, size);
  const WorkMemory::Share share =
      memory.take(workers * slice * (3 * bytes + 4), "slices of distances", "use fewer --threads");
  Buffer<T> buffers(3 * slice * workers);
  WorkerSlices marks(balls, workers);
  {
    const Containment<T> containment(distances.largest());
    context.threads.parallel_for(0, size.nz, 1, [&](std::int64_t z, std::int64_t, int worker) {
      T* const own = buffers.data() + 3 * slice * worker;
      const T* const below = z > 0 ? distances.slice(z - 1, own) : nullptr;
      const T* const here = distances.slice(z, own + slice);
      const T* const above = z + 1 < size.nz ? distances.slice(z + 1, own + 2 * slice) : nullptr;
      mark_balls(below, here, above, size, steps, containment, marks[worker]);
      balls.write(z, marks[worker]);
    });
  }
  result.balls = balls.count(context);

  // Sums by squared radius are integers until the end.
  std::map<T, std::int64_t> counts;
  std::mutex mutex;
  const std::int64_t far_slices = static_cast<std::int64_t>(radius / std::sqrt(static_cast<double>(steps.z))) + 1;
  Buffer<float> floats(map ? slice * workers : 0);
  context.progress.begin("thickness", size.nz);
  for (std::int64_t z0 = 0; z0 < size.nz;
       z0 += workers) {  // as many slices as workers, so that they are written in order
    const std::int64_t z1 = std::min<std::int64_t>(size.nz, z0 + workers);
    context.threads.parallel_for(z0, z1, 1, [&](std::int64_t z, std::int64_t, int worker) {
      T* const own = buffers.data() + 3 * slice * worker;
      std::fill_n(own, slice, T{0});
      for (std::int64_t from = std::max<std::int64_t>(0, z - far_slices); from < std::min(size.nz, z + far_slices + 1);
           ++from) {
        context.cancel.check();
        const T dz = static_cast<T>(from - z);
        draw_balls(balls.slice(from, marks[worker]), distances.slice(from, own + slice), dz * dz * steps.z, size, steps,
                   own);
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
