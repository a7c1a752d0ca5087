// SPDX-License-Identifier: Apache-2.0
// Vectors and total variation on an OpenCL device, against the host's kernels.
#include "device/vector_kernels_cases_test.h"
#include "opencl_fixture.h"

namespace lepus::opencl {
namespace {

using vector_kernels_opencl = DoublesTest;

TEST_F(vector_kernels_opencl, element_by_element) { vector_kernels_test::element_by_element("opencl"); }
TEST_F(vector_kernels_opencl, sums) { vector_kernels_test::sums("opencl"); }
TEST_F(vector_kernels_opencl, differences) { vector_kernels_test::differences("opencl"); }
TEST_F(vector_kernels_opencl, total_variation) { vector_kernels_test::total_variation("opencl"); }

}  // namespace
}  // namespace lepus::opencl
