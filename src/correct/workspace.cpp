// SPDX-License-Identifier: Apache-2.0
#include "correct/workspace.h"

#include <algorithm>

namespace lepus::cuda {

void* Workspace::take_bytes(std::int64_t bytes) {
  // The smallest free piece that is large enough; else a new one, in place of a free one that is too small.
  const auto free = pieces_.begin() + static_cast<std::ptrdiff_t>(used_);
  auto best = pieces_.end();
  for (auto piece = free; piece != pieces_.end(); ++piece)
    if (piece->bytes() >= bytes && (best == pieces_.end() || piece->bytes() < best->bytes())) best = piece;
  if (best == pieces_.end()) {
    if (free != pieces_.end()) *free = DeviceBuffer<unsigned char>();
    DeviceBuffer<unsigned char> piece(std::max<std::int64_t>(bytes, 256));
    if (free != pieces_.end())
      *free = std::move(piece);
    else
      pieces_.push_back(std::move(piece));
    best = pieces_.begin() + static_cast<std::ptrdiff_t>(used_);
  }
  std::iter_swap(pieces_.begin() + static_cast<std::ptrdiff_t>(used_), best);
  return pieces_[used_++].data();
}

}  // namespace lepus::cuda
