// SPDX-License-Identifier: Apache-2.0
// Vectors and total variation on a GPU, against the host's kernels.
#include "device/vector_kernels_cases_test.h"
#include "need_device.h"

namespace lepus {
namespace {

#define ON_GPU(name)                   \
  TEST(vector_kernels_gpu, name) {     \
    NEED_DEVICE();                     \
    vector_kernels_test::name("cuda"); \
  }
ON_GPU(element_by_element)
ON_GPU(sums)
ON_GPU(differences)
ON_GPU(total_variation)

}  // namespace
}  // namespace lepus
