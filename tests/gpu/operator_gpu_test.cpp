// SPDX-License-Identifier: Apache-2.0
// lepus::Operator on a GPU: arrays of the host in pieces, on one and on several logical devices, give the bits of the
// uncut work; arrays in the card's memory are used as they are.
#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "device/device.h"
#include "device/ray_projector_cases_test.h"
#include "device/test_values.h"
#include "need_device.h"
#include <lepus/operator.h>

namespace lepus {
namespace {

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

struct Pair {
  std::vector<float> lines, volume;
};

Pair both(const Operator& a, const std::vector<float>& x, const std::vector<float>& y) {
  Pair result{std::vector<float>(y.size(), NAN), std::vector<float>(x.size(), NAN)};
  a.forward(x, result.lines);
  a.adjoint(y, result.volume);
  return result;
}

const ray_cases::Case tall{.name = "tall",
                           .nx = 96,
                           .ny = 80,
                           .nz = 160,
                           .columns = 150,
                           .rows = 240,
                           .source_axis = 400,
                           .source_detector = 600,
                           .pixel = 1.3};

TEST(operator_gpu, pieces_and_logical_devices_give_the_same_bits) {
  NEED_DEVICE();
  const ScanGeometry geometry = ray_cases::scan_of(tall);
  const VolumeGrid grid = centred_grid(tall.nx, tall.ny, tall.nz, tall.step);
  const std::vector<float> x = random_values(grid.voxels(), 1),
                           y = random_values(geometry.views() * geometry.rows * geometry.columns, 2);
  for (const RayModel model : {RayModel::joseph, RayModel::siddon, RayModel::footprint, RayModel::voxel})
    for (const Precision precision : {Precision::exact, Precision::fast}) {
      const auto on = [&](const char* devices, std::int64_t memory) {
        return both(Operator(geometry, grid, {model, compute_on("cuda", devices, precision, memory)}), x, y);
      };
      const Pair whole = on("0", 0);
      // The volume alone takes 4.7 MiB, and as much again for each axis of planes.
      for (const std::int64_t memory : {std::int64_t{4} << 20, std::int64_t{9} << 20})
        for (const char* devices : {"0", "0,0,0"}) {
          const Pair cut = on(devices, memory);
          EXPECT_TRUE(same_bits(whole.lines, cut.lines)) << static_cast<int>(model) << ", " << devices;
          EXPECT_TRUE(same_bits(whole.volume, cut.volume)) << static_cast<int>(model) << ", " << devices;
        }
    }
}

TEST(operator_gpu, agrees_with_the_host) {
  NEED_DEVICE();
  const ray_cases::Case& c = ray_cases::cases[0];
  const ScanGeometry geometry = ray_cases::scan_of(c);
  const VolumeGrid grid = centred_grid(c.nx, c.ny, c.nz, c.step);
  const std::vector<float> x = random_values(grid.voxels(), 1),
                           y = random_values(geometry.views() * geometry.rows * geometry.columns, 2);
  for (const RayModel model : {RayModel::joseph, RayModel::siddon, RayModel::footprint, RayModel::voxel}) {
    const Pair host = both(Operator(geometry, grid, {model, compute_on("cpu")}), x, y);
    const Pair card = both(Operator(geometry, grid, {model, compute_on("cuda", "0", Precision::exact)}), x, y);
    const auto near = [&](const std::vector<float>& a, const std::vector<float>& b) {
      double squares = 0, norm = 0;
      for (std::size_t i = 0; i < a.size(); ++i) {
        const double expected = static_cast<double>(a[i]), off = static_cast<double>(b[i]) - expected;
        squares += off * off;
        norm += expected * expected;
      }
      EXPECT_LT(std::sqrt(squares / norm), 2e-5) << static_cast<int>(model);  // both compute in single precision
    };
    near(host.lines, card.lines);
    near(host.volume, card.volume);
  }
}

}  // namespace
}  // namespace lepus
