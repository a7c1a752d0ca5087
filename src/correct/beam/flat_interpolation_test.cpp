// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "correct/beam/beam.h"
#include "device/host/test_host.h"

namespace lepus {
namespace {

// A beam that falls from 200 to 100 counts while it is recorded behind an object that lets half of it through.
TEST(FlatInterpolation, GreyLevelsAreThoseOfTheFlatOfEachView) {
  constexpr std::int64_t columns = 5, rows = 3, views = 8;
  std::vector<Buffer<float>> flats;
  Buffer<float> mean(columns * rows);
  for (const float level : {200.0F, 100.0F}) {
    flats.emplace_back(columns * rows);
    for (float& flat : flats.back()) flat = level;
  }
  for (float& value : mean) value = 150;
  flats[0][7] = flats[1][7] = mean[7] = 0;  // a dead pixel
  const auto correction = make_flat_interpolation(
      FlatSeries(columns, rows, views, {0, static_cast<double>(views)}, std::move(flats)), std::move(mean));
  std::vector<float> grey(columns * views * 2);
  const SinogramBand band{grey.data(), columns, views, {1, 3}, rows};
  for (std::int64_t row = 0; row < 2; ++row)
    for (std::int64_t view = 0; view < views; ++view)
      for (std::int64_t u = 0; u < columns; ++u) {
        const double beam = 200 - 100 * (static_cast<double>(view) + 0.5) / views;
        grey[static_cast<std::size_t>((row * views + view) * columns + u)] = static_cast<float>(0.5 * beam / 150);
      }
  const std::vector<float> before = grey;
  TestHost machine(2);
  correction->apply(band, {1, 3}, machine.queue());
  for (std::size_t i = 0; i < grey.size(); ++i) {
    const bool dead = i < columns * views && i % columns == 2;  // pixel 7 is column 2 of row 1
    EXPECT_NEAR(grey[i], dead ? before[i] : 0.5F, 1e-6F) << i;
  }
}

}  // namespace
}  // namespace lepus
