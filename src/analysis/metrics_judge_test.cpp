// SPDX-License-Identifier: Apache-2.0
// The metrics against scikit-image (tests/judges/metrics_skimage.py).
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "analysis/array_volume.h"
#include "analysis/compare.h"
#include "core/format.h"

namespace lepus {
namespace {

std::string output_of(const std::string& command, int& status) {
  std::string text;
  FILE* pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> buffer{};
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) text.append(buffer.data(), n);
  status = ::pclose(pipe);
  return text;
}

TEST(metrics_judge, agree_with_scikit_image) {
  int status = 0;
  output_of(LEPUS_PYTHON " -c 'import skimage' 2>&1", status);
  if (status != 0) GTEST_SKIP() << "python3-skimage is not installed: the metrics are NOT checked against it";

  // Blocks of different grey with noise: edges, flat parts, and sizes that are no multiple of a tile.
  const VolumeGrid grid{47, 38, 21, {0, 0, 0}, {1, 1, 1}};
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0.0F, 0.05F);
  std::vector<float> a, b;
  for (std::int64_t z = 0; z < grid.nz; ++z)
    for (std::int64_t y = 0; y < grid.ny; ++y)
      for (std::int64_t x = 0; x < grid.nx; ++x) {
        a.push_back(static_cast<float>((x / 9 + y / 7 + z / 5) % 3) * 0.4F);
        b.push_back(0.97F * a.back() + 0.01F + normal(random));
      }
  const auto folder = std::filesystem::temp_directory_path() / format("lepus-metrics-{}", ::getpid());
  std::filesystem::create_directories(folder);
  const auto save = [&](const char* name, const std::vector<float>& values) {
    const std::string path = (folder / name).string();
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(float)));
    return path;
  };
  const std::string command = format(LEPUS_PYTHON " {}/tests/judges/metrics_skimage.py {} {} {} {} {} 0.8",
                                     LEPUS_SOURCE_DIR, save("a", a), save("b", b), grid.nx, grid.ny, grid.nz);
  const std::string text = output_of(command, status);
  std::filesystem::remove_all(folder);
  ASSERT_EQ(status, 0) << text;
  const auto judge = nlohmann::json::parse(text);

  ThreadPool threads(2);
  CancelFlag cancel;
  Progress progress;
  Context context{threads, cancel, progress};
  CompareSettings options;
  options.peak = 0.8;
  const ArrayVolume first(grid, a), second(grid, b);
  const Comparison c = compare_volumes(first, second, options, context);
  options.ssim = SsimMode::slices;
  const Comparison by_slices = compare_volumes(first, second, options, context);
  // Both compute in double precision from the same floats: they differ by the order of the sums alone, a few parts in
  // 1e13 for 37506 terms; variances lose at most two more digits to cancellation.
  EXPECT_NEAR(c.rmse, judge["rmse"].get<double>(), 1e-12);
  EXPECT_NEAR(c.mae, judge["mae"].get<double>(), 1e-12);
  EXPECT_NEAR(c.psnr_db, judge["psnr"].get<double>(), 1e-10);
  ASSERT_TRUE(c.ssim && by_slices.ssim);
  EXPECT_NEAR(*c.ssim, judge["ssim"].get<double>(), 1e-10);
  EXPECT_NEAR(*by_slices.ssim, judge["ssim_slices"].get<double>(), 1e-10);
  EXPECT_LT(*c.ssim, 0.99);  // the case is not one in which everything is 1
}

}  // namespace
}  // namespace lepus
