// SPDX-License-Identifier: Apache-2.0
// Projections on an OpenCL device of volumes that do not fit it.
#include "device/forward_project_cases_test.h"
#include "device/opencl/forward_project.h"
#include "opencl_fixture.h"
#include <lepus/error.h>

namespace lepus::opencl {
namespace {

using forward_cases::cases;

class OpenclProjector : public OpenclTest {
protected:
  void SetUp() override {
    OpenclTest::SetUp();
    if (!IsSkipped() && !context().device().doubles) GTEST_SKIP() << "the device has no double precision";
  }
};

// As everybody calls it: any limit on memory and any number of workers give the same bits.
TEST_F(OpenclProjector, projects_volumes_larger_than_its_memory) {
  const VolumeGrid grid = centred_grid(40, 41, 60, {1, 1, 1});
  const std::vector<float> volume = forward_cases::random_volume(grid);
  const ScanGeometry geometry = forward_cases::scan_of(cases[0]);
  ThreadPool threads(2);
  Compute options = compute_on("opencl", "0", Precision::exact);
  const auto run = [&](ForwardReport& report) {
    std::vector<float> pictures(static_cast<std::size_t>(geometry.views() * geometry.rows * geometry.columns), -1.0f);
    report = forward_project(geometry, grid, volume.data(), pictures.data(), options, threads);
    return pictures;
  };
  ForwardReport whole, cut;
  const std::vector<float> expected = run(whole);
  EXPECT_EQ(whole.slabs, 1);
  options.devices = "0,0";
  EXPECT_EQ(run(cut), expected);
  options.devices = "0";
  options.device_memory_bytes = 1'000'000;
  EXPECT_EQ(run(cut), expected);
  EXPECT_GT(cut.slabs, 1);
  options.device_memory_bytes = 10'000;
  EXPECT_THROW(run(cut), Error);
}

TEST_F(OpenclProjector, refuses_slices_that_the_slab_does_not_hold) {
  const ForwardSlab slab{.cell0 = -1, .cell1 = 4, .first = 0, .last = 4};
  SlabPlanes planes(*device, context(), {{4, 4, 4}, {2, 2, 2}}, slab, {1}, Precision::exact, *queue);
  EXPECT_THROW(planes.store(nullptr, 3, 2, *queue), Error);
}

}  // namespace
}  // namespace lepus::opencl
