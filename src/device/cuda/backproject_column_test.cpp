// SPDX-License-Identifier: Apache-2.0
// The formulas that the CUDA kernels use, run on the host: against project/detector_point.h in double precision. Needs
// no device.
#include "device/cuda/backproject_column.h"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "device/host/orbit.h"
#include "device/cuda/orbit_views.h"
#include "device/cuda/view_textures.h"
#include "geometry/camera.h"

namespace lepus::cuda {
namespace {

ScanGeometry scan(std::int64_t views, Beam beam, double tilt_rad) {
  CircularScan s;
  s.beam = beam;
  s.source_axis_mm = 100;
  s.source_detector_mm = 160;
  s.columns = 61;
  s.rows = 47;
  s.pixel_width_mm = s.pixel_height_mm = 1;
  s.in_plane_rad = tilt_rad;
  s.pitch_rad = beam == Beam::cone ? tilt_rad : 0.0;
  for (std::int64_t i = 0; i < views; ++i)
    s.angles_rad.push_back(0.1 + 2 * pi * static_cast<double>(i) / static_cast<double>(views));
  return build_scan(s);
}

ViewOnDevice on_device(const Matrix34& m) {
  ViewOnDevice view{};
  for (int j = 0; j < 4; ++j) {
    view.u[j] = static_cast<float>(m(0, j));
    view.v[j] = static_cast<float>(m(1, j));
    view.w[j] = static_cast<float>(m(2, j));
  }
  return view;
}

// Coordinates of up to 64 pixels from sums of four products in single precision: a few units of 64 * 2^-24.
constexpr double pixel_error = 8 * 64.0 / (1 << 24);

template <Beam beam>
void expect_points(double tilt_rad) {
  const auto geometry = scan(12, beam, tilt_rad);
  const auto grid = centred_grid(33, 35, 40, {1, 1, 1});
  const float shift = 0.5f, gain = 0.25f;
  for (const auto& matrix : geometry.matrices) {
    const Matrix34 m = in_voxel_indices(matrix, grid);
    const ViewOnDevice view = on_device(m);
    for (const int z : {0, 8, 32})
      for (int step = 0; step < 8; ++step) {
        const float x = 3, y = 29;
        const auto expected = detector_point(m.m.data(), beam, double{x}, double{y}, static_cast<double>(z + step));
        const double weight = beam == Beam::parallel ? gain : distance_weight(beam, expected.w);
        const auto p = general_point<beam>(view, chunk_start(view, x, y, static_cast<float>(z)),
                                           static_cast<float>(step), shift, gain);
        EXPECT_NEAR(p.u - shift, expected.u, pixel_error);
        EXPECT_NEAR(p.v - shift, expected.v, pixel_error);
        EXPECT_NEAR(p.weight, weight, 1e-6 * weight);
        EXPECT_TRUE(p.seen);
        if (tilt_rad != 0) continue;
        const auto column = upright_column<beam>(view, x, y, static_cast<float>(z), shift, gain);
        EXPECT_NEAR(column.u - shift, expected.u, pixel_error);
        EXPECT_NEAR(column.v + static_cast<float>(step) * column.v_step - shift, expected.v, pixel_error);
        EXPECT_NEAR(column.weight, weight, 1e-6 * weight);
      }
  }
}

TEST(BackprojectColumn, PointsAgreeWithDoublePrecision) {
  expect_points<Beam::cone>(0);
  expect_points<Beam::cone>(0.05);
  expect_points<Beam::fan>(0);
  expect_points<Beam::parallel>(0);
  expect_points<Beam::parallel>(0.05);
}

// Whatever is left out must be zero: no tap of any of its voxels may lie on the detector. And what is said to lie
// within must be left to the kernel's plain path.
TEST(BackprojectColumn, NothingSeenIsLeftOut) {
  std::mt19937 random(5);
  std::uniform_int_distribution<int> place(-60, 90);
  const auto grid = centred_grid(33, 35, 40, {1, 1, 1});
  int missed_chunks = 0, missed_boxes = 0, within = 0;
  for (const auto& beam_scan : {scan(12, Beam::cone, 0.05), scan(12, Beam::cone, 0.0)})
    for (const auto& matrix : beam_scan.matrices) {
      const Matrix34 m = in_voxel_indices(matrix, grid);
      ViewOnDevice view = on_device(m);
      view.first_row = 10;
      SlabOnDevice slab{};
      slab.columns = 61;
      slab.band_rows = 30;
      const SeenPart part = seen_part(view, slab);
      const auto touches = [&](double x, double y, double z) {
        const auto p = detector_point(m.m.data(), Beam::cone, x, y, z);
        return in_front_of_source(p.w) && p.u > -1 && p.u < 61 && p.v > 9 && p.v < 40;
      };
      for (int trial = 0; trial < 200; ++trial) {
        const int x = place(random), y = place(random), z = place(random);
        bool any = false, all = true;
        for (int k = 0; k < 8; ++k) any = any || touches(x, y, z + k);
        if (misses_detector<Beam::cone>(
                view, chunk_start(view, static_cast<float>(x), static_cast<float>(y), static_cast<float>(z)), 7,
                part)) {
          EXPECT_FALSE(any);
          ++missed_chunks;
        }
        any = false;
        for (int i = 0; i < 8 * 4 * 6; ++i) {
          const bool t = touches(x + i % 8, y + i / 8 % 4, z + i / 32);
          any = any || t;
          all = all && t;
        }
        const Box box{
            static_cast<float>(x) + 3.5f, static_cast<float>(y) + 1.5f, static_cast<float>(z) + 2.5f, 3.5f, 1.5f, 2.5f};
        const BoxView state = box_view<Beam::cone>(view, box, part);
        if (state == BoxView::missed) {
          EXPECT_FALSE(any);
          ++missed_boxes;
        } else if (state == BoxView::within)
          ++within;
        EXPECT_TRUE(!all || state != BoxView::missed);
      }
    }
  EXPECT_GT(missed_chunks, 1000);  // the shortcut is taken where it can be
  EXPECT_GT(missed_boxes, 1000);
  EXPECT_GT(within, 10);
}

// Member m of a group sees the voxel turned m times where member 0 sees the voxel.
TEST(BackprojectColumn, GroupsShareTheirCoordinates) {
  const auto grid = centred_grid(33, 33, 8, {1, 1, 1});
  const auto geometry = scan(40, Beam::cone, 0);
  for (const auto precision : {Precision::fast, Precision::half}) {
    const ViewLayout layout = lay_out_views(geometry, grid, precision, Interpolation::linear);
    EXPECT_EQ(layout.group, precision == Precision::fast ? 2 : 4);
    std::vector<bool> used(40, false);
    for (std::size_t i = 0; i < layout.order.size(); ++i) {
      EXPECT_FALSE(used[static_cast<std::size_t>(layout.order[i])]);
      used[static_cast<std::size_t>(layout.order[i])] = true;
      const auto group = static_cast<std::size_t>(layout.group);
      const ColumnIndex there = turned({5, 9}, grid, layout.group, static_cast<int>(i % group));
      const auto first = detector_point(layout.matrices[i / group * group].m.data(), Beam::cone, 5.0, 9.0, 3.0);
      const auto other = detector_point(layout.matrices[i].m.data(), Beam::cone, static_cast<double>(there.x),
                                        static_cast<double>(there.y), 3.0);
      EXPECT_NEAR(first.u, other.u, 1e-5);
      EXPECT_NEAR(first.v, other.v, 1e-5);
      EXPECT_NEAR(first.w, other.w, 1e-9);
      const Matrix34 own = in_voxel_indices(geometry.matrices[static_cast<std::size_t>(layout.order[i])], grid);
      EXPECT_EQ(own.m, layout.matrices[i].m);
    }
  }
}

TEST(BackprojectColumn, HalfScaleIsAPowerOfFourBelowOverflow) {
  for (const float largest : {1e-8f, 3e-4f, 0.7f, 1.0f, 2.0f, 5.0f, 4096.0f, 1e6f, 3e9f}) {
    const float scale = half_scale(largest);
    EXPECT_LE(largest * scale, 4096.0f);
    EXPECT_GE(largest * scale, 512.0f);
    EXPECT_EQ(std::fmod(std::log2(scale), 2.0f), 0.0f) << scale;
  }
  EXPECT_EQ(half_scale(0.0f), 1.0f);
  EXPECT_EQ(half_scale(std::nanf("")), 1.0f);
}

}  // namespace
}  // namespace lepus::cuda
