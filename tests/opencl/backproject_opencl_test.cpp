// SPDX-License-Identifier: Apache-2.0
// Backprojection: the backend opencl against the double-precision reference, on the cases of the parity tests.
#include <cstdio>
#include <cstring>
#include <set>

#include "../parity/harness.h"
#include "opencl_backprojector.h"
#include "opencl_fixture.h"

namespace lepus::opencl {
namespace {

using namespace parity;

struct Operation {
  const char* name;
  Precision precision;
  Interpolation interpolation;
  double rms, largest;  // limits
};

// A device may weigh with 8 bits in its sampler, as CUDA's does; tests/parity/cuda_parity_test.cpp derives the limits.
constexpr double sampler_rms = 2e-3, sampler_largest = 5e-3;
const Operation operations[] = {
    {"exact", Precision::exact, Interpolation::linear, rms_bar, largest_bar},
    {"nearest", Precision::exact, Interpolation::nearest, rms_bar, largest_bar},
    {"cubic", Precision::exact, Interpolation::cubic, rms_bar, largest_bar},
    {"fast", Precision::fast, Interpolation::linear, sampler_rms, sampler_largest},
    {"half", Precision::half, Interpolation::linear, sampler_rms, sampler_largest},
};

// One of each kind of beam, orbit and grid, for what is run many times.
std::vector<Case> some_cases() {
  const std::set<std::string> names{"swaying C-arm",
                                    "parallel beam",
                                    "swaying fan",
                                    "general, slices far apart",
                                    "mirrored steps",
                                    "one voxel",
                                    "volume around the source",
                                    "one row, one fan",
                                    "several tiles"};
  std::vector<Case> cases = all_cases();
  std::erase_if(cases, [&](const Case& c) { return !names.contains(c.name); });
  EXPECT_EQ(cases.size(), names.size());
  return cases;
}

class OpenclBackprojection : public OpenclTest, public ::testing::WithParamInterface<Operation> {
protected:
  std::vector<float> volume_of(const Case& c, const Views& views, const Cut& cut = {}) {
    const auto kernel = make_backprojector(*device, c.geometry, c.grid, GetParam().precision, GetParam().interpolation);
    return backproject(*kernel, c.grid, views, cut);
  }
};

TEST_P(OpenclBackprojection, agrees_with_the_reference_on_every_case) {
  const Operation& o = GetParam();
  double worst_rms = 0, worst = 0;
  for (const Case& c : all_cases()) {
    const Views views(c.geometry, whole_views(c.geometry));
    const auto reference = backproject(
        *make_backend("reference")->make_backprojector(c.geometry, c.grid, o.interpolation), c.grid, views, {});
    const Difference d = difference(c, volume_of(c, views), reference, o.interpolation == Interpolation::nearest);
    EXPECT_TRUE(d.rms <= o.rms) << c.name << ": " << d.rms;
    EXPECT_TRUE(d.largest <= o.largest) << c.name << ": " << d.largest;
    worst_rms = std::max(worst_rms, d.rms);
    worst = std::max(worst, d.largest);
  }
  std::printf("%s, worst of all cases: rms %.2e, largest %.2e\n", o.name, worst_rms, worst);
}

TEST_P(OpenclBackprojection, gives_the_same_bits_for_every_slab_and_wedge) {
  for (const Case& c : some_cases()) {
    const Views views(c.geometry, whole_views(c.geometry));
    const auto whole = volume_of(c, views);
    for (const Cut& cut : {Cut{7, 1 << 20}, Cut{16, 5}}) {
      const auto parts = volume_of(c, views, cut);
      EXPECT_EQ(std::memcmp(parts.data(), whole.data(), whole.size() * sizeof(float)), 0)
          << c.name << ": slabs of " << cut.slices << ", wedges of " << cut.views;
    }
  }
}

// A slab that holds only its row band gives, inside the cylinder the band was made for, what whole views give.
TEST_P(OpenclBackprojection, needs_no_more_than_the_row_bands) {
  for (const Case& c : some_cases()) {
    const double radius = std::min(field_of_view_radius_mm(c.geometry), 60.0);
    const auto whole = volume_of(c, Views(c.geometry, whole_views(c.geometry)));
    std::vector<RowBand> bands;
    for (std::int64_t view = 0; view < c.geometry.views(); ++view)
      bands.push_back(
          row_band(c.geometry, view, c.grid, radius, 0, c.grid.nz, interpolation_margin(GetParam().interpolation)));
    const auto narrow = volume_of(c, Views(c.geometry, bands));
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

// Half where the device has it; where it has not, the kernel that ran says so.
TEST_F(OpenclTest, half_is_fp16_or_is_said_not_to_be) {
  const Case c = all_cases().front();
  const std::string ran =
      make_backprojector(*device, c.geometry, c.grid, Precision::half, Interpolation::linear)->description();
  EXPECT_TRUE(ran.find(context().images_work(CL_HALF_FLOAT) ? "fp16 pixels" : "no fp16 images") != std::string::npos)
      << ran;
}

// The limits see an error: views that are half a pixel off fail by far.
TEST_P(OpenclBackprojection, fails_the_limits_where_the_matrices_are_off) {
  Case c = all_cases().front();
  const Views views(c.geometry, whole_views(c.geometry));
  const auto right = volume_of(c, views);
  for (Matrix34& m : c.geometry.matrices)
    for (int j = 0; j < 4; ++j) m(0, j) += 0.5 * m(2, j);
  EXPECT_FALSE(difference(c, volume_of(c, views), right, false).rms <= GetParam().rms);
}

INSTANTIATE_TEST_SUITE_P(, OpenclBackprojection, ::testing::ValuesIn(operations),
                         [](const auto& chosen) { return chosen.param.name; });

}  // namespace
}  // namespace lepus::opencl
