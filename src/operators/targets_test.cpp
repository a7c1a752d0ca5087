// SPDX-License-Identifier: Apache-2.0
// The host's operators with every SIMD target that this machine has: the transpose is one, and all agree with the
// reference.
#include <gtest/gtest.h>

#include "device/host/targets.h"  // before Highway

#include "hwy/targets.h"
#include "operators/test_scans.h"

namespace lepus {
namespace {

using namespace operator_cases;

double off_by(const std::vector<float>& found, const std::vector<float>& truth) {
  std::vector<float> error(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) error[i] = found[i] - truth[i];
  return std::sqrt(dot(error, error) / dot(truth, truth));
}

// Chosen anew by all that is made from now on.
class Target {
public:
  explicit Target(std::int64_t target) { hwy::SetSupportedTargetsForTest(target); }
  ~Target() { hwy::SetSupportedTargetsForTest(0); }
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
};

// Tolerances as in adjoint_test.cpp.
void check(const Case& c, RayModel model, const char* target) {
  const Operator a(c.geometry, c.grid, on("cpu", model)), reference(c.geometry, c.grid, on("reference", model));
  EXPECT_NE(a.description().find(target), std::string::npos) << a.description();
  const std::vector<float> x = random_values(a.voxels(), 21), y = random_values(a.values(), 22);
  std::vector<float> ax(y.size()), truth(y.size()), aty(x.size()), truth_back(x.size());
  a.forward(x, ax);
  reference.forward(x, truth);
  a.adjoint(y, aty);
  reference.adjoint(y, truth_back);
  const std::string where = c.name + ", " + name_of(model) + ", " + target;
  EXPECT_LE(std::abs(dot(ax, y) - dot(x, aty)), 1e-6 * std::sqrt(dot(ax, ax) * dot(y, y))) << where;
  EXPECT_LE(off_by(ax, truth), 2e-5) << where;
  EXPECT_LE(off_by(aty, truth_back), 2e-5) << where;
}

TEST(operator_targets, all_are_matched_and_agree_with_the_reference) {
  const std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();
  EXPECT_FALSE(targets.empty());
  for (const std::int64_t target : targets) {
    const Target only(target);
    for (const Case& c : cases())
      for (const RayModel model : matched_models) check(c, model, hwy::TargetName(target));
  }
}

}  // namespace
}  // namespace lepus
