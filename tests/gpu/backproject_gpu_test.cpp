// SPDX-License-Identifier: Apache-2.0
// CUDA backprojection against the double-precision formulas, every kernel, and the same bits for every cut.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "device/cuda/backproject.h"
#include "device/cuda/cuda_check.h"
#include "geometry/camera.h"
#include "need_device.h"
#include "project/detector_point.h"
#include "project/interpolate.h"
#include <lepus/error.h>

namespace lepus::cuda {
namespace {

struct Case {
  std::string name;
  ScanGeometry geometry;
  VolumeGrid grid;
  TexelKind fast, half;  // what the symmetry of the case allows
};

CircularScan small_scan(std::int64_t views) {
  CircularScan scan;
  scan.source_axis_mm = 100;
  scan.source_detector_mm = 160;
  scan.columns = 61;
  scan.rows = 47;
  scan.pixel_width_mm = scan.pixel_height_mm = 1;
  for (std::int64_t i = 0; i < views; ++i)
    scan.angles_rad.push_back(0.1 + 2 * pi * static_cast<double>(i) / static_cast<double>(views));
  return scan;
}

std::vector<Case> cases() {
  const auto grid = [](std::int64_t nx, std::int64_t ny, std::int64_t nz) {
    return centred_grid(nx, ny, nz, {1, 1, 1});
  };
  std::vector<Case> all;
  const auto add = [&](std::string name, const CircularScan& scan, const VolumeGrid& g, TexelKind fast,
                       TexelKind half) {
    all.push_back({std::move(name), build_scan(scan), g, fast, half});
  };
  using enum TexelKind;
  add("quads, odd grid", small_scan(40), grid(33, 33, 29), float2, half4);
  add("quads, even grid", small_scan(40), grid(32, 32, 30), float2, half4);
  add("pairs, odd grid", small_scan(38), grid(23, 27, 17), float2, half2);
  add("pairs, even grid", small_scan(38), grid(22, 28, 33), float2, half2);
  add("no symmetry", small_scan(37), grid(22, 28, 33), float1, half1);
  CircularScan fine = small_scan(40);  // voxels of 2.7 pixels, larger than the detector's view
  fine.pixel_width_mm = fine.pixel_height_mm = 0.6;
  add("quads, coarse voxels", fine, grid(33, 33, 29), float2, half4);
  add("pairs, coarse voxels", fine, grid(40, 33, 29), float2, half2);
  add("one voxel", small_scan(40), grid(1, 1, 1), float2, half4);

  CircularScan irregular = small_scan(40);
  std::mt19937 random(3);
  std::uniform_real_distribution<double> off(-1.0, 1.0);
  for (int i = 0; i < 40; ++i)
    irregular.perturbations.push_back({.source_mm = {off(random), off(random), off(random)},
                                       .detector_mm = {off(random), off(random), off(random)},
                                       .in_plane_rad = 0.05 * off(random),
                                       .pitch_rad = 0.05 * off(random),
                                       .yaw_rad = 0.05 * off(random),
                                       .angle_rad = 0.02 * off(random)});
  add("irregular", irregular, grid(33, 35, 21), float1, half1);
  CircularScan more = irregular;  // more views than one launch takes
  more.angles_rad.clear();
  more.perturbations.clear();
  for (int i = 0; i < 300; ++i) more.angles_rad.push_back(0.0213 * i);
  more.in_plane_rad = 0.02;
  add("300 views", more, grid(17, 16, 18), float1, half1);

  CircularScan near = small_scan(40);  // the source passes through the volume's corners
  near.source_axis_mm = 20;
  near.source_detector_mm = 60;
  add("voxels behind the source", near, grid(33, 33, 9), float2, half4);
  near.pitch_rad = 0.02;
  add("voxels behind the source, tilted", near, grid(33, 33, 9), float1, half1);

  CircularScan fan = small_scan(40);
  fan.beam = Beam::fan;
  add("fan", fan, grid(33, 33, 29), float2, half4);
  CircularScan parallel = small_scan(40);
  parallel.beam = Beam::parallel;
  add("parallel", parallel, grid(33, 33, 29), float2, half4);
  parallel.in_plane_rad = 0.03;
  add("parallel, tilted", parallel, grid(33, 33, 29), float1, half1);
  return all;
}

// Smooth, and nearly zero at the detector's edge, so that neighbouring pixels (zeros outside included) differ by at
// most `steepest`: 1-D factors of at most 1 with slopes of at most 0.16 and 0.19 per pixel.
constexpr double steepest = 0.2;
float pixel(const ScanGeometry& g, std::int64_t view, std::int64_t column, std::int64_t row) {
  const auto wave = [](std::int64_t i, std::int64_t n, double shift) {
    const double edge = std::sin(pi * (static_cast<double>(i) + 1) / (static_cast<double>(n) + 1));
    return edge * (0.6 + 0.4 * std::sin(0.25 * static_cast<double>(i) + shift));
  };
  const double shift = 0.3 * static_cast<double>(view);
  return static_cast<float>(wave(column, g.columns, shift) * wave(row, g.rows, 2 * shift));
}

std::vector<float> all_pixels(const ScanGeometry& g, const std::vector<std::int64_t>& order) {
  std::vector<float> data;
  for (const auto view : order)
    for (std::int64_t row = 0; row < g.rows; ++row)
      for (std::int64_t column = 0; column < g.columns; ++column) data.push_back(pixel(g, view, column, row));
  return data;
}

struct Truth {
  std::vector<double> value, weight;  // weight: sum of 1/w^2 over the views that see the voxel
  std::vector<double> rounding;       // the same, times what dividing by w < 1 makes of a rounded numerator
};
Truth truth_of(const Case& c, Interpolation interpolation) {
  Truth truth;
  const auto& g = c.geometry;
  std::vector<Matrix34> matrices;
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < g.views(); ++i) order.push_back(i);
  for (const auto& m : g.matrices) matrices.push_back(in_voxel_indices(m, c.grid));
  const auto pixels = all_pixels(g, order);
  for (std::int64_t z = 0; z < c.grid.nz; ++z)
    for (std::int64_t y = 0; y < c.grid.ny; ++y)
      for (std::int64_t x = 0; x < c.grid.nx; ++x) {
        double value = 0, weight = 0, rounding = 0;
        for (std::size_t i = 0; i < matrices.size(); ++i) {
          const auto p = detector_point(matrices[i].m.data(), g.beam, static_cast<double>(x), static_cast<double>(y),
                                        static_cast<double>(z));
          if (!in_front_of_source(p.w)) continue;
          const double w = distance_weight(g.beam, p.w);
          const double s =
              sample(interpolation, g.columns, g.rows, p.u, p.v, [&](std::int64_t column, std::int64_t row) {
                return pixels[(i * static_cast<std::size_t>(g.rows) + static_cast<std::size_t>(row)) *
                                  static_cast<std::size_t>(g.columns) +
                              static_cast<std::size_t>(column)];
              });
          value += w * s;
          // Only views whose detector the voxel comes near can be wrong about it.
          if (p.u > -2 && p.v > -2 && p.u < static_cast<double>(g.columns + 1) && p.v < static_cast<double>(g.rows + 1))
            weight += w, rounding += g.beam == Beam::parallel ? w : w / std::min(p.w, 1.0);
        }
        truth.value.push_back(value);
        truth.weight.push_back(weight);
        truth.rounding.push_back(rounding);
      }
  return truth;
}

struct Cut {
  std::vector<std::int64_t> slabs;   // ends of slabs, the last is nz
  std::vector<std::int64_t> wedges;  // ends of wedges in groups of views; views beyond the last end follow in one
  bool bands = false;                // stores hold only the rows that a slab needs
};

class DeviceRun {
public:
  DeviceRun(const Case& c, Precision precision, Interpolation interpolation)
      : c_(c), backprojection_(c.geometry, c.grid, precision, interpolation) {
    const auto data = all_pixels(c.geometry, backprojection_.view_order());
    pixels_ = DeviceBuffer<float>(static_cast<std::int64_t>(data.size()));
    copy_to_device(pixels_.data(), data.data(), data.size() * sizeof(float), "copy");
  }
  const Backprojection& backprojection() const { return backprojection_; }

  // One slab at a time, each in memory of its own that holds NaNs beyond it.
  std::vector<float> volume(const Cut& cut) const {
    const std::int64_t slice = c_.grid.nx * c_.grid.ny, guard = 64;
    std::vector<float> all;
    std::int64_t z0 = 0;
    for (const auto z1 : cut.slabs) {
      const std::int64_t size = (z1 - z0) * slice;
      std::vector<float> host(static_cast<std::size_t>(size + 2 * guard), std::numeric_limits<float>::quiet_NaN());
      std::fill(host.begin() + guard, host.end() - guard, 0.0f);
      DeviceBuffer<float> slab(size + 2 * guard);
      copy_to_device(slab.data(), host.data(), host.size() * sizeof(float), "copy");
      add_views(cut, {slab.data() + guard, z0, z1});
      check(cudaMemcpy(host.data(), slab.data(), host.size() * sizeof(float), cudaMemcpyDeviceToHost), "copy");
      for (std::int64_t i = 0; i < guard; ++i)
        EXPECT_TRUE(std::isnan(host[static_cast<std::size_t>(i)]) &&
                    std::isnan(host[static_cast<std::size_t>(size + guard + i)]))
            << "written outside the slab";
      all.insert(all.end(), host.begin() + guard, host.end() - guard);
      z0 = z1;
    }
    return all;
  }

private:
  void add_views(const Cut& cut, const Backprojection::Slab& slab) const {
    const auto& g = c_.geometry;
    const std::int64_t block = backprojection_.view_block(), views = g.views();
    std::vector<std::int64_t> ends;
    for (const auto end : cut.wedges)
      if (end * block < views) ends.push_back(end * block);
    ends.push_back(views);
    std::int64_t first = 0;
    for (const auto end : ends) {
      const auto [row0, row1] = cut.bands ? rows_of(slab) : std::pair<std::int64_t, std::int64_t>{0, g.rows};
      ViewTextures store(backprojection_.store_shape(end - first, row1 - row0));
      store.set_scale(half_scale(1.0f));
      for (std::int64_t i = 0; i < end - first; ++i) store.set_first_row(i, row0);
      const ViewTextures::Source source{.data = pixels_.data() + first * g.columns * g.rows + row0 * g.columns,
                                        .row_stride = g.columns,
                                        .view_stride = g.columns * g.rows};
      store.store(source, 0, end - first, row0, row1 - row0, stream_.get());
      backprojection_.accumulate({&store, 0, first, end - first}, slab, stream_.get());
      stream_.synchronize();
      first = end;
    }
  }

  // Rows that the slab's corners reach in any view, with the taps around them.
  std::pair<std::int64_t, std::int64_t> rows_of(const Backprojection::Slab& slab) const {
    double low = 1e9, high = -1e9;
    for (const auto& matrix : c_.geometry.matrices) {
      const Matrix34 m = in_voxel_indices(matrix, c_.grid);
      for (int corner = 0; corner < 8; ++corner) {
        const auto p =
            detector_point(m.m.data(), c_.geometry.beam, static_cast<double>(corner & 1 ? c_.grid.nx - 1 : 0),
                           static_cast<double>(corner & 2 ? c_.grid.ny - 1 : 0),
                           static_cast<double>(corner & 4 ? slab.z1 - 1 : slab.z0));
        if (!in_front_of_source(p.w)) return {0, c_.geometry.rows};
        low = std::min(low, p.v);
        high = std::max(high, p.v);
      }
    }
    const auto limit = [&](double row) {
      return std::clamp(static_cast<std::int64_t>(std::floor(row)), std::int64_t{0}, c_.geometry.rows);
    };
    const std::int64_t first = std::min(limit(low - 2), c_.geometry.rows - 1);
    return {first, std::max(limit(high + 4), first + 1)};
  }

  const Case& c_;
  Backprojection backprojection_;
  DeviceBuffer<float> pixels_;
  Stream stream_;
};

class BackprojectGpu : public ::testing::Test {
protected:
  void SetUp() override { NEED_DEVICE(); }
};

// What single precision leaves of a sum of values of at most 1: numerators of at most 64 pixels are off by a few units
// in the last place (64 * 2^-24 each; over w for the coordinate), the sum by a rounding per view, of which most cancel.
double exact_error() { return 8 * 64 * std::ldexp(1.0, -24) * steepest + 20 * std::ldexp(1.0, -24); }

void expect_close(const std::vector<float>& volume, const Truth& truth, double error_per_view, double taps_error,
                  const std::string& name) {
  ASSERT_EQ(volume.size(), truth.value.size());
  double worst = 0;
  for (std::size_t i = 0; i < volume.size(); ++i) {
    const double limit = truth.weight[i] * error_per_view + truth.rounding[i] * taps_error + 1e-12;
    const double share = std::abs(volume[i] - truth.value[i]) / limit;
    worst = std::isfinite(share) ? std::max(worst, share) : 1e300;
  }
  EXPECT_LE(worst, 1.0) << name << ": error over its limit";
  EXPECT_GT(*std::max_element(truth.value.begin(), truth.value.end()), 0.0) << name << ": an empty case";
}

TEST_F(BackprojectGpu, AgreesWithDoublePrecision) {
  for (const auto& c : cases()) {
    const Truth truth = truth_of(c, Interpolation::linear);
    // Weights of 8 bits are off by at most 1/512 in each direction; fp16 keeps 11 bits.
    const double weights = 2 * steepest / 512, half = std::ldexp(1.0, -11);
    struct {
      Precision precision;
      TexelKind kind;
      double error;
    } const runs[] = {{Precision::exact, TexelKind::gather, 0},
                      {Precision::fast, c.fast, weights},
                      {Precision::half, c.half, weights + half}};
    for (const auto& r : runs) {
      const DeviceRun run(c, r.precision, Interpolation::linear);
      EXPECT_EQ(run.backprojection().texel_kind(), r.kind) << c.name;
      expect_close(run.volume({.slabs = {c.grid.nz}, .wedges = {}}), truth, r.error, exact_error(),
                   c.name + ", " + run.backprojection().description());
    }
  }
}

TEST_F(BackprojectGpu, CubicAgreesWithDoublePrecision) {
  for (const auto& c : cases()) {
    const Truth truth = truth_of(c, Interpolation::cubic);
    const DeviceRun run(c, Precision::half, Interpolation::cubic);
    // The cubic kernel's slopes are up to 1.5 times steeper, and its weights add up to 1.25 in absolute value, each
    // way.
    expect_close(run.volume({.slabs = {c.grid.nz}, .wedges = {}}), truth, 0, 2 * exact_error(), c.name + ", cubic");
  }
}

// Nearest may take the neighbouring pixel where a coordinate lies half-way; those differ by at most `steepest` in each
// direction, and it must be rare.
TEST_F(BackprojectGpu, NearestAgreesWithDoublePrecision) {
  for (const auto& c : cases()) {
    const Truth truth = truth_of(c, Interpolation::nearest);
    const DeviceRun run(c, Precision::fast, Interpolation::nearest);
    const auto volume = run.volume({.slabs = {c.grid.nz}, .wedges = {}});
    std::size_t other = 0;
    for (std::size_t i = 0; i < volume.size(); ++i)
      if (!(std::abs(volume[i] - truth.value[i]) <= truth.rounding[i] * exact_error() + 1e-12)) ++other;
    EXPECT_LE(other, volume.size() / 50 + 1) << c.name;
    expect_close(volume, truth, 2 * steepest, exact_error(), c.name + ", nearest");
  }
}

TEST_F(BackprojectGpu, SameBitsForEveryCut) {
  for (const auto& c : cases())
    for (const auto precision : {Precision::exact, Precision::fast, Precision::half})
      for (const auto interpolation : {Interpolation::linear, Interpolation::cubic}) {
        if (interpolation == Interpolation::cubic && precision != Precision::exact) continue;
        const DeviceRun run(c, precision, interpolation);
        const auto whole = run.volume({.slabs = {c.grid.nz}, .wedges = {}});
        const std::vector<std::int64_t> slabs{std::min<std::int64_t>(3, c.grid.nz),
                                              std::min<std::int64_t>(16, c.grid.nz), c.grid.nz};
        const bool linear = interpolation == Interpolation::linear;
        for (const Cut& cut : {Cut{.slabs = slabs, .wedges = {}, .bands = false},
                               Cut{.slabs = {c.grid.nz}, .wedges = {1, 5}, .bands = false},
                               Cut{.slabs = slabs, .wedges = {2}, .bands = linear}})
          EXPECT_EQ(run.volume(cut), whole) << c.name << ", " << run.backprojection().description();
      }
}

TEST_F(BackprojectGpu, TooMuchMemoryIsAnErrorThatSaysSo) {
  try {
    const DeviceBuffer<float> buffer(std::int64_t{1} << 45);
    FAIL() << "128 TiB were allocated";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::memory);
    EXPECT_NE(std::string(e.what()).find("free"), std::string::npos) << e.what();
  }
  const DeviceBuffer<float> buffer(1024);  // the failure is forgotten
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

}  // namespace
}  // namespace lepus::cuda
