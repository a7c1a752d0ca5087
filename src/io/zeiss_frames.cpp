// SPDX-License-Identifier: Apache-2.0
// The images of Zeiss files as frames, read in place: a stream lies in one piece or in few, and only the rows asked
// for are read from them.
#include <algorithm>

#include "core/format.h"
#include "io/file.h"
#include "io/frame_sources.h"
#include "io/pixels.h"
#include "io/stack.h"
#include "io/zeiss_file.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

class ZeissFrames final : public FrameSource {
public:
  ZeissFrames(const std::vector<fs::path>& files, const std::string& set) : files_(files) {
    for (std::size_t i = 0; i < files.size(); ++i) {
      const ZeissFile file(files[i]);
      const ZeissImages images = file.images(set);
      if (images.streams.empty())
        throw Error(ErrorKind::input, {.what = "the file has no " + set,
                                       .where = files[i].string(),
                                       .why = "neither ReferenceData nor MultiReferenceData",
                                       .hint = "take flats from another file, or say where I0 comes from in "
                                               "[intensity]"});
      if (i == 0) {
        columns_ = images.columns;
        rows_ = images.rows;
        type_ = images.type;
      } else if (images.columns != columns_ || images.rows != rows_ || images.type != type_) {
        throw_other_size(files[i].string(), describe(columns_, rows_, type_),
                         describe(images.columns, images.rows, images.type), files.front().string());
      }
      for (const OleStream* stream : images.streams)
        images_.push_back({i, files[i].string() + ":" + stream->name, file.ole().extents(*stream)});
    }
  }

  std::int64_t columns() const override { return columns_; }
  std::int64_t rows() const override { return rows_; }
  std::int64_t frames() const override { return static_cast<std::int64_t>(images_.size()); }
  PixelType pixel_type() const override { return type_; }
  std::string name(std::int64_t frame) const override { return images_.at(static_cast<std::size_t>(frame)).name; }

  void read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const override {
    check_band(*this, frame, row0, row1);
    const Image& image = images_.at(static_cast<std::size_t>(frame));
    const auto file = files_.open(image.file);
    const std::int64_t row_bytes = columns_ * bytes_per_pixel(type_);
    auto* to = static_cast<char*>(out);
    std::int64_t skip = row0 * row_bytes, left = (row1 - row0) * row_bytes;
    for (const OleExtent& extent : image.extents) {
      const std::int64_t bytes = std::clamp<std::int64_t>(extent.bytes - skip, 0, left);
      if (bytes > 0) file->read(extent.offset + skip, to, bytes);
      skip = std::max<std::int64_t>(skip - extent.bytes, 0);
      to += bytes;
      left -= bytes;
    }
  }

private:
  struct Image {
    std::size_t file;
    std::string name;
    std::vector<OleExtent> extents;
  };
  InputFiles files_;
  std::int64_t columns_ = 0, rows_ = 0;
  PixelType type_ = PixelType::u16;
  std::vector<Image> images_;
};

}  // namespace

std::unique_ptr<FrameSource> open_zeiss_frames(const std::vector<fs::path>& files, const std::string& dataset) {
  const std::string set = dataset.empty() ? "ImageData" : dataset;
  if (set != "ImageData" && set != "ReferenceData")
    throw Error(ErrorKind::input, {.what = format("no images are called {} in files of Zeiss microscopes", set),
                                   .where = files.front().string(),
                                   .why = {},
                                   .hint = "\"ImageData\" are the views, \"ReferenceData\" the flats"});
  return std::make_unique<ZeissFrames>(files, set);
}

std::unique_ptr<VolumeReader> open_zeiss_volume(const fs::path& path) {
  auto slices = open_zeiss_frames({path}, {});
  const double voxel_mm = ZeissFile(path).number("ImageInfo/PixelSize").value_or(0) / 1000;
  const double step = voxel_mm > 0 ? voxel_mm : 1;
  const VolumeGrid grid{slices->columns(), slices->rows(), slices->frames(), {}, {step, step, step}};
  return volume_of_frames(std::move(slices), {.grid = grid, .format = "Zeiss", .unit = {}, .provenance = {}});
}

}  // namespace lepus
