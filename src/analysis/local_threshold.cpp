// SPDX-License-Identifier: Apache-2.0
#include "analysis/local_threshold.h"

#include <algorithm>
#include <cmath>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus::analysis {
namespace {

std::int64_t mirrored(std::int64_t i, std::int64_t n) {
  const std::int64_t m = ((i % (2 * n)) + 2 * n) % (2 * n);
  return m < n ? m : 2 * n - 1 - m;
}

// Sums over windows of 2 radius + 1 elements, `stride` apart, mirrored at the ends.
void window_sums(const std::int64_t* in, std::int64_t n, std::int64_t stride, std::int64_t radius, std::int64_t* out,
                 std::int64_t out_stride) {
  std::int64_t sum = 0;
  for (std::int64_t k = -radius; k <= radius; ++k) sum += in[mirrored(k, n) * stride];
  for (std::int64_t i = 0; i < n; ++i) {
    out[i * out_stride] = sum;
    sum += in[mirrored(i + radius + 1, n) * stride] - in[mirrored(i - radius, n) * stride];
  }
}

}  // namespace

void select_local(const VolumeReader& volume, std::int64_t radius, double offset, bool bright, const Survey& looked,
                  BitVolume& bits, WorkMemory& memory, Context& context) {
  if (looked.not_finite > 0)
    throw Error(ErrorKind::input, {.what = "a local threshold needs numbers everywhere",
                                   .where = "option --threshold",
                                   .why = format("{} voxels are not finite", looked.not_finite),
                                   .hint = "replace them first: lepus post --do finite"});
  const VolumeGrid& grid = volume.grid();
  const std::int64_t nx = grid.nx, ny = grid.ny, nz = grid.nz, slice = nx * ny, window = 2 * radius + 1;
  const int workers = context.threads.size();
  // Ring of slices: values as integers (4 bytes) and their sums in the plane (8), and of each worker two planes.
  const std::int64_t fixed = workers * slice * (4 + 16);
  const std::int64_t each = 12 * slice;
  const std::int64_t slab = std::clamp<std::int64_t>((memory.left_bytes() - fixed) / each - window, 1, nz);
  const WorkMemory::Share share =
      memory.take((slab + window) * each + fixed, "the slices of a local threshold", "use a smaller radius");
  const double range = std::max(1e-300, static_cast<double>(looked.largest) - looked.smallest);
  const double per_value = ((1 << 24) - 1) / range;
  std::vector<Buffer<std::int64_t>> planes, rows;
  std::vector<Buffer<float>> read;
  for (int w = 0; w < workers; ++w) {
    planes.emplace_back(slice);
    rows.emplace_back(slice);
    read.emplace_back(slice);
  }
  const std::int64_t held = slab + window - 1;
  Buffer<std::int32_t> values(held * slice);
  Buffer<std::int64_t> sums(held * slice);
  WorkerSlices words(bits, workers);
  context.progress.begin("local threshold", nz);
  for (std::int64_t z0 = 0; z0 < nz; z0 += slab) {
    const std::int64_t z1 = std::min(nz, z0 + slab);
    context.threads.parallel_for(z0 - radius, z1 + radius, 1, [&](std::int64_t z, std::int64_t, int worker) {
      const auto own = static_cast<std::size_t>(worker);
      const std::int64_t at = (z - (z0 - radius)) * slice;
      volume.read(mirrored(z, nz), mirrored(z, nz) + 1, read[own].data());
      for (std::int64_t i = 0; i < slice; ++i) {
        const double q = (static_cast<double>(read[own][i]) - looked.smallest) * per_value;
        values[at + i] = static_cast<std::int32_t>(std::lround(std::clamp(q, -2e9, 2e9)));
        planes[own][i] = values[at + i];
      }
      for (std::int64_t y = 0; y < ny; ++y)
        window_sums(planes[own].data() + y * nx, nx, 1, radius, rows[own].data() + y * nx, 1);
      for (std::int64_t x = 0; x < nx; ++x) window_sums(rows[own].data() + x, ny, nx, radius, sums.data() + at + x, nx);
    });
    const double cubed = static_cast<double>(window * window * window), shift = offset * per_value * cubed;
    context.threads.parallel_for(z0, z1, 1, [&](std::int64_t z, std::int64_t, int worker) {
      std::int64_t* const total = planes[static_cast<std::size_t>(worker)].data();
      std::fill_n(total, slice, std::int64_t{0});
      for (std::int64_t k = 0; k < window; ++k) {
        const std::int64_t* const from = sums.data() + (z - z0 + k) * slice;
        for (std::int64_t i = 0; i < slice; ++i) total[i] += from[i];
      }
      Word* const out = words[worker];
      std::fill_n(out, bits.slice_words(), Word{0});
      const std::int32_t* const here = values.data() + (z - z0 + radius) * slice;
      for (std::int64_t y = 0; y < ny; ++y)
        for (std::int64_t x = 0; x < nx; ++x) {
          const bool above =
              static_cast<double>(here[y * nx + x]) * cubed > static_cast<double>(total[y * nx + x]) - shift;
          out[y * bits.row_words() + x / word_bits] |= Word{above == bright} << (x % word_bits);
        }
      bits.write(z, out);
      context.progress.advance(1);
    });
  }
  context.progress.end();
}

}  // namespace lepus::analysis
