// SPDX-License-Identifier: Apache-2.0
// One OpenCL device as this process uses it: its context, the programs that were built for it, and its memory by
// address. Workers on the same device share it.
//
// OpenCL names memory by handles, lepus by addresses. So every buffer gets a range of addresses of its own that nothing
// lies behind: any address in it stands for the buffer and an offset, and who touches it crashes instead of reading
// something else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "device/device.h"
#include "device/opencl/devices.h"

namespace lepus::opencl {

// A compiled program and its kernels. Arguments are set and the kernel started under its lock.
class Program;

class Context : public std::enable_shared_from_this<Context> {
public:
  // The one of this device in the process; made where there is none yet.
  static std::shared_ptr<Context> of(const DeviceDescription& device);
  explicit Context(const DeviceDescription& device);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const DeviceDescription& device() const { return device_; }
  const Library& cl() const { return *device_.cl; }
  cl_context get() const { return context_; }
  void check(cl_int status, const std::string& doing, std::int64_t bytes = 0) const;
  // Images of one channel of CL_FLOAT or CL_HALF_FLOAT: listed by the driver, and they do what they should (drivers
  // list formats that they do not handle; so this is tried, once).
  bool images_work(cl_channel_type type);

  // Program `name` of kernel_text, built with `options` ("-DSLICES=8"); kept. Throws Error(internal) with the build
  // log where it does not compile. `text` in its place: tests hand in kernels of their own.
  Program& program(const std::string& name, const std::string& options);
  Program& program_of_text(const std::string& name, const std::string& text, const std::string& options);

  Block allocate(std::int64_t bytes, Place place);
  std::int64_t allocated_bytes() const;  // of Place::device, by this process

  enum class Kind { device, host, plain };  // plain: any other memory of the process
  struct Resolved {
    Kind kind = Kind::plain;
    cl_mem memory = nullptr;            // of Kind::device
    std::int64_t offset = 0, left = 0;  // bytes before and from the address on
  };
  Resolved resolve(const void* address) const;
  // The same for memory of the device of which `bytes` are used. Throws Error(internal) where the address is none.
  Resolved resolve_device(const void* address, std::int64_t bytes) const;

private:
  bool lists_images(cl_channel_type type) const;
  bool try_images(cl_channel_type type);
  struct Range {
    std::int64_t bytes = 0;
    cl_mem memory = nullptr;
    Kind kind = Kind::device;
  };
  Block allocate_device(std::int64_t bytes);
  Block allocate_host(std::int64_t bytes);
  Block keep(std::byte* address, const Range& range);
  void release(std::byte* address) noexcept;

  DeviceDescription device_;
  cl_context context_ = nullptr;
  cl_command_queue mapping_ = nullptr;  // maps host memory
  mutable std::shared_mutex ranges_mutex_;
  std::map<const std::byte*, Range> ranges_;  // by their first address
  std::int64_t allocated_ = 0;
  std::mutex images_mutex_;
  std::map<cl_channel_type, bool> images_work_;
  std::mutex programs_mutex_;
  std::map<std::string, std::unique_ptr<Program>> programs_;
};

}  // namespace lepus::opencl
