// SPDX-License-Identifier: Apache-2.0
// Several sources of frames, one after another.
#include <algorithm>

#include "io/frame_sources.h"
#include "io/pixels.h"

namespace lepus {
namespace {

class JoinedFrames final : public FrameSource {
public:
  explicit JoinedFrames(std::vector<std::unique_ptr<FrameSource>> parts) : parts_(std::move(parts)) {
    for (const auto& part : parts_) {
      first_.push_back(frames_);
      frames_ += part->frames();
    }
  }

  std::int64_t columns() const override { return parts_.front()->columns(); }
  std::int64_t rows() const override { return parts_.front()->rows(); }
  std::int64_t frames() const override { return frames_; }
  PixelType pixel_type() const override { return parts_.front()->pixel_type(); }
  std::string name(std::int64_t frame) const override {
    const std::size_t k = part_of(frame);
    return parts_[k]->name(frame - first_[k]);
  }
  void read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const override {
    check_band(*this, frame, row0, row1);
    const std::size_t k = part_of(frame);
    parts_[k]->read_native(frame - first_[k], row0, row1, out);
  }

private:
  std::size_t part_of(std::int64_t frame) const {
    return static_cast<std::size_t>(std::upper_bound(first_.begin(), first_.end(), frame) - first_.begin()) - 1;
  }

  std::vector<std::unique_ptr<FrameSource>> parts_;
  std::vector<std::int64_t> first_;
  std::int64_t frames_ = 0;
};

}  // namespace

std::unique_ptr<FrameSource> joined_frames(std::vector<std::unique_ptr<FrameSource>> parts) {
  const FrameSource& first = *parts.front();
  for (const auto& part : parts)
    if (part->columns() != first.columns() || part->rows() != first.rows() || part->pixel_type() != first.pixel_type())
      throw_other_size(part->name(0), describe(first.columns(), first.rows(), first.pixel_type()),
                       describe(part->columns(), part->rows(), part->pixel_type()), first.name(0));
  if (parts.size() == 1) return std::move(parts.front());
  return std::make_unique<JoinedFrames>(std::move(parts));
}

}  // namespace lepus
