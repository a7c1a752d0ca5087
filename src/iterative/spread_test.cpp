// SPDX-License-Identifier: Apache-2.0
#include "iterative/test_spread_runs.h"

namespace lepus {
namespace {

TEST(SpreadVectors, HaveTheBitsOfThoseInOnePlace) { method_runs::check_spread_runs("cpu"); }

}  // namespace
}  // namespace lepus
