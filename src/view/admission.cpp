// SPDX-License-Identifier: Apache-2.0
#include "view/admission.h"

#include "core/format.h"
#include "core/memory.h"
#include "view/request.h"

namespace lepus::view {

std::shared_ptr<void> Admission::take(std::int64_t bytes) {
  if (bytes > limit_)
    throw Refusal(
        413, {.what = "this asks for too much at once",
              .where = {},
              .why = format("it would take {} of the {} for all requests", format_bytes(bytes), format_bytes(limit_)),
              .hint = "ask for a smaller part or a coarser level, or allow more: lepus view --memory"});
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, patience_, [&] { return taken_ + bytes <= limit_; }))
    throw Refusal(503, {.what = "too many requests at a time",
                        .where = {},
                        .why = format("others hold {} of {}", format_bytes(taken_), format_bytes(limit_)),
                        .hint = "ask again"});
  taken_ += bytes;
  return {static_cast<void*>(this), [this, bytes](void*) {
            {
              const std::scoped_lock give(mutex_);
              taken_ -= bytes;
            }
            changed_.notify_all();
          }};
}

bool Admission::busy() const {
  const std::scoped_lock lock(mutex_);
  return taken_ > 0;
}

}  // namespace lepus::view
