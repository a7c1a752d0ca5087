// SPDX-License-Identifier: Apache-2.0
// Images (rows x columns) served as (columns x rows). A band of rows is a stripe of columns in the file, so that every
// stored row is read for it, a few at a time.
#include <algorithm>
#include <cstring>

#include "core/memory.h"
#include "io/frame_sources.h"

namespace lepus {

namespace {

class TurnedImages final : public FrameSource {
public:
  explicit TurnedImages(std::unique_ptr<FrameSource> images) : images_(std::move(images)) {}

  std::int64_t columns() const override { return images_->rows(); }
  std::int64_t rows() const override { return images_->columns(); }
  std::int64_t frames() const override { return images_->frames(); }
  PixelType pixel_type() const override { return images_->pixel_type(); }
  std::string name(std::int64_t frame) const override { return images_->name(frame); }

  void read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const override {
    check_band(*this, frame, row0, row1);
    if (row0 == row1) return;
    switch (bytes_per_pixel(pixel_type())) {
      case 1:
        return turn<std::uint8_t>(frame, row0, row1, out);
      case 2:
        return turn<std::uint16_t>(frame, row0, row1, out);
      case 4:
        return turn<std::uint32_t>(frame, row0, row1, out);
      default:
        return turn<std::uint64_t>(frame, row0, row1, out);
    }
  }

private:
  template <class Word>  // of the size of a pixel
  void turn(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const {
    const std::int64_t stored = images_->columns();
    const std::int64_t at_once =
        std::clamp<std::int64_t>((std::int64_t{1} << 20) / (stored * std::int64_t{sizeof(Word)}), 1, columns());
    Buffer<Word> block(at_once * stored);
    auto* to = static_cast<Word*>(out);
    for (std::int64_t column = 0; column < columns(); column += at_once) {
      const std::int64_t end = std::min(column + at_once, columns());
      images_->read_native(frame, column, end, block.data());
      for (std::int64_t row = row0; row < row1; ++row)
        for (std::int64_t c = column; c < end; ++c)
          to[(row - row0) * columns() + c] = block.data()[(c - column) * stored + row];
    }
  }

  std::unique_ptr<FrameSource> images_;
};

}  // namespace

std::unique_ptr<FrameSource> turned_images(std::unique_ptr<FrameSource> images) {
  return std::make_unique<TurnedImages>(std::move(images));
}

}  // namespace lepus
