// SPDX-License-Identifier: Apache-2.0
// Frames whose numbers are no pixel type: read as words of the same size, and converted row by row.
#include <algorithm>
#include <cstring>

#include "core/memory.h"
#include "io/frame_sources.h"
#include "io/pixels.h"

namespace lepus {
namespace {

template <class From, class To, class Convert>
void convert(const void* stored, std::int64_t count, void* out, const Convert& converted) {
  const auto* from = static_cast<const unsigned char*>(stored);
  auto* to = static_cast<To*>(out);
  for (std::int64_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from + i * static_cast<std::int64_t>(sizeof value), sizeof value);
    to[i] = converted(value);
  }
}

class ConvertedFrames final : public FrameSource {
public:
  ConvertedFrames(std::unique_ptr<FrameSource> stored, StoredNumber number, ValueScale scale)
      : stored_(std::move(stored)), number_(number), scale_(scale) {}

  std::int64_t columns() const override { return stored_->columns(); }
  std::int64_t rows() const override { return stored_->rows(); }
  std::int64_t frames() const override { return stored_->frames(); }
  PixelType pixel_type() const override {
    switch (number_) {
      case StoredNumber::scaled:
        return PixelType::f32;
      case StoredNumber::int64:
      case StoredNumber::uint64:
        return PixelType::f64;
      default:
        return stored_->pixel_type();
    }
  }
  std::string name(std::int64_t frame) const override { return stored_->name(frame); }

  void read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const override {
    check_band(*this, frame, row0, row1);
    const std::int64_t word = bytes_per_pixel(stored_->pixel_type());
    const std::int64_t at_once = std::max<std::int64_t>(1, (std::int64_t{1} << 20) / (columns() * word));
    Buffer<unsigned char> words(std::min(at_once, std::max<std::int64_t>(row1 - row0, 1)) * columns() * word);
    auto* to = static_cast<unsigned char*>(out);
    for (std::int64_t row = row0; row < row1; row += at_once) {
      const std::int64_t end = std::min(row1, row + at_once), count = (end - row) * columns();
      stored_->read_native(frame, row, end, words.data());
      convert_words(words.data(), count, to);
      to += count * bytes_per_pixel(pixel_type());
    }
  }

private:
  void convert_words(void* words, std::int64_t count, void* out) const {
    switch (number_) {
      case StoredNumber::int64:
        return convert<std::int64_t, double>(words, count, out, [](std::int64_t x) { return static_cast<double>(x); });
      case StoredNumber::uint64:
        return convert<std::uint64_t, double>(words, count, out,
                                              [](std::uint64_t x) { return static_cast<double>(x); });
      case StoredNumber::scaled: {
        auto* values = static_cast<float*>(out);
        convert_to_float(stored_->pixel_type(), words, count, values);
        scale_.apply(values, count);
        return;
      }
      case StoredNumber::sign_flipped: {
        const std::int64_t size = bytes_per_pixel(stored_->pixel_type());
        auto* bytes = static_cast<unsigned char*>(words);
        for (std::int64_t i = size - 1; i < count * size; i += size) bytes[i] ^= 0x80;  // the highest byte comes last
        [[fallthrough]];
      }
      case StoredNumber::pixel:
        std::memcpy(out, words, static_cast<std::size_t>(count * bytes_per_pixel(stored_->pixel_type())));
    }
  }

  std::unique_ptr<FrameSource> stored_;
  StoredNumber number_;
  ValueScale scale_;
};

}  // namespace

std::unique_ptr<FrameSource> converted_frames(std::unique_ptr<FrameSource> stored, StoredNumber number,
                                              ValueScale scale) {
  if (number == StoredNumber::pixel) return stored;
  return std::make_unique<ConvertedFrames>(std::move(stored), number, scale);
}

}  // namespace lepus
