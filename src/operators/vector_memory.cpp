// SPDX-License-Identifier: Apache-2.0
#include "operators/vector_memory.h"

#include <algorithm>
#include <set>

namespace lepus {
namespace {

// Methods work on their line integrals' error, on what was measured, and on weights.
constexpr std::int64_t parts_at_once = 3;

}  // namespace

struct VectorMemory::Places {
  std::int64_t volumes_left = 0, parts_left = 0;
  std::int64_t& left(bool volume) { return volume ? volumes_left : parts_left; }
  std::set<const std::byte*> on_device;
};

// The operator keeps a third at least: pieces that are too thin share too many of their rows and slices.
VectorMemory::VectorMemory(Device& device, std::int64_t device_bytes, const VectorSizes& sizes)
    : device_(device), sizes_(sizes), places_(std::make_shared<Places>()) {
  if (parts_at_once * sizes.part_bytes <= device_bytes / 2) places_->parts_left = parts_at_once * sizes.part_bytes;
  const std::int64_t room = std::max<std::int64_t>(0, device_bytes / 3 * 2 - places_->parts_left);
  places_->volumes_left = room / sizes.volume_bytes * sizes.volume_bytes;
  operator_bytes_ = device_bytes - places_->parts_left - places_->volumes_left;
}

Block VectorMemory::allocate(std::int64_t bytes) {
  const bool volume = bytes == sizes_.volume_bytes, part = !volume && bytes <= sizes_.part_bytes;
  if (!(volume || part) || bytes > places_->left(volume)) return device_.allocate(bytes, Place::host);
  const Block block = device_.allocate(bytes);
  places_->left(volume) -= bytes;
  places_->on_device.insert(block.get());
  return {block.get(), [block, bytes, volume, places = places_](std::byte* memory) {
            places->left(volume) += bytes;
            places->on_device.erase(memory);
          }};
}

std::int64_t VectorMemory::volumes_on_device() const { return places_->volumes_left / sizes_.volume_bytes; }

bool VectorMemory::on_device(const void* memory) const {
  return places_->on_device.contains(static_cast<const std::byte*>(memory));
}

}  // namespace lepus
