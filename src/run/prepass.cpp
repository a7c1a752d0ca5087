// SPDX-License-Identifier: Apache-2.0
#include "run/prepass.h"

#include <algorithm>
#include <cmath>
#include <future>

#include "core/format.h"
#include "correct/beam/beam.h"
#include "filter/consistency.h"
#include "filter/truncation.h"
#include "geometry/helix.h"
#include "geometry/row_band.h"
#include "run/intensity.h"
#include "run/prepass_results.h"
#include "preprocess/arc_resample.h"
#include "preprocess/dead_pixels.h"
#include "preprocess/row_audit.h"
#include "scan/correction_options.h"

namespace lepus {
namespace {

Normalised normalised(const Scan& scan, const FrameSource& frames, Context& context) {
  Normalised made;
  std::unique_ptr<FrameSource> darks;
  if (scan.darks) {
    darks = open_like_frames(*scan.darks, frames, scan, "darks");
    made.darks_checksum = frames_checksum(*darks);
  }
  if (scan.intensity == Intensity::flats) {
    if (!scan.flats)
      throw Error(ErrorKind::input,
                  {.what = "the scan has no flats",
                   .where = "frames.flats",
                   .why = "I0 is to come from flats",
                   .hint = "name the flats, or set intensity.from to value, air-region or detector-maximum"});
    const auto flats = open_like_frames(*scan.flats, frames, scan, "flats");
    made.flats_checksum = frames_checksum(*flats);
    made.maps = normalisation_from_flats(*flats, darks.get(), frames.pixel_type(), scan.scales);
    made.intensity = format("mean of {} flats", flats->frames());
    return made;
  }
  const double i0 = intensity_without_flats(scan, frames.pixel_type(), context.cancel);
  made.maps =
      normalisation_from_value(i0, darks.get(), frames.columns(), frames.rows(), frames.pixel_type(), scan.scales);
  made.intensity = format("{}, I0 = {:.6g}",
                          scan.intensity == Intensity::value        ? "intensity.value"
                          : scan.intensity == Intensity::air_region ? "air region"
                                                                    : "detector's maximum",
                          i0);
  return made;
}

void normalise(const Scan& scan, PrePass& pre, Context& context, KeptResults* kept) {
  if (scan.content == FrameContent::line_integrals) return;
  Normalised made = kept_or_made(
      kept, "normalisation", [&] { return normalised(scan, *pre.frames, context); },
      [](const Normalised& n) { return to_bytes(n); }, normalised_from);
  pre.normalisation = std::make_unique<Normalisation>(std::move(made.maps));
  pre.flats_checksum = made.flats_checksum;
  pre.darks_checksum = made.darks_checksum;
  pre.intensity = made.intensity;
}

void refuse_dead_flats(const Scan& scan, const PrePass& pre) {
  if (!pre.normalisation || pre.normalisation->unusable.empty()) return;
  const bool corrected = std::any_of(scan.corrections.begin(), scan.corrections.end(),
                                     [](const CorrectionSpec& c) { return c.kind == "dead-pixels"; });
  if (corrected) return;
  const auto& bad = pre.normalisation->unusable;
  const std::int64_t not_finite = pre.normalisation->not_finite;
  throw Error(ErrorKind::input,
              {.what = format(
                   "{} pixels of the mean flat are zero, negative{}", bad.size(),
                   not_finite > 0 ? format(" or not numbers ({} of them)", not_finite) : " or no more than the dark"),
               .where = format("{}, first at column {}, row {}", "frames.flats",
                               bad.front() % pre.normalisation->columns, bad.front() / pre.normalisation->columns),
               .why = "the flat is not above the dark there, so that no line integral can be made",
               .hint = "add [[correct]] kind = \"dead-pixels\" to the scan file to interpolate them, or check the "
                       "flats and darks"});
}

// Views in which the beam was off or shut: even their brightest tenth is a hundredth of what it is in the others. No
// number is wrong in them, but they draw streaks through the whole volume.
void warn_of_dark_views(const std::vector<float>& sinogram, std::int64_t columns, const PrePass& pre,
                        std::vector<std::string>& warnings) {
  constexpr float hundredth = 4.6F;  // ln 100
  if (!pre.normalisation || sinogram.empty()) return;
  std::vector<float> brightest;
  for (auto view = sinogram.begin(); view != sinogram.end(); view += columns) {
    std::vector<float> sorted(view, view + columns);
    const auto tenth = sorted.begin() + columns / 10;
    std::nth_element(sorted.begin(), tenth, sorted.end());
    brightest.push_back(*tenth);
  }
  std::vector<float> sorted(brightest);
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  const auto is_dark = [&](float p) { return p - *middle > hundredth; };
  const auto dark = std::count_if(brightest.begin(), brightest.end(), is_dark);
  if (dark == 0) return;
  const auto first = std::find_if(brightest.begin(), brightest.end(), is_dark) - brightest.begin();
  warnings.push_back(
      format("{} without beam (less than 1 % of the others'), first {}: streaks will run through the "
             "volume; leave such frames out, with the angles of the others given",
             dark == 1 ? "a view" : format("{} views", dark), pre.frames->name(first)));
}

// Null where all flats were taken at one time.
std::unique_ptr<Correction> flats_of_each_view(const Scan& scan, const PrePass& pre, KeptResults* kept) {
  if (scan.flat_series.empty() || scan.intensity != Intensity::flats || !pre.normalisation) return nullptr;
  const Normalisation& n = *pre.normalisation;
  std::vector<double> positions;
  std::vector<Buffer<float>> flats;
  for (const Scan::FlatsAt& group : scan.flat_series) {
    positions.push_back(group.view);
    flats.push_back(kept_or_made(
        kept, format("flats {}", flats.size()),
        [&] { return mean_frame(*open_like_frames(group.files, *pre.frames, scan, "flats")); },
        [](const Buffer<float>& mean) { return to_bytes(mean); }, values_from));
    for (float& flat : flats.back()) flat = scan.scales.flat(flat);
    for (std::int64_t i = 0; i < n.dark.size(); ++i) flats.back()[i] -= n.dark[i];
  }
  Buffer<float> mean(n.columns * n.rows);
  for (std::int64_t i = 0; i < mean.size(); ++i) mean[i] = std::exp(n.log_i0[i]);
  for (const std::int64_t dead : n.unusable) mean[dead] = 0;
  return make_flat_interpolation(
      FlatSeries(n.columns, n.rows, pre.frames->frames(), std::move(positions), std::move(flats)), std::move(mean));
}

std::optional<std::vector<std::int64_t>> only_dead_pixels(const Scan& scan, const PrePass& pre) {
  if (!scan.flat_series.empty()) return std::nullopt;
  if (scan.corrections.empty()) return std::vector<std::int64_t>{};
  const CorrectionSpec& spec = scan.corrections.front();
  const bool only = scan.corrections.size() == 1 && spec.kind == "dead-pixels" && pre.normalisation &&
                    place_corrections(scan.corrections).front() == Stage::line_integrals &&
                    !spec.parameters.contains("write");
  if (!only) return std::nullopt;
  std::vector<std::int64_t> dead = dead_pixels(*pre.normalisation, dead_pixel_options(spec).threshold);
  // A row that is dead from end to end is bridged between its neighbours, which streaming rows do not have.
  const std::int64_t columns = pre.normalisation->columns;
  for (std::size_t i = 0; i + static_cast<std::size_t>(columns) <= dead.size(); ++i)
    if (dead[i] % columns == 0 && dead[i + static_cast<std::size_t>(columns) - 1] == dead[i] + columns - 1)
      return std::nullopt;
  return dead;
}

std::vector<std::string> warnings_of_middle_row(const Scan& scan, const PrePass& pre, Context& context) {
  std::vector<std::string> warnings;
  const std::int64_t row = consistency_row(scan.geometry);
  const auto flat_row = [&](std::int64_t v) { return flat_rows(scan.geometry, pre, {v, v + 1}, context); };
  const std::vector<float> sinogram = flat_row(row);
  const bool iterative = scan.method.iterative();
  if (iterative ? scan.method.extend[0] <= 0 || scan.method.extend[1] <= 0 : scan.filter.extrapolate <= 0)
    if (auto message = truncation(scan.geometry, row, sinogram.data())
                           .message(iterative ? "method.extend = [0.1, 0.1, 0.0], as far as the object reaches," : "");
        !message.empty())
      warnings.push_back(std::move(message));
  warn_of_dark_views(sinogram, scan.geometry.columns, pre, warnings);
  if (is_helical(scan.geometry)) return warnings;  // half a turn later rays are at another height
  const OppositeRays rays(scan.geometry, row, sinogram.data());
  const Consistency turning = check_turning(rays);
  if (turning.verdict == Turning::backwards || turning.verdict == Turning::mirrored)
    warnings.push_back(turning.message);
  else if (auto message = what_does_not_fit(scan.geometry, row, rays, flat_row, scan.axis_was_sought); !message.empty())
    warnings.push_back(std::move(message));
  return warnings;
}

}  // namespace

std::vector<float> flat_rows(const ScanGeometry& geometry, const PrePass& pre, RowBand flat, Context& context) {
  std::optional<ArcResampler> arc;
  if (geometry.recorded_on_arc) arc.emplace(geometry);
  const RowBand recorded = arc ? arc->recorded_rows(0, flat) : flat;  // an arc's map is the same in every view
  const Buffer<float> corrected = pre.chain->corrected(recorded, context.threads);
  if (!arc) return {corrected.begin(), corrected.end()};
  const std::int64_t views = pre.frames->frames(), width = pre.frames->columns(), columns = geometry.columns;
  std::vector<float> all(static_cast<std::size_t>(flat.size() * views * columns));
  std::vector<float> one(static_cast<std::size_t>(recorded.size() * width));
  std::vector<float> level(static_cast<std::size_t>(flat.size() * columns));
  for (std::int64_t view = 0; view < views; ++view) {
    for (std::int64_t row = 0; row < recorded.size(); ++row)
      std::copy_n(corrected.data() + (row * views + view) * width, width, one.data() + row * width);
    arc->apply(view, flat, one.data(), level.data());
    for (std::int64_t row = 0; row < flat.size(); ++row)
      std::copy_n(level.data() + row * columns, columns, all.data() + (row * views + view) * columns);
  }
  return all;
}

namespace {

PrePass with_normalisation(const Scan& scan, Context& context, KeptResults* kept) {
  PrePass pre;
  pre.frames = select_frames(open_frames(scan.frames), scan.selection);
  normalise(scan, pre, context, kept);
  refuse_dead_flats(scan, pre);
  return pre;
}

void look_at_corrected_rows(const Scan& scan, PrePass& pre, Context& context, KeptResults* kept) {
  pre.chain = std::make_unique<CorrectionChain>(scan, *pre.frames, pre.normalisation.get(), context,
                                                flats_of_each_view(scan, pre, kept), kept);
  pre.only_dead_pixels = only_dead_pixels(scan, pre);
  pre.warnings = pre.chain->warnings_of_making();
  const std::vector<std::string> seen = kept_or_made(
      kept, "middle row", [&] { return warnings_of_middle_row(scan, pre, context); },
      [](const std::vector<std::string>& texts) { return to_bytes(texts); }, texts_from);
  pre.warnings.insert(pre.warnings.end(), seen.begin(), seen.end());
  pre.chain->judge_replaced();  // before hours of work
}

}  // namespace

PrePass pre_pass(const Scan& scan, Context& context, KeptResults* kept) {
  PrePass pre = with_normalisation(scan, context, kept);
  look_at_corrected_rows(scan, pre, context, kept);
  return pre;
}

PrePass checked_pre_pass(const Scan& scan, Context& context, KeptResults* kept) {
  // Flats and darks are read while the counts are looked at; what is wrong with the counts is said first.
  std::future<PrePass> normalising =
      std::async(std::launch::async, [&] { return with_normalisation(scan, context, kept); });
  CountFigures counts = kept_or_made(
      kept, "counts", [&] { return look_at_counts(scan, context.cancel); },
      [](const CountFigures& figures) { return to_bytes(figures); }, counts_from);
  if (counts.constant)
    throw Error(ErrorKind::input,
                {.what = "the frames are empty",
                 .where = scan.frames.files.front().string(),
                 .why = counts.warnings.front(),
                 .hint = "look at them with lepus info, and name the files and dataset that hold the scan"});
  PrePass pre = normalising.get();
  look_at_corrected_rows(scan, pre, context, kept);
  pre.warnings.insert(pre.warnings.begin(), counts.warnings.begin(), counts.warnings.end());
  pre.counts = std::move(counts);
  return pre;
}

}  // namespace lepus
