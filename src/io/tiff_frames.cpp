// SPDX-License-Identifier: Apache-2.0
// TIFF files as frames, every page of each. Uncompressed pages are read straight from the file, only the rows asked
// for; others strip by strip or tile by tile through libtiff.
#include "core/format.h"
#include "io/file.h"
#include "io/frame_sources.h"
#include "io/pixels.h"
#include "io/tiff_file.h"

namespace lepus {
namespace fs = std::filesystem;

namespace {

class TiffFrames final : public FrameSource {
public:
  explicit TiffFrames(const std::vector<fs::path>& files) : files_(files) {
    for (std::size_t i = 0; i < files.size(); ++i) {
      const TiffContents contents = read_tiff_directories(files[i]);
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
  std::vector<Entry> pages_;
};

}  // namespace

std::unique_ptr<FrameSource> open_tiff_frames(const std::vector<fs::path>& files) {
  return std::make_unique<TiffFrames>(files);
}

}  // namespace lepus
