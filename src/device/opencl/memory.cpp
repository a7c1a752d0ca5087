// SPDX-License-Identifier: Apache-2.0
// Memory of an OpenCL device by address.
#include <sys/mman.h>
#include <unistd.h>

#include "core/format.h"
#include "core/memory.h"
#include "device/opencl/context.h"
#include <lepus/error.h>

namespace lepus::opencl {
namespace {

// Addresses for so many bytes, and a page more that belongs to nobody: the end of one buffer is never the start of the
// next.
std::int64_t reserved_bytes(std::int64_t bytes) {
  const std::int64_t page = sysconf(_SC_PAGESIZE);
  return (bytes + page - 1) / page * page + page;
}

}  // namespace

std::int64_t Context::allocated_bytes() const {
  const std::shared_lock lock(ranges_mutex_);
  return allocated_;
}

Block Context::allocate(std::int64_t bytes, Place place) {
  bytes = bytes > 0 ? bytes : 1;  // OpenCL has no empty buffers
  return place == Place::device ? allocate_device(bytes) : allocate_host(bytes);
}

Block Context::allocate_device(std::int64_t bytes) {
  if (bytes > device_.largest_block_bytes)
    throw Error(ErrorKind::memory, {.what = "a block of device memory is too large",
                                    .where = device_.name,
                                    .why = format("{} asked for, the driver gives at most {} in one block",
                                                  format_bytes(bytes), format_bytes(device_.largest_block_bytes)),
                                    .hint = "give less device memory, so that the work is cut into smaller pieces"});
  const auto reserved = static_cast<std::size_t>(reserved_bytes(bytes));
  void* const address = mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) check(CL_OUT_OF_HOST_MEMORY, "reserve addresses", bytes);
  cl_int status = CL_SUCCESS;
  const cl_mem memory =
      cl().CreateBuffer(context_, CL_MEM_READ_WRITE, static_cast<std::size_t>(bytes), nullptr, &status);
  if (status != CL_SUCCESS) munmap(address, reserved);
  check(status, "allocate device memory", bytes);
  return keep(static_cast<std::byte*>(address), {.bytes = bytes, .memory = memory, .kind = Kind::device});
}

Block Context::allocate_host(std::int64_t bytes) {
  if (device_.shares_memory) {
    auto* const plain = static_cast<std::byte*>(detail::allocate_aligned(static_cast<std::size_t>(bytes)));
    return keep(plain, {.bytes = bytes, .memory = nullptr, .kind = Kind::host});
  }
  // Memory that the driver made for the host, mapped for as long as it lives: copies from it need no step between.
  cl_int status = CL_SUCCESS;
  const cl_mem memory = cl().CreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
                                          static_cast<std::size_t>(bytes), nullptr, &status);
  check(status, "allocate host memory for the device", bytes);
  void* const mapped = cl().EnqueueMapBuffer(mapping_, memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                             static_cast<std::size_t>(bytes), 0, nullptr, nullptr, &status);
  if (status != CL_SUCCESS) cl().ReleaseMemObject(memory);
  check(status, "map host memory", bytes);
  return keep(static_cast<std::byte*>(mapped), {.bytes = bytes, .memory = memory, .kind = Kind::host});
}

Block Context::keep(std::byte* address, const Range& range) {
  const std::unique_lock lock(ranges_mutex_);
  ranges_.emplace(address, range);
  if (range.kind == Kind::device) allocated_ += range.bytes;
  return {address, [self = shared_from_this()](std::byte* p) { self->release(p); }};
}

// Work that still uses a buffer keeps it alive: OpenCL counts references. Host memory is given back when the device is
// done with the maps before it.
void Context::release(std::byte* address) noexcept {
  Range range;
  {
    const std::unique_lock lock(ranges_mutex_);
    const auto found = ranges_.find(address);
    range = found->second;
    ranges_.erase(found);
    if (range.kind == Kind::device) allocated_ -= range.bytes;
  }
  if (range.kind == Kind::device) {
    cl().ReleaseMemObject(range.memory);
    munmap(address, static_cast<std::size_t>(reserved_bytes(range.bytes)));
  } else if (range.memory != nullptr) {
    cl().EnqueueUnmapMemObject(mapping_, range.memory, address, 0, nullptr, nullptr);
    cl().Finish(mapping_);
    cl().ReleaseMemObject(range.memory);
  } else {
    detail::free_aligned(address);
  }
}

Context::Resolved Context::resolve(const void* address) const {
  const auto* const at = static_cast<const std::byte*>(address);
  const std::shared_lock lock(ranges_mutex_);
  auto next = ranges_.upper_bound(at);
  if (next == ranges_.begin()) return {};
  const auto& [first, range] = *--next;
  const std::int64_t offset = at - first;
  if (offset >= range.bytes) return {};
  return {range.kind, range.memory, offset, range.bytes - offset};
}

Context::Resolved Context::resolve_device(const void* address, std::int64_t bytes) const {
  const Resolved found = resolve(address);
  if (found.kind != Kind::device || bytes > found.left)
    throw Error(ErrorKind::internal,
                {.what = "an address that is no memory of the device",
                 .where = device_.name,
                 .why = found.kind == Kind::device ? format("{} bytes from it on, {} used", found.left, bytes) : "",
                 .hint = {}});
  return found;
}

}  // namespace lepus::opencl
