// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/program.h"

#include "core/format.h"
#include "device/opencl/kernel_text.h"
#include "device/opencl/opencl_check.h"
#include <lepus/error.h>

namespace lepus::opencl {
namespace {

std::string build_log(const Context& context, cl_program program) {
  std::size_t bytes = 0;
  const auto ask = [&](std::size_t size, void* to, std::size_t* needed) {
    return context.cl().GetProgramBuildInfo(program, context.device().id, CL_PROGRAM_BUILD_LOG, size, to, needed);
  };
  if (ask(0, nullptr, &bytes) != CL_SUCCESS || bytes <= 1) return "no build log";
  std::string log(bytes, '\0');
  if (ask(bytes, log.data(), nullptr) != CL_SUCCESS) return "no build log";
  log.resize(bytes - 1);
  return log;
}

}  // namespace

Program::Program(const Context& context, const std::string& name, const std::string& text, const std::string& options)
    : context_(context), name_(name) {
  const Library& cl = context.cl();
  const std::string_view common = kernel_text("common");
  const char* texts[] = {common.data(), text.data()};
  const std::size_t lengths[] = {common.size(), text.size()};
  cl_int status = CL_SUCCESS;
  program_ = cl.CreateProgramWithSource(context.get(), 2, texts, lengths, &status);
  context.check(status, "take the program " + name);
  const cl_device_id device = context.device().id;
  status = cl.BuildProgram(program_, 1, &device, ("-cl-std=CL1.2 " + options).c_str(), nullptr, nullptr);
  if (status == CL_SUCCESS) return;
  const std::string log = build_log(context, program_);
  cl.ReleaseProgram(program_);
  throw Error(ErrorKind::internal, {.what = format("the OpenCL program {} does not compile", name),
                                    .where = context.device().name,
                                    .why = format("{}, options '{}': {}", error_name(status), options, log),
                                    .hint = "use --backend cpu, and report it with this message"});
}

Program::~Program() {
  for (const auto& [name, kernel] : kernels_)
    if (kernel->handle != nullptr) context_.cl().ReleaseKernel(kernel->handle);
  context_.cl().ReleaseProgram(program_);
}

Program::Kernel& Program::kernel(const std::string& name) {
  const std::lock_guard lock(mutex_);
  auto& kernel = kernels_[name];
  if (!kernel) kernel = std::make_unique<Kernel>();
  if (kernel->handle == nullptr) {
    cl_int status = CL_SUCCESS;
    kernel->handle = context_.cl().CreateKernel(program_, name.c_str(), &status);
    context_.check(status, format("find the kernel {} of {}", name, name_));
  }
  return *kernel;
}

ConstantBuffer::ConstantBuffer(const Context& context, const void* values, std::int64_t bytes) : context_(context) {
  cl_int status = CL_SUCCESS;
  memory_ = context.cl().CreateBuffer(context.get(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                      static_cast<std::size_t>(bytes), const_cast<void*>(values), &status);
  context.check(status, "allocate constants of a kernel", bytes);
}

ConstantBuffer::~ConstantBuffer() { context_.cl().ReleaseMemObject(memory_); }

KernelCall::KernelCall(const Context& context, Program& program, const std::string& kernel)
    : context_(context), name_(kernel), kernel_(program.kernel(kernel)), lock_(kernel_.mutex) {}

KernelCall& KernelCall::argument(std::size_t bytes, const void* value) {
  context_.check(context_.cl().SetKernelArg(kernel_.handle, next_, bytes, value),
                 format("set argument {} of {}", next_, name_));
  ++next_;
  return *this;
}

KernelCall& KernelCall::memory(const void* address) {
  const Context::Resolved found = address ? context_.resolve_device(address, 1) : Context::Resolved{};
  argument(sizeof(cl_mem), address ? &found.memory : nullptr);
  return value(static_cast<cl_ulong>(found.offset));
}

KernelCall& KernelCall::object(cl_mem memory) { return argument(sizeof(cl_mem), &memory); }

KernelCall& KernelCall::local(std::int64_t bytes) { return argument(static_cast<std::size_t>(bytes), nullptr); }

void KernelCall::run(cl_command_queue queue, const Sizes& groups, const Sizes& size) {
  std::size_t all[3], group[3];
  for (int i = 0; i < 3; ++i) {
    if (groups[static_cast<std::size_t>(i)] == 0) return;
    group[i] = static_cast<std::size_t>(size[static_cast<std::size_t>(i)]);
    all[i] = static_cast<std::size_t>(groups[static_cast<std::size_t>(i)]) * group[i];
  }
  context_.check(context_.cl().EnqueueNDRangeKernel(queue, kernel_.handle, 3, nullptr, all, group, 0, nullptr, nullptr),
                 "start " + name_);
}

}  // namespace lepus::opencl
