// SPDX-License-Identifier: Apache-2.0
#include "core/format.h"
#include "core/input_file.h"
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
  if (target_.unfinished == Unfinished::kept && InputFile(data_.partial()).size() < size) data_.resize(size);
  if (is_joined() && data_.end() < size)
    throw_other_unfinished(data_.partial(), format("it has {} bytes, {} are needed", data_.end(), size));
}

void PlainStack::write(std::int64_t first, std::int64_t images, const void* pixels) {
  const std::int64_t bytes = target_.shape.image_bytes();
  data_.write(data_start_ + first * bytes, pixels, images * bytes);
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
