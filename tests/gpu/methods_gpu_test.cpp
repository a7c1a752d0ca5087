// SPDX-License-Identifier: Apache-2.0
#include "iterative/test_spread_runs.h"
#include "need_device.h"

namespace lepus {
namespace {

TEST(MethodsOnACard, SpreadVectorsHaveTheBitsOfThoseOnIt) {
  NEED_DEVICE();
  method_runs::check_spread_runs("cuda");
}

}  // namespace
}  // namespace lepus
