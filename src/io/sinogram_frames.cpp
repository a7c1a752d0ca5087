// SPDX-License-Identifier: Apache-2.0
// Sinograms (one image per detector row: views x columns) served as frames (one image per view: rows x columns).
// A band of one view touches every sinogram of the band, so views are read in blocks and the last blocks are kept.
#include <algorithm>
#include <cstring>
#include <list>
#include <mutex>

#include "core/memory.h"
#include "io/frame_sources.h"

namespace lepus {

namespace {

class SinogramFrames final : public FrameSource {
public:
  SinogramFrames(std::unique_ptr<FrameSource> sinograms, BlockLimits limits)
      : sinograms_(std::move(sinograms)), limits_(limits) {}

  std::int64_t columns() const override { return sinograms_->columns(); }
  std::int64_t rows() const override { return sinograms_->frames(); }
  std::int64_t frames() const override { return sinograms_->rows(); }
  PixelType pixel_type() const override { return sinograms_->pixel_type(); }
  std::string name(std::int64_t frame) const override {
    return sinograms_->name(0) + " and following, line " + std::to_string(frame);
  }

  void read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const override {
    const std::int64_t line = columns() * bytes_per_pixel(pixel_type());
    const std::int64_t view_bytes = std::max<std::int64_t>(1, (row1 - row0) * line);
    const std::int64_t views = std::clamp<std::int64_t>(limits_.bytes / view_bytes, 1, frames());
    const auto block = get({row0, row1, frame / views * views, std::min(frames(), (frame / views + 1) * views)});
    const std::int64_t held = block->key.view1 - block->key.view0;
    auto* to = static_cast<char*>(out);
    for (std::int64_t r = 0; r < row1 - row0; ++r)
      std::memcpy(to + r * line, block->pixels.data() + (r * held + frame - block->key.view0) * line,
                  static_cast<std::size_t>(line));
  }

private:
  struct Key {
    std::int64_t row0, row1, view0, view1;
    friend bool operator==(const Key&, const Key&) = default;
  };
  // Lines [view0, view1) of the sinograms [row0, row1). Filled once, by the first thread that needs it.
  struct Block {
    Key key;
    std::mutex filling;
    bool filled = false;
    Buffer<char> pixels;
  };

  std::shared_ptr<Block> get(const Key& key) const {
    std::shared_ptr<Block> block;
    {
      const std::scoped_lock lock(mutex_);
      const auto found = std::find_if(recent_.begin(), recent_.end(), [&](const auto& b) { return b->key == key; });
      if (found != recent_.end()) {
        recent_.splice(recent_.begin(), recent_, found);
      } else {
        auto fresh = std::make_shared<Block>();
        fresh->key = key;
        recent_.push_front(std::move(fresh));
        if (recent_.size() > limits_.kept) recent_.pop_back();
      }
      block = recent_.front();
    }
    const std::scoped_lock lock(block->filling);
    if (!block->filled) {
      const std::int64_t part = (key.view1 - key.view0) * columns() * bytes_per_pixel(pixel_type());
      block->pixels = Buffer<char>(std::max<std::int64_t>(1, (key.row1 - key.row0) * part));
      for (std::int64_t r = key.row0; r < key.row1; ++r)
        sinograms_->read_native(r, key.view0, key.view1, block->pixels.data() + (r - key.row0) * part);
      block->filled = true;
    }
    return block;
  }

  std::unique_ptr<FrameSource> sinograms_;
  BlockLimits limits_;
  mutable std::mutex mutex_;
  mutable std::list<std::shared_ptr<Block>> recent_;
};

}  // namespace

std::unique_ptr<FrameSource> frames_from_sinograms(std::unique_ptr<FrameSource> sinograms, BlockLimits limits) {
  return std::make_unique<SinogramFrames>(std::move(sinograms), limits);
}

}  // namespace lepus
