// SPDX-License-Identifier: Apache-2.0
// TIFF files as frames, every page of each. Uncompressed pages are read straight from the file, only the rows asked
// for; others strip by strip or tile by tile through libtiff.
#include <algorithm>

#include "core/folder.h"
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

// What lepus notes of the numbers in TIFF files: in the description of the first page, or beside the slices.
class NotedScales {
public:
  ValueScale of(const fs::path& file, const TiffContents& contents) {
    if (is_volume_json(contents.description))
      return checked(stack_from_json(contents.description, file.string()), contents.pages.front(), file);
    const StackDescription* beside = side_car_of(file);
    return beside ? checked(*beside, contents.pages.front(), file) : ValueScale{};
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

  // Of "slices/a1_0017_x.tif" "slices/a1_volume.json" (slices_side_car), which speaks of all slices of one name. Where
  // the beginning of that name has one, too, the longer one is meant.
  const StackDescription* side_car_of(const fs::path& file) {
    if (const fs::path folder = file.parent_path(); !folder_ || folder != *folder_) list_side_cars(folder);
    const std::string name = file.filename().string();
    for (SideCar& one : side_cars_)
      if (name.size() > one.prefix.size() && name.starts_with(one.prefix) && is_digit(name[one.prefix.size()])) {
        if (!one.read) one.description = described_by(*folder_ / (one.prefix + std::string(slices_side_car_ending)));
        one.read = true;
        if (one.description) return &*one.description;
      }
    return nullptr;
  }

  void list_side_cars(const fs::path& folder) {
    folder_ = folder;
    side_cars_.clear();
    for (const fs::path& file : entries_of(folder))
      if (const std::string name = file.filename().string(); name.ends_with(slices_side_car_ending))
        side_cars_.push_back({.prefix = name.substr(0, name.size() - slices_side_car_ending.size())});
    std::sort(side_cars_.begin(), side_cars_.end(),
              [](const SideCar& a, const SideCar& b) { return a.prefix.size() > b.prefix.size(); });
  }

  static std::optional<StackDescription> described_by(const fs::path& side_car) {
    std::error_code code;
    if (!fs::is_regular_file(side_car, code)) return std::nullopt;
    const std::string text = read_text_file(side_car, std::int64_t{256} << 20);
    if (!is_volume_json(text)) return std::nullopt;
    return stack_from_json(text, side_car.string());
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  struct SideCar {
    std::string prefix;  // of the slices' names, before their numbers
    bool read = false;
    std::optional<StackDescription> description = {};  // none: it is not ours
  };
  std::optional<fs::path> folder_;  // the one that was looked at last
  std::vector<SideCar> side_cars_;
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
