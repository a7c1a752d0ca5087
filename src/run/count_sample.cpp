// SPDX-License-Identifier: Apache-2.0
#include "run/count_sample.h"

#include <algorithm>

#include "run/intensity.h"
#include "preprocess/row_audit.h"

namespace lepus {
namespace {

constexpr std::int64_t maximum_views = 24, maximum_views_of_all_rows = 4, maximum_groups = 16, rows_of_group = 4;

// At most `most` of the numbers 0 to count - 1, evenly spaced, the first and the last among them.
std::vector<std::int64_t> evenly(std::int64_t count, std::int64_t most) {
  std::vector<std::int64_t> chosen(static_cast<std::size_t>(std::min(count, most)));
  for (std::size_t i = 0; i < chosen.size(); ++i)
    chosen[i] = chosen.size() == 1
                    ? count / 2
                    : static_cast<std::int64_t>(i) * (count - 1) / static_cast<std::int64_t>(chosen.size() - 1);
  return chosen;
}

std::vector<RowBand> groups_of(std::int64_t rows, CountSample::Rows wanted) {
  std::vector<RowBand> groups;
  const std::int64_t there = (rows + rows_of_group - 1) / rows_of_group;
  for (const std::int64_t group : evenly(there, wanted == CountSample::Rows::all ? there : maximum_groups))
    groups.push_back({group * rows_of_group, std::min(rows, (group + 1) * rows_of_group)});
  return groups;
}

}  // namespace

CountSample::CountSample(const Scan& scan, Rows rows, const CancelFlag& cancel)
    : frames_(select_frames(open_frames(scan.frames), scan.selection)),
      views_(evenly(frames_->frames(), rows == Rows::all ? maximum_views_of_all_rows : maximum_views)),
      groups_(groups_of(frames_->rows(), rows)),
      saturation_level_(saturation_level_of(frames_->pixel_type(), scan.saturation_level)) {
  for (const RowBand group : groups_) {
    dark_.emplace_back(static_cast<std::size_t>(group.size() * columns()), 0.0F);
    open_.emplace_back(dark_.back().size(), 1.0F);
  }
  if (scan.content == FrameContent::counts) read_calibration(scan, cancel);
}

std::vector<float> CountSample::mean_of(const FrameSource& source, RowBand rows, const CancelFlag& cancel) const {
  std::vector<float> frame(static_cast<std::size_t>(rows.size() * columns()));
  std::vector<double> sum(frame.size());
  for (std::int64_t i = 0; i < source.frames(); ++i) {
    cancel.check();
    source.read(i, rows.first, rows.last, frame.data());
    std::transform(sum.begin(), sum.end(), frame.begin(), sum.begin(),
                   [](double a, float b) { return a + static_cast<double>(b); });
  }
  std::transform(sum.begin(), sum.end(), frame.begin(),
                 [&](double a) { return static_cast<float>(a / static_cast<double>(source.frames())); });
  return frame;
}

void CountSample::read_calibration(const Scan& scan, const CancelFlag& cancel) {
  const auto darks = scan.darks ? open_like_frames(*scan.darks, *frames_, scan, "darks") : nullptr;
  const auto flats = scan.intensity == Intensity::flats && scan.flats
                         ? open_like_frames(*scan.flats, *frames_, scan, "flats")
                         : nullptr;
  const auto i0 = flats ? 0.0F : static_cast<float>(intensity_without_flats(scan, frames_->pixel_type(), cancel));
  double darkness = 0, openness = 0;
  std::int64_t saturated = 0, pixels = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    std::vector<float>&dark = dark_[g], &open = open_[g];
    if (darks) dark = mean_of(*darks, groups_[g], cancel);
    if (flats)
      open = mean_of(*flats, groups_[g], cancel);
    else
      std::fill(open.begin(), open.end(), i0);
    for (std::size_t i = 0; i < dark.size(); ++i) {
      dark[i] = scan.scales.dark(dark[i]);
      if (flats) {
        saturated += static_cast<double>(open[i]) >= saturation_level_;
        open[i] = scan.scales.flat(open[i]) - dark[i];
      }
      darkness += static_cast<double>(dark[i]);
      openness += static_cast<double>(open[i]);
      ++pixels;
    }
  }
  saturated_flats_ = static_cast<double>(saturated) / static_cast<double>(pixels);
  dark_to_open_ = darkness / openness;
  if (flats && !scan.flat_series.empty()) read_flat_series(scan, cancel);
}

void CountSample::read_flat_series(const Scan& scan, const CancelFlag& cancel) {
  std::vector<std::unique_ptr<FrameSource>> sets;
  std::vector<double> positions;
  for (const Scan::FlatsAt& set : scan.flat_series) {
    sets.push_back(open_like_frames(set.files, *frames_, scan, "flats"));
    positions.push_back(set.view);
  }
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    std::vector<Buffer<float>> planes;
    for (const auto& set : sets) {
      const std::vector<float> mean = mean_of(*set, groups_[g], cancel);
      Buffer<float>& plane = planes.emplace_back(std::ssize(mean));
      std::transform(mean.begin(), mean.end(), dark_[g].begin(), plane.begin(),
                     [&](float flat, float dark) { return scan.scales.flat(flat) - dark; });
    }
    flats_.emplace_back(columns(), groups_[g].size(), frames_->frames(), positions, std::move(planes));
  }
}

std::vector<float> CountSample::open_beam(std::size_t group, std::int64_t view) const {
  if (flats_.empty()) return open_[group];
  const FlatShare at = flats_[group].share(view);
  const float *before = flats_[group].plane(at.before), *after = flats_[group].plane(at.after);
  std::vector<float> open(open_[group].size());
  for (std::size_t i = 0; i < open.size(); ++i) open[i] = interpolated_flat(before[i], after[i], at.share);
  return open;
}

}  // namespace lepus
