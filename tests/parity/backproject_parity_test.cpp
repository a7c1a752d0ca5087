// SPDX-License-Identifier: Apache-2.0
// Backprojection: the CPU backend on every SIMD target against the double-precision reference. Buffers are surrounded
// by values that must not be read (NaN) or written (a sentinel); comparisons are written so that NaN fails.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "backend/backend.h"
#include "backend/cpu/cpu_backend.h"
#include "cases.h"
#include "geometry/camera.h"
#include "geometry/row_band.h"

namespace lepus::parity {
namespace {

constexpr float sentinel = -12345.0F;
constexpr std::int64_t guard = 256;  // floats around every buffer

// Filtered views: structure and noise; everything around the rows that a view holds is NaN.
class Views {
public:
  Views(const ScanGeometry& geometry, const std::vector<RowBand>& held) : columns_(geometry.columns), held_(held) {
    std::int64_t highest = 1;
    for (const RowBand& band : held) highest = std::max(highest, band.size());
    stride_ = highest + 3;
    std::uint32_t state = 99;
    for (const RowBand& band : held) {
      std::vector<float> view(static_cast<std::size_t>(columns_ * stride_ + 2 * guard),
                              std::numeric_limits<float>::quiet_NaN());
      for (std::int64_t c = 0; c < columns_; ++c)
        for (std::int64_t r = 0; r < geometry.rows; ++r) {
          state = state * 1664525U + 1013904223U;  // drawn for every row, so that the values do not depend on the band
          const float value = std::sin(0.2F * static_cast<float>(c)) + static_cast<float>(state >> 8) * 0x1p-24F;
          if (r >= band.first && r < band.last)
            view[static_cast<std::size_t>(guard + c * stride_ + r - band.first)] = value;
        }
      data_.push_back(std::move(view));
    }
  }

  BandSet wedge(const Backprojector& b, std::int64_t first, std::int64_t count) const {
    BandSet set{first, stride_, {}};
    for (std::int64_t i = first; i < first + count; ++i) {
      const auto view = static_cast<std::size_t>(b.view_order()[static_cast<std::size_t>(i)]);
      set.bands.push_back({data_[view].data() + guard, held_[view].first, held_[view].size()});
    }
    return set;
  }

private:
  std::int64_t columns_, stride_ = 0;
  std::vector<RowBand> held_;
  std::vector<std::vector<float>> data_;
};

std::vector<RowBand> whole_views(const ScanGeometry& geometry) {
  return std::vector<RowBand>(static_cast<std::size_t>(geometry.views()), RowBand{0, geometry.rows});
}

struct Cut {
  std::int64_t slices = 1 << 20, views = 1 << 20;
  int threads = 1;
};

// The volume, x fastest; the slabs and wedges as `cut` has them.
std::vector<float> backproject(const Backprojector& b, const VolumeGrid& grid, const Views& views, const Cut& cut) {
  ThreadPool threads(cut.threads);
  const auto all = static_cast<std::int64_t>(b.view_order().size());
  std::vector<float> volume(static_cast<std::size_t>(grid.voxels()));
  for (std::int64_t z0 = 0; z0 < grid.nz; z0 += cut.slices) {
    const std::int64_t z1 = std::min(grid.nz, z0 + cut.slices);
    const std::int64_t stride = (z1 - z0 + slab_alignment - 1) / slab_alignment * slab_alignment;
    std::vector<float> buffer(static_cast<std::size_t>(grid.nx * grid.ny * stride + 2 * guard), sentinel);
    float* slab = buffer.data() + guard;
    std::fill(slab, slab + grid.nx * grid.ny * stride, 0.0F);
    for (std::int64_t first = 0; first < all; first += cut.views)
      b.accumulate(views.wedge(b, first, std::min(cut.views, all - first)), {slab, z0, z1, stride}, threads);
    for (std::int64_t i = 0; i < guard; ++i)
      if (buffer[static_cast<std::size_t>(i)] != sentinel ||
          buffer[buffer.size() - 1 - static_cast<std::size_t>(i)] != sentinel) {
        ADD_FAILURE() << "written outside the slab";
        break;
      }
    for (std::int64_t y = 0; y < grid.ny; ++y)
      for (std::int64_t x = 0; x < grid.nx; ++x)
        for (std::int64_t z = z0; z < z1; ++z)
          volume[static_cast<std::size_t>((z * grid.ny + y) * grid.nx + x)] = slab[(y * grid.nx + x) * stride + z - z0];
  }
  return volume;
}

// Whether some view sees the voxel so near to the border of two pixels that rounding may choose either.
bool near_a_border(const Case& c, std::int64_t x, std::int64_t y, std::int64_t z) {
  const auto near_half = [](double t) { return std::abs(t - std::floor(t) - 0.5) < 2e-3; };
  for (const Matrix34& matrix : c.geometry.matrices) {
    const Vec3 p =
        transform(matrix, c.grid.centre(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)));
    if (near_half(p.x / p.z) || near_half(c.geometry.beam == Beam::fan ? p.y : p.y / p.z)) return true;
  }
  return false;
}

struct Difference {
  double rms = 0, largest = 0;  // over the reference's rms, over its largest value
};

// Coordinates in single precision limit both: about 3e-6 and 1.4e-5 are expected, the project's bars are 1e-5 and 1e-4.
Difference difference(const Case& c, const std::vector<float>& a, const std::vector<float>& reference,
                      bool skip_borders) {
  double sum = 0, norm = 0, most = 0, peak = 0;
  for (std::int64_t z = 0, i = 0; z < c.grid.nz; ++z)
    for (std::int64_t y = 0; y < c.grid.ny; ++y)
      for (std::int64_t x = 0; x < c.grid.nx; ++x, ++i) {
        if (skip_borders && near_a_border(c, x, y, z)) continue;
        const double r = reference[static_cast<std::size_t>(i)],
                     d = static_cast<double>(a[static_cast<std::size_t>(i)]) - r;
        if (!(std::abs(d) <= most)) most = std::abs(d);
        sum += d * d;
        norm += r * r;
        peak = std::max(peak, std::abs(r));
      }
  return {norm > 0 ? std::sqrt(sum / norm) : std::sqrt(sum), peak > 0 ? most / peak : most};
}

class Backproject : public ::testing::TestWithParam<Interpolation> {};

TEST_P(Backproject, EveryTargetAgreesWithTheReferenceOnEveryCase) {
  const Interpolation interpolation = GetParam();
  double worst_rms = 0, worst = 0;
  for (const Case& c : all_cases()) {
    const Views views(c.geometry, whole_views(c.geometry));
    const auto reference_kernel = make_backend("reference")->make_backprojector(c.geometry, c.grid, interpolation);
    const auto reference = backproject(*reference_kernel, c.grid, views, {});
    for (const auto& target : cpu_targets()) {
      const auto kernel = make_cpu_backend(target)->make_backprojector(c.geometry, c.grid, interpolation);
      const auto volume = backproject(*kernel, c.grid, views, {});
      EXPECT_EQ(last_cpu_target(), target) << "another target ran than was asked for";
      const Difference d = difference(c, volume, reference, interpolation == Interpolation::nearest);
      EXPECT_TRUE(d.rms <= 1e-5) << c.name << ", " << target << ": " << d.rms;
      EXPECT_TRUE(d.largest <= 1e-4) << c.name << ", " << target << ": " << d.largest;
      worst_rms = std::max(worst_rms, d.rms);
      worst = std::max(worst, d.largest);
    }
  }
  RecordProperty("worst_rms", std::to_string(worst_rms));
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
  for (const Case& c : all_cases()) {
    const auto kernel = make_backend("cpu")->make_backprojector(c.geometry, c.grid, Interpolation::linear);
    EXPECT_TRUE(kernel->description().starts_with(c.kernel)) << c.name << ": " << kernel->description();
  }
}

TEST(BackprojectCuts, TheSameBitsForEverySlabWedgeAndNumberOfThreads) {
  for (const Case& c : all_cases()) {
    const Views views(c.geometry, whole_views(c.geometry));
    for (const Interpolation interpolation : {Interpolation::linear, Interpolation::cubic}) {
      const auto kernel = make_backend("cpu")->make_backprojector(c.geometry, c.grid, interpolation);
      const auto whole = backproject(*kernel, c.grid, views, {});
      for (const Cut& cut :
           {Cut{16, 1 << 20, 2}, Cut{32, kernel->view_block(), 5}, Cut{1 << 20, kernel->view_block(), 1}}) {
        const auto parts = backproject(*kernel, c.grid, views, cut);
        EXPECT_EQ(std::memcmp(parts.data(), whole.data(), whole.size() * sizeof(float)), 0)
            << c.name << ": slabs of " << cut.slices << ", wedges of " << cut.views << ", " << cut.threads
            << " threads";
      }
    }
  }
}

// A slab that holds only its row band gives, inside the cylinder the band was made for, what whole views give.
TEST(BackprojectBands, NarrowBandsAreEnough) {
  for (const Case& c : all_cases()) {
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
