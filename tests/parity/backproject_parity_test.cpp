// SPDX-License-Identifier: Apache-2.0
// Backprojection: the CPU backend on every SIMD target against the double-precision reference.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "device/host/cpu_backend.h"
#include "harness.h"

namespace lepus::parity {
namespace {

// Under qemu every voxel counts: LEPUS_PARITY_TARGET names one target to try alone, LEPUS_PARITY_UPDATES leaves out the
// cases with more voxel updates than that.
std::vector<std::string> targets() {
  if (const char* chosen = std::getenv("LEPUS_PARITY_TARGET")) return {chosen};
  return cpu_targets();
}

std::vector<Case> cases() {
  std::vector<Case> chosen = all_cases();
  if (const char* most = std::getenv("LEPUS_PARITY_UPDATES")) {
    const std::size_t left_out = std::erase_if(
        chosen, [most](const Case& c) { return c.grid.voxels() * c.geometry.views() > std::atoll(most); });
    std::printf("%zu cases, %zu larger ones left out\n", chosen.size(), left_out);
  }
  EXPECT_FALSE(chosen.empty());
  return chosen;
}

// scripts/cross reads this line, to know that what it made qemu imitate is what ran.
void print_targets(const std::set<std::string>& ran) {
  std::string line = "SIMD targets that ran:";
  for (const std::string& target : ran) line += " " + target;
  line += "; this machine has, the best first:";
  for (const std::string& target : cpu_targets()) line += " " + target;
  std::puts(line.c_str());
}

class Backproject : public ::testing::TestWithParam<Interpolation> {};

TEST_P(Backproject, EveryTargetAgreesWithTheReferenceOnEveryCase) {
  const Interpolation interpolation = GetParam();
  double worst_rms = 0, worst = 0;
  std::set<std::string> ran;
  for (const Case& c : cases()) {
    const Views views(c.geometry, whole_views(c.geometry));
    const auto reference_kernel = make_backend("reference")->make_backprojector(c.geometry, c.grid, interpolation);
    const auto reference = backproject(*reference_kernel, c.grid, views, {});
    for (const auto& target : targets()) {
      const auto kernel = make_cpu_backend(target)->make_backprojector(c.geometry, c.grid, interpolation);
      const auto volume = backproject(*kernel, c.grid, views, {});
      EXPECT_EQ(last_cpu_target(), target) << "another target ran than was asked for";
      ran.insert(last_cpu_target());
      const Difference d = difference(c, volume, reference, interpolation == Interpolation::nearest);
      EXPECT_TRUE(d.rms <= rms_bar) << c.name << ", " << target << ": " << d.rms;
      EXPECT_TRUE(d.largest <= largest_bar) << c.name << ", " << target << ": " << d.largest;
      worst_rms = std::max(worst_rms, d.rms);
      worst = std::max(worst, d.largest);
    }
  }
  RecordProperty("worst_rms", std::to_string(worst_rms));
  print_targets(ran);
  std::printf("worst of all cases: rms %.2e, largest %.2e\n", worst_rms, worst);
}

INSTANTIATE_TEST_SUITE_P(All, Backproject,
                         ::testing::Values(Interpolation::linear, Interpolation::cubic, Interpolation::nearest),
                         [](const auto& chosen) {
                           return chosen.param == Interpolation::linear  ? "linear"
                                  : chosen.param == Interpolation::cubic ? "cubic"
                                                                         : "nearest";
                         });

TEST(BackprojectChoice, KernelFollowsFromTheMatrices) {
  for (const Case& c : cases()) {
    const auto kernel = make_backend("cpu")->make_backprojector(c.geometry, c.grid, Interpolation::linear);
    EXPECT_TRUE(kernel->description().starts_with(c.kernel)) << c.name << ": " << kernel->description();
  }
}

TEST(BackprojectCuts, TheSameBitsForEverySlabWedgeAndNumberOfThreads) {
  for (const Case& c : cases()) {
    const Views views(c.geometry, whole_views(c.geometry));
    for (const auto& target : targets())
      for (const Interpolation interpolation : {Interpolation::linear, Interpolation::cubic}) {
        const auto kernel = make_cpu_backend(target)->make_backprojector(c.geometry, c.grid, interpolation);
        const auto whole = backproject(*kernel, c.grid, views, {});
        for (const Cut& cut :
             {Cut{16, 1 << 20, 2}, Cut{32, kernel->view_block(), 5}, Cut{1 << 20, kernel->view_block(), 1}}) {
          const auto parts = backproject(*kernel, c.grid, views, cut);
          EXPECT_EQ(std::memcmp(parts.data(), whole.data(), whole.size() * sizeof(float)), 0)
              << c.name << ", " << target << ": slabs of " << cut.slices << ", wedges of " << cut.views << ", "
              << cut.threads << " threads";
        }
      }
  }
}

// A few slices are summed along x instead of z, and any others in vectors that start before them: the bits of every
// voxel are those that it has in the whole volume, wherever the slab begins.
TEST_P(Backproject, AFewSlicesHaveTheBitsOfTheWholeVolume) {
  for (const Case& c : cases()) {
    const Views views(c.geometry, whole_views(c.geometry));
    for (const auto& target : targets()) {
      const auto kernel = make_cpu_backend(target)->make_backprojector(c.geometry, c.grid, GetParam());
      const auto whole = backproject(*kernel, c.grid, views, {});
      for (const std::int64_t slices : {1, 2, 3, 4, 7, 13}) {
        const auto parts = backproject(*kernel, c.grid, views, {slices, 1 << 20, 1});
        const auto differ = std::mismatch(whole.begin(), whole.end(), parts.begin(),
                                          [](float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; });
        const std::int64_t at = differ.first - whole.begin();
        ASSERT_TRUE(differ.first == whole.end())
            << c.name << ", " << target << ": slabs of " << slices << ", voxel " << at % c.grid.nx << ", "
            << at / c.grid.nx % c.grid.ny << ", " << at / (c.grid.nx * c.grid.ny) << " is " << *differ.second
            << " instead of " << *differ.first;
      }
    }
  }
}

// A slab that holds only its row band gives, inside the cylinder the band was made for, what whole views give.
TEST(BackprojectBands, NarrowBandsAreEnough) {
  for (const Case& c : cases()) {
    const double radius = std::min(field_of_view_radius_mm(c.geometry), 60.0);
    const auto kernel = make_backend("cpu")->make_backprojector(c.geometry, c.grid, Interpolation::linear);
    const auto whole = backproject(*kernel, c.grid, Views(c.geometry, whole_views(c.geometry)), {});
    std::vector<RowBand> bands;
    for (std::int64_t view = 0; view < c.geometry.views(); ++view)
      bands.push_back(
          row_band(c.geometry, view, c.grid, radius, 0, c.grid.nz, interpolation_margin(Interpolation::linear)));
    const auto narrow = backproject(*kernel, c.grid, Views(c.geometry, bands), {});
    for (std::int64_t z = 0, i = 0; z < c.grid.nz; ++z)
      for (std::int64_t y = 0; y < c.grid.ny; ++y)
        for (std::int64_t x = 0; x < c.grid.nx; ++x, ++i) {
          const Vec3 p = c.grid.centre(static_cast<double>(x), static_cast<double>(y), 0);
          if (std::hypot(p.x, p.y) > radius) continue;
          ASSERT_EQ(narrow[static_cast<std::size_t>(i)], whole[static_cast<std::size_t>(i)])
              << c.name << " " << x << " " << y << " " << z;
        }
  }
}

}  // namespace
}  // namespace lepus::parity
