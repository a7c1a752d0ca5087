// SPDX-License-Identifier: Apache-2.0
// Projections on a GPU of volumes that do not fit it, and from memory that it copies from fastest.
#include <cstring>

#include <gtest/gtest.h>

#include "device/cuda/device_memory.h"
#include "device/device.h"
#include "device/forward_project_cases_test.h"
#include "need_device.h"
#include <lepus/error.h>

namespace lepus {
namespace {

using namespace forward_cases;

std::vector<float> project(const ScanGeometry& geometry, const VolumeGrid& grid, const std::vector<float>& volume,
                           const Compute& options, std::int64_t* slabs = nullptr) {
  ThreadPool threads(2);
  std::vector<float> out(static_cast<std::size_t>(geometry.views() * geometry.rows * geometry.columns), NAN);
  const ForwardReport report = forward_project(geometry, grid, volume.data(), out.data(), options, threads);
  if (slabs != nullptr) *slabs = report.slabs;
  return out;
}

Compute on_device(Precision precision, const char* devices = "0", std::int64_t memory = 0) {
  return compute_on("cuda", devices, precision, memory);
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TEST(forward_project_gpu, slabs_give_the_same_bits) {
  NEED_DEVICE();
  Case c{.name = "tall", .nx = 512, .ny = 480, .nz = 90, .columns = 200, .rows = 180, .source_axis = 800};
  c.source_detector = 1100;
  c.pixel = 2.5;
  for (const double pitch : {0.0, 0.3}) {
    c.pitch = pitch;
    const ScanGeometry geometry = scan_of(c);
    const VolumeGrid grid = centred_grid(c.nx, c.ny, c.nz, c.step);
    const std::vector<float> volume = random_volume(grid);
    for (const Precision precision : {Precision::exact, Precision::fast}) {
      std::int64_t slabs = 0;
      const std::vector<float> whole = project(geometry, grid, volume, on_device(precision), &slabs);
      EXPECT_EQ(slabs, 1);
      for (const char* devices : {"0", "0,0,0"}) {
        // The fixed part is 128 MiB and the pictures; the rest holds some slices of 1 MiB on two axes.
        const std::int64_t memory = ((std::int64_t{145} << 20) + 2 * 7 * 200 * 180 * 4) * (devices[1] ? 3 : 1);
        const std::vector<float> cut = project(geometry, grid, volume, on_device(precision, devices, memory), &slabs);
        EXPECT_GT(slabs, 5);
        EXPECT_TRUE(same_bits(cut, whole)) << devices << ", pitch " << pitch;
      }
    }
  }
}

TEST(forward_project_gpu, pinned_memory_is_used_as_it_is) {
  NEED_DEVICE();
  const Case& c = cases[0];
  const ScanGeometry geometry = scan_of(c);
  const VolumeGrid grid = centred_grid(c.nx, c.ny, c.nz, c.step);
  const std::vector<float> volume = random_volume(grid),
                           usual = project(geometry, grid, volume, on_device(Precision::fast));
  const cuda::PinnedBuffer<float> in(grid.voxels()), out(static_cast<std::int64_t>(usual.size()));
  std::copy(volume.begin(), volume.end(), in.data());
  ThreadPool threads(1);
  forward_project(geometry, grid, in.data(), out.data(), on_device(Precision::fast), threads);
  EXPECT_EQ(std::memcmp(out.data(), usual.data(), usual.size() * sizeof(float)), 0);
}

TEST(forward_project_gpu, refuses_what_does_not_fit) {
  NEED_DEVICE();
  const Case& c = cases[0];
  const VolumeGrid grid = centred_grid(c.nx, c.ny, c.nz, c.step);
  const std::vector<float> volume = random_volume(grid);
  try {
    project(scan_of(c), grid, volume, on_device(Precision::fast, "0", std::int64_t{1} << 20));
    FAIL() << "1 MiB was enough";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::memory);
  }
}

}  // namespace
}  // namespace lepus
