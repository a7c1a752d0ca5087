// SPDX-License-Identifier: Apache-2.0
// Varian's images as frames, one per file. Packed pixels can only be unpacked from the top; some rows of each image are
// remembered on the way, so that a band further down begins at the nearest of them.
#include <algorithm>
#include <cstring>
#include <mutex>

#include "core/format.h"
#include "io/file.h"
#include "io/frame_sources.h"
#include "io/pixels.h"
#include "io/varian_file.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

class VarianFrames final : public FrameSource {
public:
  explicit VarianFrames(const std::vector<fs::path>& files) : files_(files) {
    for (const fs::path& file : files) {
      VarianImage image = read_varian_image(file);
      if (image.columns == 0)
        throw Error(ErrorKind::input, {.what = "the file holds no pixels",
                                       .where = file.string(),
                                       .why = "its image is 0 x 0, as imagers write for views they lost",
                                       .hint = "leave the file out, and its angle"});
      const VarianImage& first = images_.empty() ? image : images_.front();
      if (image.columns != first.columns || image.rows != first.rows || image.type != first.type)
        throw_other_size(file.string(), describe(first.columns, first.rows, first.type),
                         describe(image.columns, image.rows, image.type), files.front().string());
      image.fields.clear();
      images_.push_back(std::move(image));
    }
    starts_.resize(images_.size());
  }

  std::int64_t columns() const override { return images_.front().columns; }
  std::int64_t rows() const override { return images_.front().rows; }
  std::int64_t frames() const override { return static_cast<std::int64_t>(images_.size()); }
  PixelType pixel_type() const override { return images_.front().type; }
  std::string name(std::int64_t frame) const override { return files_.path(static_cast<std::size_t>(frame)).string(); }

  void read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const override {
    check_band(*this, frame, row0, row1);
    const auto index = static_cast<std::size_t>(frame);
    const VarianImage& image = images_[index];
    const auto file = files_.open(index);
    if (!image.packed) {
      const std::int64_t row_bytes = columns() * bytes_per_pixel(image.type);
      return file->read(image.data_offset + row0 * row_bytes, out, (row1 - row0) * row_bytes);
    }
    auto* to = static_cast<std::uint32_t*>(out);
    unpack_rows(*file, *image.packed, start_before(index, row0), row1, [&](const PackedRowStart& next) {
      if (next.row > row0)
        std::memcpy(to + (next.row - 1 - row0) * columns(), next.above.data(),
                    next.above.size() * sizeof(next.above[0]));
      if (next.row % remembered_step() == 0) remember(index, next);
    });
  }

private:
  // Eight rows of an image: about 1 % of its memory.
  std::int64_t remembered_step() const { return std::max<std::int64_t>(16, rows() / 8); }

  PackedRowStart start_before(std::size_t image, std::int64_t row) const {
    const std::lock_guard lock(mutex_);
    const auto& starts = starts_[image];
    const auto k = std::min<std::size_t>(static_cast<std::size_t>(row / remembered_step()), starts.size());
    return k == 0 ? PackedRowStart{} : starts[k - 1];
  }
  void remember(std::size_t image, const PackedRowStart& start) const {
    const std::lock_guard lock(mutex_);
    auto& starts = starts_[image];
    if (static_cast<std::int64_t>(starts.size()) + 1 == start.row / remembered_step()) starts.push_back(start);
  }

  InputFiles files_;
  std::vector<VarianImage> images_;
  mutable std::mutex mutex_;
  mutable std::vector<std::vector<PackedRowStart>> starts_;  // of each image: before rows step, 2 step, ...
};

}  // namespace

std::unique_ptr<FrameSource> open_varian_frames(const std::vector<fs::path>& files) {
  return std::make_unique<VarianFrames>(files);
}

}  // namespace lepus
