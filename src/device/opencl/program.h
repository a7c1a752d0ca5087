// SPDX-License-Identifier: Apache-2.0
// A program built for one device, and calls of its kernels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>

#include "device/opencl/context.h"

namespace lepus::opencl {

class Program {
public:
  Program(const Context& context, const std::string& name, const std::string& text, const std::string& options);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

private:
  friend class KernelCall;
  struct Kernel {
    cl_kernel handle = nullptr;
    std::mutex mutex;  // from its first argument until it is started
  };
  Kernel& kernel(const std::string& name);

  const Context& context_;
  std::string name_;
  cl_program program_ = nullptr;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Kernel>> kernels_;
};

// Numbers for one launch, in constant memory. It may be given back once the kernel is in a queue: the driver keeps it
// until the kernel has run.
class ConstantBuffer {
public:
  ConstantBuffer(const Context& context, const void* values, std::int64_t bytes);
  ~ConstantBuffer();
  ConstantBuffer(const ConstantBuffer&) = delete;
  ConstantBuffer& operator=(const ConstantBuffer&) = delete;
  cl_mem get() const { return memory_; }

private:
  const Context& context_;
  cl_mem memory_ = nullptr;
};

using Sizes = std::array<std::int64_t, 3>;

// One start of a kernel: its arguments in order, then run(). Waits while another thread starts the same kernel.
class KernelCall {
public:
  KernelCall(const Context& context, Program& program, const std::string& kernel);

  // A device address: two arguments, MEMORY(type, name) in the kernel (kernels/common.cl). Null is an address too.
  KernelCall& memory(const void* address);
  KernelCall& object(cl_mem memory);      // an image, or a buffer that has no address
  KernelCall& local(std::int64_t bytes);  // local memory
  template <class T>
  KernelCall& value(const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
    return argument(sizeof value, &value);
  }
  // `groups` of `size` work-items each.
  void run(cl_command_queue queue, const Sizes& groups, const Sizes& size);

private:
  KernelCall& argument(std::size_t bytes, const void* value);
  const Context& context_;
  std::string name_;
  Program::Kernel& kernel_;
  std::unique_lock<std::mutex> lock_;
  cl_uint next_ = 0;
};

}  // namespace lepus::opencl
