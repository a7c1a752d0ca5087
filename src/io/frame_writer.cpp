// SPDX-License-Identifier: Apache-2.0
// create_frames: what a scanner would write, as TIFF files, a TIFF stack, an HDF5 dataset or a raw file.
#include <algorithm>

#include "core/folder.h"
#include "core/format.h"
#include "io/file.h"
#include "io/frame_names.h"
#include "io/frame_sources.h"
#include "io/pixels.h"
#include "io/stack.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

std::optional<NumberPlace> find_number(const fs::path& path) {
  const std::string name = path.filename().string();
  const std::size_t percent = name.find('%');
  if (percent == std::string::npos) return std::nullopt;
  std::size_t end = percent + 1;
  int width = 0;
  while (end < name.size() && name[end] >= '0' && name[end] <= '9' && width < 100)
    width = 10 * width + name[end++] - '0';
  if (end >= name.size() || name[end] != 'd' || width > 18) return std::nullopt;
  return NumberPlace{name.substr(0, percent), name.substr(end + 1), width};
}

fs::path numbered(const fs::path& pattern, const NumberPlace& place, std::int64_t index) {
  return pattern.parent_path() / (place.prefix + format("{:0{}}", index, std::max(place.width, 1)) + place.suffix);
}

bool is_numbered(const std::string& name, const NumberPlace& place) {
  const std::size_t around = place.prefix.size() + place.suffix.size();
  return name.size() > around && name.starts_with(place.prefix) && name.ends_with(place.suffix) &&
         name.substr(place.prefix.size(), name.size() - around).find_first_not_of("0123456789") == std::string::npos;
}

void check_numbered_targets(const fs::path& pattern, std::int64_t images, bool force) {
  const NumberPlace place = *find_number(pattern);
  for (std::int64_t i = 0; i < images; ++i) check_target(numbered(pattern, place, i), force);
  for (const fs::path& file : entries_of(pattern.parent_path())) {
    const std::string name = file.filename().string();
    if (!is_numbered(name, place)) continue;
    const std::string digits =
        name.substr(place.prefix.size(), name.size() - place.prefix.size() - place.suffix.size());
    if (digits.size() <= 18 && std::stoll(digits) < images) continue;
    throw Error(ErrorKind::disk, {.what = "folder holds more images than would be written",
                                  .where = file.string(),
                                  .why = format("{} are to be written; the rest would stay among them", images),
                                  .hint = "remove the old images first"});
  }
}

namespace {

class StackFrames final : public FrameWriter {
public:
  StackFrames(std::unique_ptr<StackWriter> stack, std::int64_t frames, std::string where)
      : stack_(std::move(stack)), frames_(frames), where_(std::move(where)) {}

  void write(const void* pixels) override {
    if (!stack_ || written_ == frames_) fail(format("more than {} frames", frames_));
    try {
      stack_->write(written_, 1, pixels);
    } catch (...) {
      stack_.reset();
      throw;
    }
    ++written_;
  }
  void finish() override {
    if (!stack_ || written_ != frames_) fail(format("finished after {} of {} frames", written_, frames_));
    stack_->finish({});
    stack_.reset();
  }

private:
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(
        ErrorKind::internal,
        {.what = "another number of frames than announced", .where = where_, .why = why, .hint = "report this"});
  }
  std::unique_ptr<StackWriter> stack_;
  std::int64_t frames_, written_ = 0;
  std::string where_;
};

}  // namespace

void check_frames_name(const fs::path& path) {
  if (is_tiff_name(path) || is_hdf5_name(path) || is_numpy_name(path) || is_raw_name(path)) return;
  throw Error(ErrorKind::unsupported,
              {.what = "unknown kind of frame file",
               .where = path.string(),
               .why = format("the ending '{}' is none of .tif .h5 .npy .npz .raw", path.extension().string()),
               .hint = "choose a name with one of these endings"});
}

std::unique_ptr<FrameWriter> create_frames(const fs::path& path, const FrameWriterOptions& options) {
  StackTarget target;
  target.path = path;
  target.shape = {.columns = options.columns, .rows = options.rows, .images = options.frames, .type = options.type};
  target.force = options.force;
  if (!checked_product(options.columns, options.rows, options.frames, bytes_per_pixel(options.type)))
    throw Error(ErrorKind::usage,
                {.what = "impossible frames",
                 .where = path.string(),
                 .why = format("{} frames of {} x {} pixels", options.frames, options.columns, options.rows),
                 .hint = "give positive sizes"});
  check_frames_name(path);
  std::unique_ptr<StackWriter> stack;
  if (is_tiff_name(path)) {
    stack = find_number(path) ? create_tiff_folder(target) : create_tiff_stack(target);
  } else if (is_hdf5_name(path)) {
    stack = create_hdf5_stack(target, options.dataset.empty() ? frames_dataset : options.dataset);
  } else if (is_numpy_name(path)) {
    stack = create_numpy_stack(target);
  } else {
    stack = create_raw_stack(target);
  }
  return std::make_unique<StackFrames>(std::move(stack), options.frames, path.string());
}

}  // namespace lepus
