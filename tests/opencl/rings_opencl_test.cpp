// SPDX-License-Identifier: Apache-2.0
// Rings are taken out by OpenCL's own kernels: the cases of tests/parity on a device whose starts of kernels are
// written down by name. Once with the local memory that it has, once with no more than lepus asks for, so that keys lie
// in global memory.
#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "../parity/harness.h"
#include "opencl_fixture.h"

namespace lepus::opencl {
namespace {

// Functions of a table are plain, so what they write down is static.
std::map<cl_kernel, std::string> kernel_names;
std::set<std::string> kernels_started;
std::set<std::string> options_built;
std::size_t largest_local = 0;
cl_ulong local_bytes = 0;  // 0: as it is

const Library& recording_library() {
  static Library table;
  table = *tested_library();
  table.CreateKernel = [](cl_program program, const char* name, cl_int* status) {
    const cl_kernel kernel = library()->CreateKernel(program, name, status);
    kernel_names[kernel] = name;
    return kernel;
  };
  table.EnqueueNDRangeKernel = [](cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                  const std::size_t* offset, const std::size_t* all, const std::size_t* group,
                                  cl_uint events, const cl_event* list, cl_event* event) {
    kernels_started.insert(kernel_names[kernel]);
    return library()->EnqueueNDRangeKernel(queue, kernel, dimensions, offset, all, group, events, list, event);
  };
  table.BuildProgram = [](cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
                          void(CL_CALLBACK * notify)(cl_program, void*), void* data) {
    options_built.insert(options);
    return library()->BuildProgram(program, count, devices, options, notify, data);
  };
  table.SetKernelArg = [](cl_kernel kernel, cl_uint index, std::size_t bytes, const void* value) {
    if (value == nullptr && bytes != sizeof(cl_mem)) largest_local = std::max(largest_local, bytes);
    return library()->SetKernelArg(kernel, index, bytes, value);
  };
  table.GetDeviceInfo = [](cl_device_id id, cl_device_info what, std::size_t bytes, void* to, std::size_t* size) {
    if (what != CL_DEVICE_LOCAL_MEM_SIZE || local_bytes == 0)
      return library()->GetDeviceInfo(id, what, bytes, to, size);
    std::memcpy(to, &local_bytes, std::min(bytes, sizeof local_bytes));
    return cl_int{CL_SUCCESS};
  };
  return table;
}

class OpenclRings : public DoublesTest {
protected:
  // A table of its own for each: contexts are kept by it.
  static void run(const std::string& operation, const Library& table) {
    kernels_started.clear();
    options_built.clear();
    largest_local = 0;
    Devices one;
    one.push_back(std::make_unique<OpenclDevice>(&table, 0));
    parity::Machine machine(std::move(one));
    int found = 0;
    for (const parity::Operation& o : parity::operations())
      if (o.name == operation) {
        check_against_truth(o, machine);
        ++found;
      }
    EXPECT_EQ(found, 1);
  }
  static void expect_started(const std::vector<std::string>& kernels) {
    for (const std::string& kernel : kernels) EXPECT_TRUE(kernels_started.contains(kernel)) << kernel;
  }
};

const std::vector<std::string> of_combined{"find_flutter", "sort_columns",   "row_medians",    "flutter_contrasts",
                                           "mark_columns", "bridge_columns", "stripe_offsets", "replace_columns"};

TEST_F(OpenclRings, by_wavelets_run_in_kernels) {
  static const Library table = recording_library();
  run("rings wavelet", table);
  expect_started({"product", "analyse", "synthesise"});
}

TEST_F(OpenclRings, by_the_combined_method_run_in_kernels) {
  static const Library table = recording_library();
  run("rings combined", table);
  expect_started(of_combined);
}

TEST_F(OpenclRings, need_little_local_memory) {
  local_bytes = 16 << 10;
  static const Library table = recording_library();
  run("rings combined", table);
  local_bytes = 0;
  expect_started(of_combined);
  expect_started({"row_medians_by_search"});
  EXPECT_GT(largest_local, 0U);
  EXPECT_LE(largest_local, 16U << 10);
  EXPECT_TRUE(std::ranges::any_of(options_built, [](const std::string& options) {
    return options.find("KEYS_IN_GLOBAL") != std::string::npos;
  })) << "columns of 3000 views do not fit it";
}

}  // namespace
}  // namespace lepus::opencl
