// SPDX-License-Identifier: Apache-2.0
// <A x, y> = <x, A' y> for every matched model and geometry, and the operator against the reference in double
// precision.
#include <gtest/gtest.h>

#include "operators/test_scans.h"

namespace lepus {
namespace {

using namespace operator_cases;

// The difference of both inner products over |A x| |y|.
double mismatch(const Operator& forward, const Operator& back) {
  const std::vector<float> x = random_values(forward.voxels(), 3), y = random_values(forward.values(), 4);
  std::vector<float> ax(y.size()), aty(x.size());
  forward.forward(x, ax);
  back.adjoint(y, aty);
  const double size = std::sqrt(dot(ax, ax) * dot(y, y));
  return size > 0 ? std::abs(dot(ax, y) - dot(x, aty)) / size : 1;
}

double mismatch(const Operator& both) { return mismatch(both, both); }

constexpr double adjoint_limit = 1e-6;

TEST(operator_adjoint, every_matched_model_and_geometry) {
  for (const Case& c : cases())
    for (const RayModel model : matched_models)
      for (const char* backend : {"cpu", "reference"})
        EXPECT_LE(mismatch(Operator(c.geometry, c.grid, on(backend, model))), adjoint_limit)
            << c.name << ", " << name_of(model) << ", " << backend;
}

// What a wrong transpose looks like: half a column aside, another model, a view too many turned, the fast one.
TEST(operator_adjoint, wrong_transposes_are_found) {
  const Case c = cases().front();
  for (const RayModel model : matched_models) {
    const Operator right(c.geometry, c.grid, on("cpu", model));
    CircularScan scan = circle(Beam::cone);
    scan.detector_shift_u_mm = 1e-3 * scan.pixel_width_mm;  // a thousandth of a pixel
    EXPECT_GT(mismatch(right, Operator(build_scan(scan), c.grid, on("cpu", model))), 5 * adjoint_limit)
        << name_of(model);
    const RayModel other = model == RayModel::siddon ? RayModel::joseph : RayModel::siddon;
    EXPECT_GT(mismatch(right, Operator(c.geometry, c.grid, on("cpu", other))), 100 * adjoint_limit) << name_of(model);
  }
  EXPECT_GT(mismatch(Operator(c.geometry, c.grid, on("cpu", RayModel::voxel))), 100 * adjoint_limit);
}

// The host's kernels against plain loops in double precision: single precision, but the same model.
TEST(operator_adjoint, cpu_against_reference) {
  const auto difference = [](const std::vector<float>& found, const std::vector<float>& truth) {
    std::vector<float> error(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) error[i] = found[i] - truth[i];
    const double size = std::sqrt(dot(truth, truth));
    return size > 0 ? std::sqrt(dot(error, error)) / size : 1;
  };
  for (const Case& c : cases())
    for (const RayModel model : all_models) {
      const Operator cpu(c.geometry, c.grid, on("cpu", model)), reference(c.geometry, c.grid, on("reference", model));
      const std::vector<float> x = random_values(cpu.voxels(), 5), y = random_values(cpu.values(), 6);
      std::vector<float> found(y.size()), truth(y.size()), found_back(x.size()), truth_back(x.size());
      cpu.forward(x, found);
      reference.forward(x, truth);
      cpu.adjoint(y, found_back);
      reference.adjoint(y, truth_back);
      // Places are up to 60 voxels from the middle, rounded to 2^-24 of that, four times on the way; a weight moves by
      // no more than a place does, twice as much where pixels are a third of a voxel, and errors have random signs.
      EXPECT_LE(difference(found, truth), 2e-5) << c.name << ", " << name_of(model);
      EXPECT_LE(difference(found_back, truth_back), 2e-5) << c.name << ", " << name_of(model);
    }
}

}  // namespace
}  // namespace lepus
