// SPDX-License-Identifier: Apache-2.0
// The operators on an OpenCL device: A' is the transpose of A, both agree with the host, and the same bits come out
// however the work is cut.
#include <cmath>

#include "opencl_fixture.h"
#include "operators/test_cuts.h"

namespace lepus::opencl {
namespace {

using namespace operator_cases;
using operators_opencl = DoublesTest;

struct Pair {
  std::vector<float> lines, volume;
};

Pair both(const ScanOperator& a) {
  Pair found{std::vector<float>(static_cast<std::size_t>(a.values()), NAN),
             std::vector<float>(static_cast<std::size_t>(a.grid().voxels()), NAN)};
  a.forward(operator_cases::random_values(a.grid().voxels(), 3).data(), found.lines.data(), ArrayPlace::host);
  a.adjoint(operator_cases::random_values(a.values(), 4).data(), found.volume.data(), ArrayPlace::host);
  return found;
}

OperatorOptions precisely(RayModel model, Precision precision, const char* devices = "0") {
  OperatorOptions options = on("opencl", model);
  options.compute.precision = precision;
  options.compute.devices = devices;
  return options;
}

double difference(const std::vector<float>& found, const std::vector<float>& expected) {
  std::vector<float> error(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) error[i] = found[i] - expected[i];
  const double size = dot(expected, expected);
  return size > 0 ? std::sqrt(dot(error, error) / size) : 1;
}

// <A x, y> less <x, A' y>, over |A x| |y|.
double mismatch(const std::vector<float>& ax, const std::vector<float>& aty) {
  const std::vector<float> x = operator_cases::random_values(std::ssize(aty), 3),
                           y = operator_cases::random_values(std::ssize(ax), 4);
  return std::abs(dot(ax, y) - dot(x, aty)) / std::sqrt(dot(ax, ax) * dot(y, y));
}

TEST_F(operators_opencl, are_transposes_of_each_other_and_those_of_the_host) {
  for (const Case& c : cases())
    for (const RayModel model : all_models) {
      const Pair host = both(ScanOperator(c.geometry, c.grid, on("cpu", model)));
      const Pair found = both(ScanOperator(c.geometry, c.grid, precisely(model, Precision::exact)));
      const double transposed = model == RayModel::voxel ? 0 : mismatch(found.lines, found.volume);
      EXPECT_LE(transposed, 1e-6) << c.name << ", " << name_of(model);
      // Both are within 2e-5 of double precision (operators/adjoint_test.cpp says why).
      EXPECT_LE(difference(found.lines, host.lines), 4e-5) << c.name << ", " << name_of(model);
      EXPECT_LE(difference(found.volume, host.volume), 4e-5) << c.name << ", " << name_of(model);
    }
}

// Several columns of voxels above each other, rows that rise and that fall with z, fewer and more of them than voxels.
TEST_F(operators_opencl, go_by_columns_of_voxels_where_they_can) {
  const auto by_columns = [](const ScanGeometry& geometry, const VolumeGrid& grid) {
    return ScanOperator(geometry, grid, precisely(RayModel::joseph, Precision::exact))
               .description()
               .find("columns of voxels") != std::string::npos;
  };
  for (const Case& c : cases()) {
    const bool yes = c.name == "cone" || c.name == "fan" || c.name == "parallel" || c.name == "wobbling";
    const bool no = c.name == "tilted" || c.name.substr(0, 5) == "steep" || c.name.substr(0, 6) == "source";
    if (yes || no) {
      EXPECT_EQ(by_columns(c.geometry, c.grid), yes) << c.name;
    }
  }
  for (const double step_z : {1.0, -1.0, 0.6, 3.0}) {
    CircularScan scan = circle(Beam::cone);
    scan.pitch_rad = 0.05;
    scan.in_plane_rad = -0.1;
    const ScanGeometry geometry = build_scan(scan);
    const VolumeGrid grid = centred_grid(13, 11, 37, {1, 1, step_z});
    EXPECT_TRUE(by_columns(geometry, grid)) << step_z;
    const Pair host = both(ScanOperator(geometry, grid, on("cpu", RayModel::joseph)));
    const Pair found = both(ScanOperator(geometry, grid, precisely(RayModel::joseph, Precision::exact)));
    EXPECT_LE(mismatch(found.lines, found.volume), 1e-6) << step_z;
    EXPECT_LE(difference(found.volume, host.volume), 4e-5) << step_z;
  }
}

TEST_F(operators_opencl, wrong_transposes_are_found) {
  const Case c = cases().front();
  CircularScan scan = circle(Beam::cone);
  scan.detector_shift_u_mm = 1e-3 * scan.pixel_width_mm;  // a thousandth of a pixel
  for (const RayModel model : matched_models) {
    const Pair right = both(ScanOperator(c.geometry, c.grid, precisely(model, Precision::exact)));
    const Pair moved = both(ScanOperator(build_scan(scan), c.grid, precisely(model, Precision::exact)));
    EXPECT_GT(mismatch(right.lines, moved.volume), 5e-6) << name_of(model);
  }
}

// Weights of 8 bits are off by 1/512 at most, on both axes. Of independent random values, the step between neighbours
// that were blended along the other axis has an rms of sqrt(2 * 2/3), a value blended along both 2/3: sqrt(3) times as
// much, and the axes may agree.
TEST_F(operators_opencl, of_the_sampler_are_nearly_those_of_the_host) {
  const double limit = 2 * std::sqrt(3.0) / 512;
  for (const Case& c : cases())
    for (const RayModel model : {RayModel::joseph, RayModel::voxel}) {
      const Pair host = both(ScanOperator(c.geometry, c.grid, on("cpu", model)));
      const ScanOperator fast(c.geometry, c.grid, precisely(model, Precision::fast));
      EXPECT_EQ(fast.description().find("sampler's weights") != std::string::npos, context().images_work(CL_FLOAT));
      const Pair found = both(fast);
      EXPECT_LE(model == RayModel::joseph ? mismatch(found.lines, found.volume) : 0, 1e-3) << c.name;
      EXPECT_LE(difference(found.lines, host.lines), limit) << c.name;
      EXPECT_LE(difference(found.volume, host.volume), limit) << c.name;
    }
}

struct Kind {
  RayModel model;
  Precision precision;
};
constexpr Kind kinds[] = {{RayModel::joseph, Precision::exact}, {RayModel::joseph, Precision::fast},
                          {RayModel::siddon, Precision::exact}, {RayModel::footprint, Precision::exact},
                          {RayModel::voxel, Precision::exact},  {RayModel::voxel, Precision::fast}};

TEST_F(operators_opencl, any_cut_gives_the_same_bits) {
  for (const Case& c : cases()) {
    // Planes on one, two and three axes, rows aslant, and a volume that surrounds the source.
    if (c.name != "cone" && c.name != "fan" && c.name != "parallel" && c.name != "wobbling" && c.name != "tilted" &&
        c.name.substr(0, 5) != "steep" && c.name.substr(0, 6) != "source")
      continue;
    for (const auto& [model, precision] : kinds) {
      const auto [rows, slabs] = run_all_plans(c, precisely(model, precision));
      EXPECT_GT(slabs.chunks, 1U) << c.name << ", " << name_of(model);
      EXPECT_GT(rows.wedges, 1U) << c.name << ", " << name_of(model);
    }
  }
}

TEST_F(operators_opencl, several_workers_give_the_same_bits) {
  const Case c = cases().front();
  for (const auto& [model, precision] : kinds) {
    const Pair one = both(ScanOperator(c.geometry, c.grid, precisely(model, precision)));
    const Pair three = both(ScanOperator(c.geometry, c.grid, precisely(model, precision, "0,0,0"), {1 << 18}));
    EXPECT_TRUE(same_bits(one.lines, three.lines)) << name_of(model);
    EXPECT_TRUE(same_bits(one.volume, three.volume)) << name_of(model);
  }
}

}  // namespace
}  // namespace lepus::opencl
