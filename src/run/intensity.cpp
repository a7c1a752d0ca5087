// SPDX-License-Identifier: Apache-2.0
#include "run/intensity.h"

#include "core/format.h"
#include "core/memory.h"
#include "preprocess/row_audit.h"
#include <lepus/error.h>

namespace lepus {
namespace {

double mean_of(const FrameSource& source, const Region& part, const CancelFlag& cancel) {
  const std::int64_t height = part.row1 - part.row0;
  Buffer<float> rows(height * source.columns());
  double sum = 0;
  for (std::int64_t frame = 0; frame < source.frames(); ++frame) {
    cancel.check();
    source.read(frame, part.row0, part.row1, rows.data());
    for (std::int64_t row = 0; row < height; ++row)
      for (std::int64_t column = part.column0; column < part.column1; ++column)
        sum += static_cast<double>(rows[row * source.columns() + column]);
  }
  return sum / static_cast<double>(source.frames() * height * (part.column1 - part.column0));
}

// In counts of the recorded frames; 0 where there are no darks.
double mean_dark_in(const Scan& scan, const Region& part, const CancelFlag& cancel) {
  return scan.darks ? mean_of(*open_frames(*scan.darks), part, cancel) * scan.scales.darks / scan.scales.frames : 0.0;
}

// The whole recorded detector of the selected views: an air region may lie outside the selected rows.
double mean_of_air_region(const Scan& scan, const CancelFlag& cancel) {
  const Region air = scan.air_region.value_or(Region{});
  const auto views = select_frames(open_frames(scan.frames), {scan.selection.frames, 0, 1, scan.recorded.rows});
  const FrameSource& frames = *views;
  if (air.column0 < 0 || air.row0 < 0 || air.column1 > frames.columns() || air.row1 > frames.rows() ||
      air.column0 >= air.column1 || air.row0 >= air.row1)
    throw Error(ErrorKind::input,
                {.what = "the air region is not on the detector",
                 .where = "intensity.air_region_px",
                 .why = format("columns {}..{}, rows {}..{} of a detector of {}x{}", air.column0, air.column1, air.row0,
                               air.row1, frames.columns(), frames.rows()),
                 .hint = "give [first column, end column, first row, end row] of a part without object"});
  return mean_of(frames, air, cancel) - mean_dark_in(scan, air, cancel);
}

// Wider pixels say nothing about what the detector can give.
double detector_maximum(const Scan& scan, PixelType type, const CancelFlag& cancel) {
  if (scan.saturation_level > 0 || bytes_per_pixel(type) <= 2)
    return saturation_level_of(type, scan.saturation_level) -
           mean_dark_in(scan, {0, scan.recorded.columns, 0, scan.recorded.rows}, cancel);
  throw Error(ErrorKind::input, {.what = "the detector's maximum is not known",
                                 .where = "intensity.from",
                                 .why = format("pixels are {}, which says nothing about the detector", name_of(type)),
                                 .hint = "set frames.saturation_level or intensity.value"});
}

}  // namespace

std::unique_ptr<FrameSource> open_like_frames(const FrameFiles& files, const FrameSource& frames, const Scan& scan,
                                              const char* what) {
  auto source = open_frames(files);
  FrameSelection selection = scan.selection;
  selection.frames.resize(static_cast<std::size_t>(source->frames()));
  for (std::size_t i = 0; i < selection.frames.size(); ++i) selection.frames[i] = static_cast<std::int64_t>(i);
  const std::int64_t recorded_rows = source->rows();
  if (source->columns() == frames.columns() &&
      selection.first_row + (selection.rows - 1) * selection.row_step < recorded_rows)
    return select_frames(std::move(source), selection);
  throw Error(ErrorKind::input, {.what = format("the {} have another size than the frames", what),
                                 .where = source->name(0),
                                 .why = format("{}x{} pixels, the frames have {} columns", source->columns(),
                                               recorded_rows, frames.columns()),
                                 .hint = format("give {} taken with the same detector mode", what)});
}

double intensity_without_flats(const Scan& scan, PixelType type, const CancelFlag& cancel) {
  if (scan.intensity == Intensity::air_region) return mean_of_air_region(scan, cancel);
  if (scan.intensity == Intensity::detector_maximum) return detector_maximum(scan, type, cancel);
  return scan.intensity_value / scan.scales.frames;
}

}  // namespace lepus
