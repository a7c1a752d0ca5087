// SPDX-License-Identifier: Apache-2.0
#include "device/files/file_memory.h"

#include <algorithm>
#include <cstring>

#include <sys/mman.h>

#include "core/format.h"
#include "core/memory.h"
#include <lepus/error.h>

namespace lepus::files {
namespace {

constexpr std::int64_t page = 1 << 16;         // the largest that systems have
constexpr std::int64_t piece_bytes = 1 << 20;  // that a thread copies at once

std::int64_t whole_pages(std::int64_t bytes) { return (std::max<std::int64_t>(1, bytes) + page - 1) / page * page; }

[[noreturn]] void refuse_addresses(std::int64_t bytes) {
  throw Error(ErrorKind::memory, {.what = "no addresses for vectors that are kept in a file",
                                  .where = {},
                                  .why = format("the system does not reserve {}", format_bytes(bytes)),
                                  .hint = "look at the limit of the process's addresses (ulimit -v)"});
}

}  // namespace

FileMemory::FileMemory(const std::filesystem::path& folder, std::int64_t bytes, std::int64_t memory_bytes)
    : memory_bytes_(memory_bytes / page * page),
      reserved_bytes_(4 * whole_pages(bytes) + memory_bytes_),
      end_(std::max(whole_pages(bytes), memory_bytes_)),
      file_(std::make_unique<ScratchFile>(
          folder, std::max<std::int64_t>(1, end_ - memory_bytes_),
          ScratchFile::Words{"vectors that do not fit into the memory",
                             "free some space there, allow more with --memory, or write the output elsewhere"})) {
  void* const address = ::mmap(nullptr, static_cast<std::size_t>(reserved_bytes_), PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) refuse_addresses(reserved_bytes_);
  base_ = static_cast<std::byte*>(address);
  if (memory_bytes_ > 0 && ::mprotect(base_, static_cast<std::size_t>(memory_bytes_), PROT_READ | PROT_WRITE) != 0) {
    ::munmap(base_, static_cast<std::size_t>(reserved_bytes_));
    refuse_addresses(memory_bytes_);
  }
  holes_[0] = end_;
}

FileMemory::~FileMemory() { ::munmap(base_, static_cast<std::size_t>(reserved_bytes_)); }

// Into the smallest hole: those that a vector left are taken by the next of its size.
Block FileMemory::allocate(std::int64_t bytes) {
  const std::int64_t wanted = whole_pages(bytes);
  const std::lock_guard lock(mutex_);
  const auto smallest = [&] {
    auto best = holes_.end();
    for (auto hole = holes_.begin(); hole != holes_.end(); ++hole)
      if (hole->second >= wanted && (best == holes_.end() || hole->second < best->second)) best = hole;
    return best;
  };
  auto hole = smallest();
  if (hole == holes_.end()) {
    grow(wanted);
    hole = smallest();
  }
  const auto [offset, size] = *hole;
  holes_.erase(hole);
  if (size > wanted) holes_[offset + wanted] = size - wanted;
  return {base_ + offset,
          [self = shared_from_this(), offset = offset, wanted](std::byte*) { self->release(offset, wanted); }};
}

void FileMemory::grow(std::int64_t bytes) {
  if (end_ + bytes > reserved_bytes_) refuse_addresses(end_ + bytes);
  file_->grow(end_ + bytes - memory_bytes_);
  holes_[end_] = bytes;
  end_ += bytes;
}

void FileMemory::release(std::int64_t offset, std::int64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  auto hole = holes_.emplace(offset, bytes).first;
  if (const auto next = std::next(hole); next != holes_.end() && hole->first + hole->second == next->first) {
    hole->second += next->second;
    holes_.erase(next);
  }
  if (hole == holes_.begin()) return;
  if (const auto before = std::prev(hole); before->first + before->second == hole->first) {
    before->second += hole->second;
    holes_.erase(hole);
  }
}

bool FileMemory::in_file(const void* address, std::int64_t bytes) const {
  const auto* const at = static_cast<const std::byte*>(address);
  return at >= base_ && at < base_ + reserved_bytes_ && offset_of(at) + bytes > memory_bytes_;
}

void FileMemory::read(void* to, const void* from, std::int64_t bytes) const {
  const std::int64_t offset = offset_of(from), plain = std::clamp<std::int64_t>(memory_bytes_ - offset, 0, bytes);
  std::memcpy(to, from, static_cast<std::size_t>(plain));
  file_->read(offset + plain - memory_bytes_, static_cast<std::byte*>(to) + plain, bytes - plain);
}

void FileMemory::write(void* to, const void* from, std::int64_t bytes) {
  const std::int64_t offset = offset_of(to), plain = std::clamp<std::int64_t>(memory_bytes_ - offset, 0, bytes);
  std::memcpy(to, from, static_cast<std::size_t>(plain));
  file_->write(offset + plain - memory_bytes_, static_cast<const std::byte*>(from) + plain, bytes - plain);
}

void FileMemory::copy(void* to, const void* from, std::int64_t bytes, ThreadPool& threads) {
  if (to == from) return;
  const bool reads = in_file(from, bytes), writes = in_file(to, bytes);
  threads.parallel_for(0, bytes, piece_bytes, [&](std::int64_t begin, std::int64_t end, int) {
    std::byte* const out = static_cast<std::byte*>(to) + begin;
    const std::byte* const in = static_cast<const std::byte*>(from) + begin;
    if (reads && writes) {
      Buffer<std::byte> between(end - begin);
      read(between.data(), in, end - begin);
      write(out, between.data(), end - begin);
    } else if (reads) {
      read(out, in, end - begin);
    } else if (writes) {
      write(out, in, end - begin);
    } else {
      std::memcpy(out, in, static_cast<std::size_t>(end - begin));
    }
  });
}

}  // namespace lepus::files
