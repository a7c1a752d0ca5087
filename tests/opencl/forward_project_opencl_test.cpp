// SPDX-License-Identifier: Apache-2.0
// Joseph's projector of the backend opencl against the double-precision one, on the cases of the other projectors.
#include <cmath>
#include <cstring>

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

  // In slabs of at most so many slices; the sums lie between sentinels.
  std::vector<float> projected(const ForwardJob& job, Precision precision, std::int64_t slices) {
    constexpr std::int64_t around = 64;
    const auto views = static_cast<std::int64_t>(job.views.size());
    std::vector<float> sums(static_cast<std::size_t>(views * job.pixels() + 2 * around), -12345.0f);
    const auto bytes = static_cast<std::int64_t>(sums.size() * sizeof(float));
    const Block out = device->allocate(bytes);
    auto* const first = reinterpret_cast<float*>(out.get());
    device->copy(first, sums.data(), bytes, *queue);
    for (const ForwardSlab& slab : forward_slabs(job.grid, slices)) {
      SlabPlanes planes(*device, context(), job.grid, slab, {0, 1, 2}, precision, *queue);
      const std::int64_t count = slab.last - slab.first, floats = count * job.slice_voxels();
      const Block voxels = device->allocate(4 * floats);
      device->copy(voxels.get(), job.volume + slab.first * job.slice_voxels(), 4 * floats, *queue);
      planes.store(reinterpret_cast<const float*>(voxels.get()), slab.first, count, *queue);
      planes.project(job.views, job.columns, job.rows, first + around, slab.cell0 >= 0, *queue);
    }
    device->copy(sums.data(), first, bytes, *queue);
    for (std::size_t i = 0; i < around; ++i)
      EXPECT_TRUE(sums[i] == -12345.0f && sums[sums.size() - 1 - i] == -12345.0f) << "written beside the sums";
    return {sums.begin() + around, sums.end() - around};
  }

  static VolumeGrid grid_of(const forward_cases::Case& c) { return centred_grid(c.nx, c.ny, c.nz, c.step); }
};

TEST_F(OpenclProjector, is_as_near_to_the_reference_as_single_precision_can_be) {
  for (const auto& c : cases) {
    const VolumeGrid grid = grid_of(c);
    const std::vector<float> volume = forward_cases::random_volume(grid);
    const ForwardJob job = forward_job(forward_cases::scan_of(c), grid, volume.data(), nullptr);
    const std::vector<float> got = projected(job, Precision::exact, 1 << 20);
    std::size_t at = 0, seen = 0;
    for (const JosephView& view : job.views)
      for (std::int64_t v = 0; v < job.rows; ++v)
        for (std::int64_t u = 0; u < job.columns; ++u, ++at) {
          const JosephLine line = joseph_line(view, job.grid, static_cast<double>(u), static_cast<double>(v));
          const double expected = reference_line_integral(job, line);
          ASSERT_TRUE(std::abs(static_cast<double>(got[at]) - expected) <=
                      forward_cases::single_precision_limit(line, job.grid))
              << c.name << ", ray " << at << ": " << got[at] << " instead of " << expected;
          seen += expected > 0;
        }
    EXPECT_GT(seen, at / 20) << c.name;
  }
}

// A sampler may weigh with 8 bits: each sample is then off by up to 1/256 of what neighbours differ by (1), on two
// axes.
TEST_F(OpenclProjector, weighs_with_the_sampler_to_its_8_bits) {
  for (const auto& c : cases) {
    const VolumeGrid grid = grid_of(c);
    const std::vector<float> volume = forward_cases::random_volume(grid);
    const ForwardJob job = forward_job(forward_cases::scan_of(c), grid, volume.data(), nullptr);
    const std::vector<float> got = projected(job, Precision::fast, 1 << 20);
    std::size_t at = 0;
    for (const JosephView& view : job.views)
      for (std::int64_t v = 0; v < job.rows; ++v)
        for (std::int64_t u = 0; u < job.columns; ++u, ++at) {
          const JosephLine line = joseph_line(view, job.grid, static_cast<double>(u), static_cast<double>(v));
          const double limit = forward_cases::single_precision_limit(line, job.grid) +
                               line.way_mm * (line.last - line.first) * 2.0 / 256;
          ASSERT_TRUE(std::abs(static_cast<double>(got[at]) - reference_line_integral(job, line)) <= limit)
              << c.name << ", ray " << at;
        }
  }
}

TEST_F(OpenclProjector, gives_the_same_bits_for_every_cut_into_slabs) {
  for (const auto& c : cases)
    for (const Precision precision : {Precision::exact, Precision::fast}) {
      const VolumeGrid grid = grid_of(c);
      const std::vector<float> volume = forward_cases::random_volume(grid);
      const ForwardJob job = forward_job(forward_cases::scan_of(c), grid, volume.data(), nullptr);
      const std::vector<float> whole = projected(job, precision, 1 << 20);
      for (const std::int64_t slices : {2, 7}) {
        const std::vector<float> parts = projected(job, precision, slices);
        ASSERT_EQ(std::memcmp(parts.data(), whole.data(), whole.size() * sizeof(float)), 0) << c.name << ", " << slices;
      }
    }
}

// The limit sees an error: a volume that is moved by one voxel fails.
TEST_F(OpenclProjector, fails_the_limit_where_the_volume_is_off) {
  const VolumeGrid grid = grid_of(cases[0]);
  std::vector<float> volume = forward_cases::random_volume(grid);
  const ForwardJob job = forward_job(forward_cases::scan_of(cases[0]), grid, volume.data(), nullptr);
  const std::vector<float> right = projected(job, Precision::exact, 1 << 20);
  std::rotate(volume.begin(), volume.begin() + 1, volume.end());
  const std::vector<float> wrong = projected(job, Precision::exact, 1 << 20);
  const JosephLine line = joseph_line(job.views[0], job.grid, 12, 10);
  const std::size_t at = static_cast<std::size_t>(10 * job.columns + 12);
  EXPECT_FALSE(std::abs(static_cast<double>(wrong[at] - right[at])) <=
               forward_cases::single_precision_limit(line, job.grid));
}

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
