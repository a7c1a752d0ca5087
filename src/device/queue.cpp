// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "device/device.h"

namespace lepus {

// The smallest free piece that is large enough; else a new one, in place of a free one that is too small.
std::byte* Queue::scratch_bytes(std::int64_t bytes) {
  const auto free = pieces_.begin() + static_cast<std::ptrdiff_t>(used_);
  auto best = pieces_.end();
  for (auto piece = free; piece != pieces_.end(); ++piece)
    if (piece->bytes >= bytes && (best == pieces_.end() || piece->bytes < best->bytes)) best = piece;
  if (best == pieces_.end()) {
    const std::int64_t size = std::max<std::int64_t>(bytes, 256);
    if (free != pieces_.end()) {
      *free = {};
      *free = {device_.allocate(size), size};
    } else {
      pieces_.push_back({device_.allocate(size), size});
    }
    best = pieces_.begin() + static_cast<std::ptrdiff_t>(used_);
  }
  std::iter_swap(pieces_.begin() + static_cast<std::ptrdiff_t>(used_), best);
  return pieces_[used_++].memory.get();
}

}  // namespace lepus
