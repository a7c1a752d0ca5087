// SPDX-License-Identifier: Apache-2.0
#include "device/host/volume_kernels.h"

#include <vector>

#include "core/memory.h"
#include "device/host/device.h"
#include "project/ball_rows.h"
#include "project/bit_distance.h"

namespace lepus::host {
namespace {

class HostVolumeKernels final : public VolumeKernels {
public:
  void dilate(const std::uint32_t* bits, std::uint32_t* out, const BitShape& shape, double radius,
              Queue& queue) override {
    spread(bits, out, shape, radius, 0, queue);
  }
  void erode(const std::uint32_t* bits, std::uint32_t* out, const BitShape& shape, double radius,
             Queue& queue) override {
    spread(bits, out, shape, radius, ~std::uint32_t{0}, queue);
  }
  void squared_distances(const std::uint32_t* bits, std::int32_t* out, const BitShape& s, Queue& queue) override {
    Buffer<std::int32_t> between(s.voxels());
    const auto each_row = [&](auto&& value, std::int32_t* to) {
      threads_of(queue).parallel_for(0, s.ny * s.nz, 16, [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t row = begin; row < end; ++row)
          for (std::int64_t x = 0; x < s.nx; ++x) to[row * s.nx + x] = value(x, row % s.ny, row / s.ny);
      });
    };
    each_row([&](std::int64_t x, std::int64_t y,
                 std::int64_t z) { return distance_in_row(bits + (z * s.ny + y) * s.row_words, s.nx, x, no_distance); },
             out);
    each_row([&](std::int64_t x, std::int64_t y,
                 std::int64_t z) { return minimum_in_column(out + z * s.ny * s.nx + x, s.ny, s.nx, y); },
             between.data());
    each_row([&](std::int64_t x, std::int64_t y,
                 std::int64_t z) { return minimum_in_column(between.data() + y * s.nx + x, s.nz, s.nx * s.ny, z); },
             out);
  }

private:
  // `flip`: all ones to spread the zeros instead.
  static void spread(const std::uint32_t* bits, std::uint32_t* out, const BitShape& s, double radius,
                     std::uint32_t flip, Queue& queue) {
    const std::vector<BallRow> rows = ball_rows(radius);
    threads_of(queue).parallel_for(0, s.ny * s.nz, 16, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t row = begin; row < end; ++row)
        for (std::int64_t w = 0; w < s.row_words; ++w)
          out[row * s.row_words + w] =
              ball_word(bits, s, rows.data(), static_cast<int>(rows.size()), flip, w, row % s.ny, row / s.ny);
    });
  }
};

}  // namespace

std::unique_ptr<VolumeKernels> make_volume_kernels() { return std::make_unique<HostVolumeKernels>(); }

}  // namespace lepus::host
