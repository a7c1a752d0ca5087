// SPDX-License-Identifier: Apache-2.0
// The projector on a GPU: against the double-precision one, and the same bits however views and volume are shared out.
#include <cstdio>
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

struct Deviation {
  double worst = 0, rms = 0;
  double largest = 0;  // line integral
  int planes = 0;      // most that a ray crosses
};

// How far the projections are from the reference's. No ray may be off by more than single precision and weight_error on
// both axes of a plane explain, with differences of neighbours up to 1.
Deviation deviation_from(const std::vector<float>& truth, const std::vector<float>& found, const ForwardJob& job,
                         double weight_error) {
  Deviation d;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(truth.size()); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const JosephLine line =
        joseph_line(job.views[static_cast<std::size_t>(i / job.pixels())], job.grid,
                    static_cast<double>(i % job.columns), static_cast<double>(i / job.columns % job.rows));
    const int planes = line.last - line.first;
    const double off = std::abs(static_cast<double>(found[at]) - static_cast<double>(truth[at]));
    const double most = single_precision_limit(line, job.grid) + line.way_mm * (planes + 1) * 2 * weight_error;
    if (!(off <= most)) {
      ADD_FAILURE() << "ray " << i << " of " << truth[at] << " is off by " << off << ", at most " << most;
      return d;
    }
    d.worst = std::max(d.worst, off);
    d.rms += off * off;
    d.largest = std::max(d.largest, static_cast<double>(truth[at]));
    d.planes = std::max(d.planes, planes);
  }
  d.rms = std::sqrt(d.rms / static_cast<double>(truth.size()));
  return d;
}

// The texture unit's weights have 8 bits. Even if it cut them off instead of rounding, errors would stay below half of
// what this allows for every ray (computed on the CPU): voxels are random, and no ray meets the worst at each plane.
constexpr double texture_weight_error = 1.0 / 512;

// Runs the case in both precisions; what is left to judge is `fast`.
Deviation deviation_of_fast(const Case& c) {
  SCOPED_TRACE(c.name);
  const ScanGeometry geometry = scan_of(c);
  const VolumeGrid grid = centred_grid(c.nx, c.ny, c.nz, c.step);
  const std::vector<float> volume = random_volume(grid);
  const std::vector<float> truth = project(geometry, grid, volume, {.backend = "reference"});
  const ForwardJob job = forward_job(geometry, grid, volume.data(), nullptr);
  const Deviation exact = deviation_from(truth, project(geometry, grid, volume, on_device(Precision::exact)), job, 0);
  const Deviation fast =
      deviation_from(truth, project(geometry, grid, volume, on_device(Precision::fast)), job, texture_weight_error);
  std::printf("%-28s largest %.3g, worst exact %.2e, fast %.2e, rms fast %.2e\n", c.name, fast.largest, exact.worst,
              fast.worst, fast.rms);
  return fast;
}

// The voxels are random: what the weights are off by has any sign, and grows with the root of the planes while the sum
// grows with their number. Measured on an H200, times root over the case's largest line integral: 6.6e-3 for the worst
// ray (parallel) and 1.3e-3 rms (source inside the volume, fan). Twice that is allowed.
constexpr double worst_share = 1.3e-2, rms_share = 2.6e-3;

TEST(forward_project_gpu, against_reference) {
  NEED_DEVICE();
  for (const Case& c : cases) {
    const Deviation fast = deviation_of_fast(c);
    const double scale = fast.largest / std::sqrt(fast.planes);
    EXPECT_LT(fast.worst, worst_share * scale) << c.name;
    EXPECT_LT(fast.rms, rms_share * scale) << c.name;
  }
}

TEST(forward_project_gpu, logical_devices_share_the_views) {
  NEED_DEVICE();
  for (const Precision precision : {Precision::exact, Precision::fast}) {
    const Case c{.name = "many views", .nx = 70, .ny = 50, .nz = 40, .columns = 90, .rows = 70};
    ScanGeometry geometry = scan_of(c);
    for (int i = 0; i < 100; ++i) geometry.matrices.push_back(geometry.matrices[static_cast<std::size_t>(i)]);
    const VolumeGrid grid = centred_grid(c.nx, c.ny, c.nz, c.step);
    const std::vector<float> volume = random_volume(grid), one = project(geometry, grid, volume, on_device(precision));
    for (const char* devices : {"0,0", "0,0,0", "0,0,0,0"})
      EXPECT_TRUE(same_bits(project(geometry, grid, volume, on_device(precision, devices)), one)) << devices;
  }
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

// More than 2048 planes on x: several sheets of layers where the texture unit weighs.
TEST(forward_project_gpu, long_axes) {
  NEED_DEVICE();
  const Deviation fast = deviation_of_fast(
      {.name = "long", .nx = 4100, .ny = 3, .nz = 5, .columns = 40, .rows = 12, .step = {0.01, 1, 1}});
  EXPECT_GT(fast.largest, 10);
  EXPECT_GT(fast.planes, 2 * 2048);
  // Planes taken from a wrong layer: 4100 random voxels of 0.01 mm instead of 4100 others, 0.2 off. Weights cut off
  // after 8 bits instead of rounded, in a computation of the same rays on the CPU: 0.035 for the worst of them.
  EXPECT_LT(fast.worst, 0.05);
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
