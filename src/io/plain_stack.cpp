// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>

#include "core/format.h"
#include "core/reserve_space.h"
#include "io/stack.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

void throw_other_unfinished(const fs::path& partial, const std::string& why) {
  throw Error(ErrorKind::input, {.what = "the unfinished volume is another one",
                                 .where = partial.string(),
                                 .why = why,
                                 .hint = "remove it, or begin anew"});
}

namespace {

[[noreturn]] void throw_not_kept() {
  throw Error(ErrorKind::internal, {.what = "this output is not kept",
                                    .where = {},
                                    .why = "it cannot be read back or flushed while it is written",
                                    .hint = "report this"});
}

}  // namespace

void StackWriter::read_back(std::int64_t, std::int64_t, void*) const { throw_not_kept(); }
void StackWriter::flush(std::int64_t, std::int64_t) { throw_not_kept(); }

PlainStack::PlainStack(const StackTarget& target, const fs::path& file, std::int64_t bytes)
    : target_(target), data_(file, target.force, bytes, target.unfinished, target.sharing) {}

PlainStack::PlainStack(const StackTarget& target, OutputLock held, const fs::path& file, std::int64_t bytes)
    : target_(target), data_(std::move(held), file, target.force, bytes, target.unfinished) {}

void PlainStack::begin_data(std::int64_t offset) {
  data_start_ = offset;
  const std::int64_t size = offset + target_.shape.bytes();
  if (!is_joined()) reserve_space(data_, offset, target_.shape.bytes());
  if (is_joined() && data_.end() < size)
    throw_other_unfinished(data_.partial(), format("it has {} bytes, {} are needed", data_.end(), size));
  data_.will_fill(offset, target_.shape.bytes());
}

// In parts of whole mebibytes of the file, one per thread: pages and blocks of a RAID are not shared by two.
void PlainStack::write(std::int64_t first, std::int64_t images, const void* pixels) {
  constexpr std::int64_t boundary = 1 << 20, smallest = 4 * boundary;
  const std::int64_t begin = data_start_ + first * target_.shape.image_bytes();
  const std::int64_t bytes = images * target_.shape.image_bytes(), end = begin + bytes;
  const int useful = data_.is_filled_by_threads() ? io_threads() : threads_.next();
  const std::int64_t parts = std::clamp<std::int64_t>(bytes / smallest, 1, useful);
  const auto cut = [&](std::int64_t part) {
    if (part == 0 || part == parts) return part == 0 ? begin : end;
    return std::max(begin, (begin + bytes / parts * part) / boundary * boundary);
  };
  const auto start = std::chrono::steady_clock::now();
  const int threads = io_parallel(parts, static_cast<int>(parts), [&](std::int64_t part) {
    const std::int64_t from = cut(part);
    data_.write(from, static_cast<const char*>(pixels) + (from - begin), cut(part + 1) - from);
  });
  if (bytes >= smallest)
    threads_.took(threads, bytes, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

void PlainStack::read_back(std::int64_t first, std::int64_t images, void* pixels) const {
  const std::int64_t bytes = target_.shape.image_bytes();
  data_.read(data_start_ + first * bytes, pixels, images * bytes);
}

void PlainStack::flush(std::int64_t, std::int64_t) { data_.sync(); }

std::unique_ptr<PartialFile> PlainStack::side_car(const fs::path& file, const std::string& text) const {
  // A run that was killed while it finished may have put it there.
  auto small = std::make_unique<PartialFile>(file, target_.force || is_joined(), 0);
  small->append(text);
  return small;
}

}  // namespace lepus
