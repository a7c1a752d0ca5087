// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/context.h"

#include <vector>

#include "core/format.h"
#include "device/opencl/kernel_text.h"
#include "device/opencl/opencl_check.h"
#include "device/opencl/program.h"
#include <lepus/error.h>

namespace lepus::opencl {

std::shared_ptr<Context> Context::of(const DeviceDescription& device) {
  // Never destroyed: at the end of the process drivers may be gone before us.
  static std::mutex& mutex = *new std::mutex;
  static auto& contexts = *new std::map<std::pair<const Library*, cl_device_id>, std::shared_ptr<Context>>;
  const std::lock_guard lock(mutex);
  auto& context = contexts[{device.cl, device.id}];
  if (!context) context = std::make_shared<Context>(device);
  return context;
}

Context::Context(const DeviceDescription& device) : device_(device) {
  cl_int status = CL_SUCCESS;
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                              reinterpret_cast<cl_context_properties>(device.platform), 0};
  context_ = cl().CreateContext(properties, 1, &device.id, nullptr, nullptr, &status);
  check(status, "use the device");
  mapping_ = cl().CreateCommandQueue(context_, device.id, 0, &status);
  if (status != CL_SUCCESS) cl().ReleaseContext(context_);
  check(status, "make a queue");
}

Context::~Context() {
  programs_.clear();
  cl().ReleaseCommandQueue(mapping_);
  cl().ReleaseContext(context_);
}

void Context::check(cl_int status, const std::string& doing, std::int64_t bytes) const {
  if (status != CL_SUCCESS) opencl::check(status, device_.name, doing, bytes);
}

Program& Context::program(const std::string& name, const std::string& options) {
  return program_of_text(name, std::string(kernel_text(name)), options);
}

Program& Context::program_of_text(const std::string& name, const std::string& text, const std::string& options) {
  const std::lock_guard lock(programs_mutex_);  // one builds, who wants the same waits
  auto& program = programs_[name + " " + options];
  if (!program) program = std::make_unique<Program>(*this, name, text, options);
  return *program;
}

}  // namespace lepus::opencl
