// SPDX-License-Identifier: Apache-2.0
// TIFF files as frames, every page of each. Uncompressed pages are read straight from the file, only the rows asked
// for; others strip by strip or tile by tile through libtiff.
#include "core/format.h"
#include "io/file.h"
#include "io/frame_sources.h"
#include "io/header_text.h"
#include "io/json_text.h"
#include "io/pixels.h"
#include "io/tiff_file.h"

namespace lepus {
namespace fs = std::filesystem;

namespace {

// "slices/slice_0017.tif" -> "slices/slice_volume.json", which speaks of all slices of a folder that lepus wrote.
fs::path side_car_of_slice(const fs::path& file) {
  std::string stem = file.stem().string();
  while (!stem.empty() && stem.back() >= '0' && stem.back() <= '9') stem.pop_back();
  return file.parent_path() / (stem + "volume.json");
}

// What lepus notes of the numbers in TIFF files: in the description of the first page, or beside the slices.
class NotedScales {
public:
  ValueScale of(const fs::path& file, const TiffContents& contents) {
    if (is_volume_json(contents.description))
      return checked(stack_from_json(contents.description, file.string()), contents.pages.front(), file);
    if (const fs::path side_car = side_car_of_slice(file); side_car != side_car_) {
      side_car_ = side_car;
      description_.reset();
      std::error_code code;
      const std::string text =
          fs::is_regular_file(side_car, code) ? read_text_file(side_car, std::int64_t{256} << 20) : std::string();
      if (is_volume_json(text)) description_ = stack_from_json(text, side_car.string());
    }
    return description_ ? checked(*description_, contents.pages.front(), file) : ValueScale{};
  }

private:
  // Another program may have kept the text and written other numbers.
  static ValueScale checked(const StackDescription& d, const TiffPage& page, const fs::path& file) {
    const bool same = d.shape.columns == page.columns && d.shape.rows == page.rows && d.shape.type == page.type;
    if (!d.text.scale.is_identity() && !same)
      throw_bad_header(file, format("the scale that lepus noted is for {}, the image is {}",
                                    describe(d.shape.columns, d.shape.rows, d.shape.type),
                                    describe(page.columns, page.rows, page.type)));
    return d.text.scale;
  }

  fs::path side_car_;  // the one that was looked at last
  std::optional<StackDescription> description_;
};

class TiffFrames final : public FrameSource {
public:
  explicit TiffFrames(const std::vector<fs::path>& files) : files_(files) {
    NotedScales noted;
    for (std::size_t i = 0; i < files.size(); ++i) {
      const TiffContents contents = read_tiff_directories(files[i]);
      const ValueScale scale = noted.of(files[i], contents);
      if (i == 0) scale_ = scale;
      check_same_scale(scale, scale_, files[i]);
      const bool alone = contents.pages.size() == 1;
      std::int64_t index = 0;
      for (const TiffPage& page : contents.pages) {
        pages_.push_back({i, index, alone, page});
        const TiffPage& first = pages_.front().page;
        if (page.columns != first.columns || page.rows != first.rows || page.type != first.type)
          throw_other_size(image_name(files[i].string(), index, alone), describe(first.columns, first.rows, first.type),
                           describe(page.columns, page.rows, page.type), name(0));
        ++index;
      }
    }
  }

  const ValueScale& scale() const { return scale_; }
  std::int64_t columns() const override { return pages_.front().page.columns; }
  std::int64_t rows() const override { return pages_.front().page.rows; }
  std::int64_t frames() const override { return static_cast<std::int64_t>(pages_.size()); }
  PixelType pixel_type() const override { return pages_.front().page.type; }
  std::string name(std::int64_t frame) const override {
    const Entry& entry = pages_.at(static_cast<std::size_t>(frame));
    return image_name(files_.path(entry.file).string(), entry.index, entry.alone);
  }
  void read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const override {
    check_band(*this, frame, row0, row1);
    const Entry& entry = pages_.at(static_cast<std::size_t>(frame));
    const TiffPage& page = entry.page;
    if (page.data_offset < 0) return decode_tiff_rows(files_.path(entry.file), page, row0, row1, out);
    read_pixels(*files_.open(entry.file), page.data_offset + row0 * page.columns * bytes_per_pixel(page.type),
                (row1 - row0) * page.columns, page.type, page.big_endian, out);
  }

private:
  struct Entry {
    std::size_t file;
    std::int64_t index;  // of the page in its file
    bool alone;
    TiffPage page;
  };
  InputFiles files_;
  ValueScale scale_;
  std::vector<Entry> pages_;
};

}  // namespace

StoredFrames open_tiff_frames(const std::vector<fs::path>& files) {
  auto frames = std::make_unique<TiffFrames>(files);
  const ValueScale scale = frames->scale();
  return {std::move(frames), scale};
}

}  // namespace lepus
