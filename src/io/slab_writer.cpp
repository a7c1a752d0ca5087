// SPDX-License-Identifier: Apache-2.0
#include "io/slab_writer.h"

#include <chrono>

#include "core/format.h"
#include "core/row_checksum.h"
#include "io/json_text.h"
#include "io/stored_pixels.h"
#include <lepus/error.h>

namespace lepus {

SlabWriter::SlabWriter(std::unique_ptr<StackWriter> stack, const StackTarget& target, std::string where,
                       OutputLock open)
    : stack_(std::move(stack)),
      shape_(target.shape),
      scale_(target.text.scale),
      kept_(target.unfinished != Unfinished::removed),
      where_(std::move(where)),
      written_(shape_.images, where_),
      memory_bytes_(stack_->memory_bytes()),
      open_(std::move(open)) {
  if (kept_) {
    remembered_.resize(static_cast<std::size_t>(shape_.images));
    number_ = number_of_unfinished(where_);
  }
  // A slice as it is stored for each thread that makes one.
  if (shape_.type != PixelType::f32) memory_bytes_ += io_threads() * shape_.image_bytes();
}

void SlabWriter::write(std::int64_t z0, std::int64_t z1, const float* slices) {
  write_with(z0, z1, [&](StackWriter& stack) { put(stack, z0, z1, slices); });
}

void SlabWriter::write_stored(std::int64_t z0, std::int64_t z1, const void* slices) {
  write_with(z0, z1, [&](StackWriter& stack) { put_as_it_is(stack, z0, z1, slices); });
}

void SlabWriter::write_with(std::int64_t z0, std::int64_t z1, const std::function<void(StackWriter&)>& put) {
  const std::shared_ptr<StackWriter> stack = current();
  written_.begin(z0, z1);
  try {
    put(*stack);
  } catch (...) {
    if (kept_) {
      written_.give_back(z0, z1);
    } else {
      give_up();
    }
    throw;
  }
  written_.end(z0, z1);
}

void SlabWriter::finish(const std::string& provenance) {
  const std::shared_ptr<StackWriter> stack = current();
  written_.check_complete();
  if (kept_) {
    wait_for_others();
    const bool by_another = number_ && number_of_finished(where_) == number_;
    if (by_another && !unfinished_exists(where_)) return give_up();
    require_there();
  }
  stack->finish(one_line_json(provenance));
  give_up();
}

void SlabWriter::require_there() const {
  if (kept_ && !unfinished_exists(where_)) throw_unfinished_gone(where_);
}

std::uint64_t SlabWriter::checksum(std::int64_t z0, std::int64_t z1) const {
  const std::shared_ptr<StackWriter> stack = current();
  std::atomic<std::uint64_t> sum = 0;
  io_parallel(z1 - z0, io_threads(), [&](std::int64_t i) {
    const std::int64_t z = z0 + i;
    std::optional<std::uint64_t> known;
    {
      const std::scoped_lock lock(mutex_);
      if (const auto& slice = remembered_.at(static_cast<std::size_t>(z))) known = slice->checksum;
    }
    if (!known) {
      std::vector<char> slice(static_cast<std::size_t>(shape_.image_bytes()));
      stack->read_back(z, 1, slice.data());
      known = row_checksum(z, 0, slice.data(), shape_.image_bytes());
    }
    sum += *known;
  });
  return sum;
}

std::int64_t SlabWriter::cut_off_in(std::int64_t z0, std::int64_t z1) const {
  const std::scoped_lock lock(mutex_);
  std::int64_t sum = 0;
  for (std::int64_t z = z0; z < z1; ++z)
    if (const auto& slice = remembered_.at(static_cast<std::size_t>(z))) sum += slice->cut_off;
  return sum;
}

std::shared_ptr<StackWriter> SlabWriter::current() const {
  const std::scoped_lock lock(mutex_);
  if (stack_) return stack_;
  throw Error(ErrorKind::internal, {.what = "the volume is finished or was given up",
                                    .where = where_,
                                    .why = "nothing can be written to it any more",
                                    .hint = "report this"});
}

// The partial files go when the last thread that still writes comes back, not when the writer does.
void SlabWriter::give_up() {
  const std::scoped_lock lock(mutex_);
  stack_.reset();
  open_ = {};
}

void SlabWriter::wait_for_others() {
  constexpr std::chrono::seconds longest{60};
  if (!open_.wait_alone(longest))
    throw Error(ErrorKind::disk, {.what = "other processes still have the unfinished volume open",
                                  .where = where_,
                                  .why = format("waited for {} s", longest.count()),
                                  .hint = "wait until they have ended, and run the command again"});
}

void SlabWriter::put(StackWriter& stack, std::int64_t z0, std::int64_t z1, const float* slices) {
  const std::int64_t n = shape_.columns * shape_.rows;
  if (shape_.type == PixelType::f32) return put_as_it_is(stack, z0, z1, slices);
  io_parallel(z1 - z0, io_threads(), [&](std::int64_t i) { put_stored(stack, z0 + i, slices + i * n); });
}

void SlabWriter::put_as_it_is(StackWriter& stack, std::int64_t z0, std::int64_t z1, const void* slices) {
  stack.write(z0, z1 - z0, slices);
  if (!kept_) return;
  const auto* const bytes = static_cast<const char*>(slices);
  io_parallel(z1 - z0, io_threads(), [&](std::int64_t i) { remember(z0 + i, bytes + i * shape_.image_bytes(), 0); });
}

// Slice by slice: what is made of it stays small.
void SlabWriter::put_stored(StackWriter& stack, std::int64_t z, const float* slice) {
  std::vector<unsigned char> stored(static_cast<std::size_t>(shape_.image_bytes()));
  const auto cut_off = store_voxels(shape_.type, scale_, slice, shape_.columns * shape_.rows, stored.data());
  if (!cut_off)
    throw Error(ErrorKind::input, {.what = "voxels that are not numbers cannot be written as integers",
                                   .where = format("{}, slice {}", where_, z),
                                   .why = {},
                                   .hint = "replace them first, or write floats"});
  cut_off_ += *cut_off;
  stack.write(z, 1, stored.data());
  if (kept_) remember(z, stored.data(), *cut_off);
}

void SlabWriter::remember(std::int64_t z, const void* stored, std::int64_t cut_off) {
  const std::uint64_t sum = row_checksum(z, 0, stored, shape_.image_bytes());
  const std::scoped_lock lock(mutex_);
  remembered_[static_cast<std::size_t>(z)] = {sum, cut_off};
}

}  // namespace lepus
