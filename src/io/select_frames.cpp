// SPDX-License-Identifier: Apache-2.0
// A part of a frame source as a source of its own: chosen frames, every row_step-th row.
#include <algorithm>
#include <cstring>

#include "core/format.h"
#include "core/memory.h"
#include "io/frames.h"
#include <lepus/error.h>

namespace lepus {

namespace {

class SelectedFrames final : public FrameSource {
public:
  SelectedFrames(std::unique_ptr<FrameSource> source, FrameSelection selection)
      : source_(std::move(source)), selection_(std::move(selection)) {}

  std::int64_t columns() const override { return source_->columns(); }
  std::int64_t rows() const override { return selection_.rows; }
  std::int64_t frames() const override { return static_cast<std::int64_t>(selection_.frames.size()); }
  PixelType pixel_type() const override { return source_->pixel_type(); }
  std::string name(std::int64_t frame) const override { return source_->name(original(frame)); }

  void read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const override {
    const std::int64_t first = selection_.first_row + row0 * selection_.row_step;
    if (selection_.row_step == 1) return source_->read_native(original(frame), first, first + row1 - row0, out);
    // One row too many is cheaper than one read per row while the gaps are small; beyond that rows come singly.
    const std::int64_t row_bytes = columns() * bytes_per_pixel(pixel_type());
    auto* to = static_cast<char*>(out);
    const std::int64_t step = selection_.row_step;
    const std::int64_t rows_at_once =
        step <= 4 ? std::max<std::int64_t>(1, (std::int64_t{1} << 20) / (step * row_bytes)) : 1;
    Buffer<char> scratch(((rows_at_once - 1) * step + 1) * row_bytes);
    for (std::int64_t row = row0; row < row1; row += rows_at_once) {
      const std::int64_t count = std::min(rows_at_once, row1 - row);
      const std::int64_t from = selection_.first_row + row * step;
      source_->read_native(original(frame), from, from + (count - 1) * step + 1, scratch.data());
      for (std::int64_t k = 0; k < count; ++k, to += row_bytes)
        std::memcpy(to, scratch.data() + k * step * row_bytes, static_cast<std::size_t>(row_bytes));
    }
  }

private:
  std::int64_t original(std::int64_t frame) const { return selection_.frames.at(static_cast<std::size_t>(frame)); }

  std::unique_ptr<FrameSource> source_;
  FrameSelection selection_;
};

}  // namespace

std::unique_ptr<FrameSource> select_frames(std::unique_ptr<FrameSource> source, FrameSelection selection) {
  for (const std::int64_t frame : selection.frames)
    if (frame < 0 || frame >= source->frames())
      throw Error(ErrorKind::input, {.what = "selected frame does not exist",
                                     .where = source->name(0),
                                     .why = format("frame {} was selected, there are {} (0 to {})", frame,
                                                   source->frames(), source->frames() - 1),
                                     .hint = "select fewer views"});
  const std::int64_t last = selection.first_row + (selection.rows - 1) * selection.row_step;
  if (selection.rows < 1 || selection.row_step < 1 || selection.first_row < 0 || last >= source->rows())
    throw Error(ErrorKind::input,
                {.what = "selected rows do not exist",
                 .where = source->name(0),
                 .why = format("{} rows from {} in steps of {} were selected, a frame has {}", selection.rows,
                               selection.first_row, selection.row_step, source->rows()),
                 .hint = "select fewer rows"});
  return std::make_unique<SelectedFrames>(std::move(source), std::move(selection));
}

}  // namespace lepus
