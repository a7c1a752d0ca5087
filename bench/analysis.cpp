// SPDX-License-Identifier: Apache-2.0
// How many voxels a second one core labels and measures the distances of, in a porous volume of n^3 bytes (overlapping
// balls, a third of the volume). Results are checked first: components by flooding, distances at 1000 voxels by looking
// at all voxels around them.
//   lepus_bench_analysis [n] [threads]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>

#include "analysis/components.h"
#include "analysis/distance.h"
#include "analysis/test_bits.h"

namespace {

using namespace lepus;
using namespace lepus::analysis;

// Of the processor, not of the clock, so that other programs on the machine do not count; all threads together.
template <class Work>
double best_core_seconds(int times, const Work& work) {
  double best = 1e30;
  for (int i = 0; i < times; ++i) {
    const std::clock_t start = std::clock();
    work();
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

// Eight bytes of 0 or 1 become eight bits by one multiplication, which brings them together in the highest byte.
void pack(const Bytes& bytes, BitVolume& bits, Context& context) {
  const VolumeSize& size = bits.size();
  bits.each_slice(context, [&](std::int64_t z, Word* words, int) {
    std::fill_n(words, bits.slice_words(), Word{0});
    for (std::int64_t y = 0; y < size.ny; ++y) {
      const std::uint8_t* const row = bytes.data() + (z * size.ny + y) * size.nx;
      Word* const out = words + y * bits.row_words();
      for (std::int64_t x = 0; x < size.nx; x += 8) {
        Word eight = 0;
        std::memcpy(&eight, row + x, static_cast<std::size_t>(std::min<std::int64_t>(8, size.nx - x)));
        out[x / word_bits] |= eight * 0x0102040810204080U >> 56 << (x % word_bits);
      }
    }
    return true;
  });
}

std::int64_t flooded(Bytes bytes, const VolumeSize& size) {
  std::int64_t count = 0;
  std::vector<std::int64_t> open;
  for (std::int64_t start = 0; start < size.voxels(); ++start) {
    if (bytes[static_cast<std::size_t>(start)] == 0) continue;
    ++count;
    open.assign(1, start);
    bytes[static_cast<std::size_t>(start)] = 0;
    while (!open.empty()) {
      const std::int64_t at = open.back(), x = at % size.nx, y = at / size.nx % size.ny, z = at / size.nx / size.ny;
      open.pop_back();
      for (std::int64_t k = std::max<std::int64_t>(0, z - 1); k <= std::min(size.nz - 1, z + 1); ++k)
        for (std::int64_t j = std::max<std::int64_t>(0, y - 1); j <= std::min(size.ny - 1, y + 1); ++j)
          for (std::int64_t i = std::max<std::int64_t>(0, x - 1); i <= std::min(size.nx - 1, x + 1); ++i) {
            const std::int64_t next = (k * size.ny + j) * size.nx + i;
            if (bytes[static_cast<std::size_t>(next)] == 0) continue;
            bytes[static_cast<std::size_t>(next)] = 0;
            open.push_back(next);
          }
    }
  }
  return count;
}

bool distances_right(const Bytes& bytes, const VolumeSize& size, const DistanceVolume<std::int32_t>& distances) {
  std::mt19937 random(1);
  std::vector<std::int32_t> buffer(static_cast<std::size_t>(size.nx * size.ny));
  for (int sample = 0; sample < 1000; ++sample) {
    const auto x = static_cast<std::int64_t>(random() % static_cast<unsigned>(size.nx)),
               y = static_cast<std::int64_t>(random() % static_cast<unsigned>(size.ny)),
               z = static_cast<std::int64_t>(random() % static_cast<unsigned>(size.nz));
    const std::int64_t found = distances.slice(z, buffer.data())[y * size.nx + x];
    std::int64_t best = far<std::int32_t>;
    const auto reach = static_cast<std::int64_t>(std::sqrt(static_cast<double>(found))) + 1;
    for (std::int64_t k = std::max<std::int64_t>(0, z - reach); k <= std::min(size.nz - 1, z + reach); ++k)
      for (std::int64_t j = std::max<std::int64_t>(0, y - reach); j <= std::min(size.ny - 1, y + reach); ++j)
        for (std::int64_t i = std::max<std::int64_t>(0, x - reach); i <= std::min(size.nx - 1, x + reach); ++i)
          if (bytes[static_cast<std::size_t>((k * size.ny + j) * size.nx + i)] == 0)
            best = std::min(best, (i - x) * (i - x) + (j - y) * (j - y) + (k - z) * (k - z));
    if (best != found) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t n = argc > 1 ? std::atoll(argv[1]) : 256;
  TestContext t(argc > 2 ? std::atoi(argv[2]) : 1, std::int64_t{16} << 30);
  const VolumeSize size{n, n, n};
  const Bytes bytes = ball_bytes(size, static_cast<int>(n * n * n / 16000), 0.06 * 256, 1);
  BitVolume bits(t.memory, size);
  pack(bytes, bits, t.context);
  const auto ones = static_cast<double>(bits.count(t.context));
  std::vector<Label> labels(bytes.size());
  std::int64_t count = 0;
  const auto label_all = [&] {
    pack(bytes, bits, t.context);
    const Components components(bits, Connectivity::corners, t.memory, t.context);
    count = components.count();
    components.each_slice(t.context, [&](int, std::int64_t z, const SliceRuns& runs) {
      fill_labels(runs, size, labels.data() + z * n * n);
    });
  };
  label_all();
  if (count != flooded(bytes, size)) return std::puts("wrong number of components"), 1;
  const double voxels = static_cast<double>(size.voxels()) * 1e-6;
  std::printf("%lld^3 bytes, %.1f %% of them one, %lld components, %d threads\n", static_cast<long long>(n),
              ones / voxels * 1e-4, static_cast<long long>(count), t.threads.size());
  std::printf("components (26), bytes to labels  %8.1f Mvoxel/s per core\n", voxels / best_core_seconds(3, label_all));
  {
    const DistanceVolume<std::int32_t> distances(bits, {}, t.memory, t.context);
    if (!distances_right(bytes, size, distances)) return std::puts("wrong distances"), 1;
  }
  std::printf("distances, voxels that are cubes  %8.1f Mvoxel/s per core\n",
              voxels / best_core_seconds(
                           3, [&] { const DistanceVolume<std::int32_t> distances(bits, {}, t.memory, t.context); }));
  std::printf("distances, other voxels (double)  %8.1f Mvoxel/s per core\n",
              voxels / best_core_seconds(3, [&] {
                const DistanceVolume<double> distances(bits, {1, 1.21, 0.81}, t.memory, t.context);
              }));
  return 0;
}
