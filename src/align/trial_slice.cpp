// SPDX-License-Identifier: Apache-2.0
#include "align/trial_slice.h"

#include <algorithm>
#include <cmath>

#include "align/center_score.h"
#include "device/host/backprojector.h"
#include "filter/filter_sinogram.h"
#include <lepus/error.h>

namespace lepus {
namespace {

struct FilteredTrial {
  FilteredSinogram row;
  double z_mm = 0;  // where the row meets the axis
};

// The height on the axis that a row of a view sees.
double height_on_axis(const ScanGeometry& geometry, double row) {
  const Matrix34& p = geometry.matrices.front();
  if (geometry.beam == Beam::fan) return (row - p(1, 3)) / p(1, 2);
  // (p12 z + p13) = row (p22 z + p23)
  return (row * p(2, 3) - p(1, 3)) / (p(1, 2) - row * p(2, 2));
}

// Where a band sees the axis that crosses the middle row on a column.
double crossing_of(const CenterInput& input, const CenterBand& band, double column, double angle_rad) {
  const AxisLine line = axis_line(input.geometry, input.middle_row);
  return column + std::tan(angle_rad) * line.aspect * (band.middle() - line.middle_row);
}

// A parallel beam needs no sharing out, and none can be made with the axis far to one side.
FdkWeights weights_of(const ScanGeometry& moved) {
  return FdkWeights(moved, {.redundancy = moved.beam != Beam::parallel});
}

FilteredTrial filter_trial(const TrialSetup& setup, Context& context) {
  const CenterInput& input = *setup.input;
  const CenterBand& band = input.bands[static_cast<std::size_t>(setup.band)];
  const AxisLine line = axis_line(input.geometry, input.middle_row);
  const double crossing = crossing_of(input, band, setup.column, setup.angle_rad);
  const std::int64_t columns = input.geometry.columns, views = input.geometry.views();
  const std::vector<float> level = level_row(band, views, columns, crossing, std::tan(setup.angle_rad) / line.aspect);

  const ScanGeometry moved = with_axis_at(input.geometry, band.middle(), crossing, input.options.key);
  const auto row = std::clamp<std::int64_t>(std::llround(band.middle()), 0, input.geometry.rows - 1);
  // A gentle filter: noise at the highest frequencies says nothing about the axis.
  return {filter_sinogram(moved, weights_of(moved), {.window = Window::hann}, level.data(), row, context.threads),
          height_on_axis(moved, band.middle())};
}

void add_view(const FilteredTrial& filtered, std::int64_t view, const PixelLine& line, std::vector<float>& sum) {
  const Matrix34& p = filtered.row.geometry.matrices[static_cast<std::size_t>(view)];
  const Vec3 start{line.start_mm.x, line.start_mm.y, filtered.z_mm};
  const Vec3 first = transform(p, start), next = transform(p, start + line.step_mm);
  const double du = next.x - first.x, dw = next.z - first.z;
  const float* row = filtered.row.of_view(view) - 1;
  const auto last = static_cast<double>(filtered.row.columns + 1);
  for (std::int64_t i = 0; i < line.count; ++i) {
    const double inverse = 1 / (first.z + static_cast<double>(i) * dw);
    const double u = std::clamp((first.x + static_cast<double>(i) * du) * inverse + 1, 0.0, last - 1e-9);
    const auto u0 = static_cast<std::int64_t>(u);
    const auto f = static_cast<float>(u - static_cast<double>(u0));
    sum[static_cast<std::size_t>(i)] += static_cast<float>(inverse * inverse) * (row[u0] + f * (row[u0 + 1] - row[u0]));
  }
}

}  // namespace

bool trial_is_possible(const CenterInput& input, double column, double angle_rad) {
  try {
    for (const CenterBand& band : input.bands)
      weights_of(
          with_axis_at(input.geometry, band.middle(), crossing_of(input, band, column, angle_rad), input.options.key));
    return true;
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::geometry) throw;
    return false;
  }
}

std::vector<std::vector<float>> trial_lines(const TrialSetup& setup, const std::vector<PixelLine>& lines,
                                            Context& context) {
  const FilteredTrial filtered = filter_trial(setup, context);
  std::vector<std::vector<float>> values(lines.size());
  context.threads.parallel_for(0, static_cast<std::int64_t>(lines.size()), 1,
                               [&](std::int64_t begin, std::int64_t end, int) {
                                 for (std::int64_t i = begin; i < end; ++i) {
                                   const PixelLine& line = lines[static_cast<std::size_t>(i)];
                                   auto& sum = values[static_cast<std::size_t>(i)];
                                   sum.assign(static_cast<std::size_t>(line.count), 0.0F);
                                   for (std::int64_t view = 0; view < filtered.row.geometry.views(); ++view)
                                     add_view(filtered, view, line, sum);
                                 }
                               });
  return values;
}

std::vector<PixelLine> TrialFrame::rows() const {
  std::vector<PixelLine> lines;
  for (std::int64_t i = 0; i < size; ++i)
    lines.push_back({{position_mm(0), -position_mm(i), 0}, {pixel_mm(), 0, 0}, size});
  return lines;
}

TrialFrame trial_frame(const CenterInput& input) {
  // Half of the detector at the axis, wherever on it the axis will turn out to be; never near the source.
  const Camera camera = camera_of(input.geometry, 0);
  double half = 0.5 * static_cast<double>(input.geometry.columns) * norm(camera.column_step_mm);
  if (camera.beam != Beam::parallel) half = std::min(half, 0.6 * source_axis_mm(camera));
  return {half, input.options.image_size > 0 ? input.options.image_size
                                             : std::clamp<std::int64_t>(input.geometry.columns, 32, 1024)};
}

// A whole slice is worth the backprojector: the row is a fan's, or a parallel beam's, with all of the slice in its
// plane.
TrialImage trial_image(const CenterInput& input, std::int64_t band, double column, double in_plane_deg,
                       Context& context) {
  const TrialFrame frame = trial_frame(input);
  const double angle = axis_line(input.geometry, input.middle_row).angle_of_in_plane(in_plane_deg);
  const FilteredTrial filtered = filter_trial({&input, band, column, angle}, context);
  ScanGeometry plane = filtered.row.geometry;
  plane.rows = 1;
  if (plane.beam == Beam::cone) plane.beam = Beam::fan;
  for (Matrix34& p : plane.matrices)
    for (int i = 0; i < 3; ++i) {
      p(i, 3) += p(i, 2) * filtered.z_mm;
      p(i, 2) = 0;
      if (i == 1) p(i, 0) = p(i, 1) = p(i, 3) = 0;
    }
  const VolumeGrid grid{frame.size,
                        frame.size,
                        1,
                        {frame.position_mm(0), -frame.position_mm(0), 0},
                        {frame.pixel_mm(), -frame.pixel_mm(), 1}};
  const auto kernel = make_backprojector(plane, grid, Interpolation::linear);
  BandSet views{0, 1, {}};
  for (const std::int64_t view : kernel->view_order()) views.bands.push_back({filtered.row.of_view(view), 0, 1});
  TrialImage image{column, frame.size, frame.pixel_mm(),
                   std::vector<float>(static_cast<std::size_t>(frame.size * frame.size))};
  kernel->accumulate(views, {image.values.data(), 0, 1, 1}, context.threads);
  return image;
}

}  // namespace lepus
