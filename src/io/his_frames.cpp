// SPDX-License-Identifier: Apache-2.0
// Elekta's .his files (Heimann's format) as frames: a header of 68 bytes, perhaps more, then 16-bit pixels that are
// dark where the beam is open. Handed out are counts, 65536 - pixel, so that the open beam is bright as everywhere.
#include <algorithm>

#include "core/format.h"
#include "io/byte_text.h"
#include "io/file.h"
#include "io/frame_sources.h"
#include "io/header_text.h"
#include "io/his_file.h"
#include "io/pixels.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

class HisFrames final : public FrameSource {
public:
  explicit HisFrames(PlainImages images) : stored_(plain_frames(std::move(images))) {}

  std::int64_t columns() const override { return stored_->columns(); }
  std::int64_t rows() const override { return stored_->rows(); }
  std::int64_t frames() const override { return stored_->frames(); }
  PixelType pixel_type() const override { return PixelType::u16; }
  std::string name(std::int64_t frame) const override { return stored_->name(frame); }
  void read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const override {
    stored_->read_native(frame, row0, row1, out);
    auto* pixels = static_cast<std::uint16_t*>(out);
    // 0 would be one more than 16 bits hold; 65535 marks a pixel that was too bright to count, as 0 does.
    std::transform(pixels, pixels + (row1 - row0) * columns(), pixels, [](std::uint16_t p) {
      return p == 0 || p == 65535 ? std::uint16_t{65535} : static_cast<std::uint16_t>(65536 - p);
    });
  }

private:
  std::unique_ptr<FrameSource> stored_;
};

}  // namespace

HisHeader read_his_header(const fs::path& path) {
  const InputFile file(path);
  const std::string bytes = file.head(his_header_bytes);
  if (bytes.size() < his_header_bytes || !std::string_view(bytes).starts_with(his_signature))
    throw_bad_header(path, "it does not begin as a .his file");
  const auto word = [&](std::size_t at) { return std::int64_t{number_at<std::uint16_t>(bytes, at)}; };
  HisHeader header;
  header.left = word(12);
  header.top = word(14);
  header.right = word(16);
  header.bottom = word(18);
  header.frames = word(20);
  header.type = word(32);
  header.data_offset = his_header_bytes + word(10);
  if (header.type != 4)
    throw_unsupported_header(path, format("its pixels are of type {}", header.type), "lepus reads 4, 16 bits");
  // The header's first direction runs down the image.
  header.columns = header.bottom - header.top + 1;
  header.rows = header.right - header.left + 1;
  const auto image = checked_product(header.columns, header.rows, 2);
  if (!image || header.frames < 1)
    throw_bad_header(path, format("{} images of {} x {} pixels", header.frames, header.columns, header.rows));
  if (header.data_offset + *image * header.frames > file.size())
    throw_bad_header(path, format("{} images of {} x {} pixels after byte {} do not fit into {} bytes", header.frames,
                                  header.columns, header.rows, header.data_offset, file.size()));
  return header;
}

std::string his_bytes(std::int64_t columns, std::int64_t rows, const std::uint16_t* counts) {
  std::string bytes(his_signature);
  bytes.resize(his_header_bytes);
  const auto set = [&](std::size_t at, std::int64_t value) {
    const auto word = static_cast<std::uint16_t>(value);
    bytes.replace(at, 2, reinterpret_cast<const char*>(&word), 2);
  };
  set(4, 100);  // version
  set(10, 32);
  set(12, 1);
  set(14, 1);
  set(16, rows);
  set(18, columns);
  set(20, 1);
  set(32, 4);
  bytes.append(32, '\0');
  for (std::int64_t i = 0; i < columns * rows; ++i)
    append_number(bytes, static_cast<std::uint16_t>(65536 - std::max<std::int64_t>(counts[i], 1)));
  return bytes;
}

std::unique_ptr<FrameSource> open_his_frames(const std::vector<fs::path>& files) {
  PlainImages images;
  images.files = files;
  images.type = PixelType::u16;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const HisHeader header = read_his_header(files[i]);
    if (i == 0) {
      images.columns = header.columns;
      images.rows = header.rows;
    } else if (header.columns != images.columns || header.rows != images.rows) {
      throw_other_size(files[i].string(), describe(images.columns, images.rows, images.type),
                       describe(header.columns, header.rows, images.type), files.front().string());
    }
    images.runs.push_back(
        {.file = i, .offset = header.data_offset, .count = header.frames, .label = {}, .alone = header.frames == 1});
  }
  return std::make_unique<HisFrames>(std::move(images));
}

}  // namespace lepus
