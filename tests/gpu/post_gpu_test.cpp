// SPDX-License-Identifier: Apache-2.0
// Chains on volumes whose filters run on a CUDA device: against the CPU, and in slabs of several sizes against each
// other.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/array_volume.h"
#include "correct/filters/filter_cases_test.h"
#include "io/test_support.h"
#include "need_device.h"
#include "post/post.h"

namespace lepus {
namespace {

struct PostOnDevice : testing::Test {
  std::vector<float> run(const std::vector<std::string>& steps, const VolumeGrid& grid,
                         const std::vector<float>& voxels, const std::string& backend, std::int64_t slab = 0,
                         std::int64_t device_memory = 0) {
    ThreadPool pool(2);
    CancelFlag never;
    Progress silent;
    Context context{pool, never, silent};
    std::vector<PostSpec> chain;
    for (const auto& step : steps) chain.push_back(parse_post_step(step));
    PostSettings options;
    options.backend = backend;
    options.slab_slices = slab;
    options.device_memory_bytes = device_memory;
    options.force = true;
    const PostReport report = post_process(ArrayVolume(grid, voxels), folder / "out.mha", chain, options, context);
    EXPECT_EQ(report.device == "cpu", backend == "cpu");
    slabs = report.slabs;
    std::vector<float> out(static_cast<std::size_t>(report.grid.voxels()));
    open_volume(folder / "out.mha")->read(0, report.grid.nz, out.data());
    return out;
  }
  test::TempFolder folder;
  std::int64_t slabs = 0;
};

double worst_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double worst = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double error = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    worst = error >= 0 ? std::max(worst, error) : INFINITY;  // NaN fails
  }
  return worst;
}

TEST_F(PostOnDevice, FiltersAgreeWithTheCpu) {
  NEED_DEVICE();
  for (const VolumeGrid& grid : {VolumeGrid{65, 33, 13, {}, {1, 1, 1}}, VolumeGrid{7, 9, 11, {}, {1, 1, 1}}}) {
    const auto voxels = filter_test::noisy_stack(grid.nx, grid.ny, grid.nz).values;
    for (const char* kind : {"box", "gaussian", "median", "bilateral value_range=2"})
      for (const int dimensions : {2, 3})
        for (const char* border : {"keep", "partial", "mirror", "wrap"}) {
          const std::string step = format("{} radius=3 dimensions={} border={} iterations=2", kind, dimensions, border);
          FilterOptions options;
          options.kind = step[0] == 'm' ? FilterKind::median : FilterKind::bilateral;  // the widest limit of the others
          options.iterations = 2;
          for (const std::int64_t slab : {1, 4, 13})
            EXPECT_LE(worst_difference(run({step}, grid, voxels, "cuda", slab), run({step}, grid, voxels, "cpu")),
                      2 * filter_test::limit_of(options))
                << step << ", " << grid.nx << " wide, slabs of " << slab;
        }
  }
}

TEST_F(PostOnDevice, TheSameBitsForAnySlabAndLittleMemory) {
  NEED_DEVICE();
  const VolumeGrid grid{70, 41, 23, {-34.5, -20, 0}, {1, 1, 1}};
  const auto voxels = filter_test::noisy_stack(grid.nx, grid.ny, grid.nz).values;
  const std::vector<std::string> chain{"hardening threshold=-0.5 value=-0.5 radius=8 sigma=3 iterations=2",
                                       "gaussian radius=2", "median radius=1", "rescale low=1 high=99"};
  const auto whole = run(chain, grid, voxels, "cuda");
  for (const std::int64_t slab : {1, 5, 8}) EXPECT_EQ(run(chain, grid, voxels, "cuda", slab), whole) << slab;
  // A slab of one slice of the Gaussian filter wants 5 + 5 slices and as many again for what lies between its axes.
  EXPECT_EQ(run(chain, grid, voxels, "cuda", 0, 64 * grid.nx * grid.ny * 4), whole);
  const std::vector<std::string> only{"gaussian radius=2"};
  const auto plain = run(only, grid, voxels, "cuda");
  EXPECT_EQ(run(only, grid, voxels, "cuda", 0, 32 * grid.nx * grid.ny * 4), plain);
  EXPECT_GT(slabs, 1);
  EXPECT_LEPUS_ERROR(run(only, grid, voxels, "cuda", 0, 1000), ErrorKind::memory, "GPU");
}

TEST_F(PostOnDevice, SeparateDirectionsAgreeWithTheCpu) {
  NEED_DEVICE();
  for (const VolumeGrid& grid : {VolumeGrid{64, 32, 3, {}, {1, 1, 1}}, VolumeGrid{33, 65, 2, {}, {1, 1, 1}},
                                 VolumeGrid{257, 63, 1, {}, {1, 1, 1}}}) {
    const auto voxels = filter_test::noisy_stack(grid.nx, grid.ny, grid.nz).values;
    const std::string step = "bilateral dimensions=2 separate=true radius=7 sigma=3 value_range=2 iterations=2";
    FilterOptions options;
    options.kind = FilterKind::bilateral;
    options.iterations = 4;  // two directions, twice
    EXPECT_LE(worst_difference(run({step}, grid, voxels, "cuda"), run({step}, grid, voxels, "cpu")),
              2 * filter_test::limit_of(options))
        << grid.nx << " wide";
  }
}

}  // namespace
}  // namespace lepus
