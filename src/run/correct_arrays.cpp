// SPDX-License-Identifier: Apache-2.0
// Corrections of arrays, for users of the library: the structs of include/lepus/correct.h become those of src/correct,
// and one band of all rows goes through them, with the log where it belongs.
#include <algorithm>
#include <cmath>

#include "core/check_numbers.h"
#include "core/format.h"
#include "core/memory.h"
#include "correct/beam/beam.h"
#include "correct/pixels/pixels.h"
#include "correct/rings/rings_correction.h"
#include "device/host/device.h"
#include "geometry/check_scan.h"
#include "preprocess/normalise.h"
#include "run/band_engine.h"
#include "run/memory_io.h"
#include <lepus/correct.h>
#include <lepus/error.h>

namespace lepus {
namespace {

using Made = std::unique_ptr<Correction>;

Made make_step(const corrections::HotPixels& o, const ScanFacts& facts) {
  return make_hot_pixels({.tolerance = o.tolerance, .below = o.below, .iterations = o.iterations}, facts);
}
Made make_step(const corrections::Zingers& o, const ScanFacts& facts) {
  return make_zingers({.tolerance = o.tolerance, .radius_views = o.radius_views}, facts);
}
Made make_step(const corrections::DeadPixels& o, const ScanFacts& facts) {
  return make_dead_pixels({}, facts, o.pixels);
}
Made make_step(const corrections::Drift& o, const ScanFacts& facts) {
  DriftOptions options;
  if (o.air) options.region = {o.air->column0, o.air->column1, o.air->row0, o.air->row1};
  return make_drift(options, facts);
}
Made make_step(const corrections::Dose& o, const ScanFacts& facts) {
  return make_dose({.values = o.values, .reference = o.reference}, facts);
}
Made make_step(const corrections::Lag& o, const ScanFacts& facts) {
  return make_lag({.fraction = o.fraction, .decay_frames = o.decay_frames}, facts);
}
Made make_step(const corrections::Phase& o, const ScanFacts& facts) {
  return make_phase({.energy_kev = o.energy_kev, .delta_over_beta = o.delta_over_beta, .distance_mm = o.distance_mm},
                    facts);
}
Made make_step(const corrections::Hardening& o, const ScanFacts& facts) {
  return make_hardening({.coefficients = o.coefficients}, facts);
}
Made make_step(const corrections::Rings& o, const ScanFacts& facts) {
  check_named(o.method, corrections::Rings::Method::combined, "corrections::Rings::Method");
  constexpr std::optional<RingMethod> methods[] = {std::nullopt, RingMethod::trend, RingMethod::wavelet_fourier,
                                                   RingMethod::sorting, RingMethod::combined};
  RingsOptions options;
  options.method = methods[static_cast<std::size_t>(o.method)];
  return make_rings(options, facts);
}

struct StepKind {
  const char* name;
  std::optional<Stage> needs;  // none: either
};
// In the order of CorrectionStep.
constexpr StepKind step_kinds[] = {{"hot pixels", std::nullopt},  {"zingers", std::nullopt},
                                   {"dead pixels", std::nullopt}, {"drift", Stage::grey_levels},
                                   {"dose", Stage::grey_levels},  {"lag", Stage::grey_levels},
                                   {"phase", Stage::grey_levels}, {"hardening", Stage::line_integrals},
                                   {"rings", std::nullopt}};
static_assert(std::size(step_kinds) == std::variant_size_v<CorrectionStep>);

const StepKind& kind_of(const CorrectionStep& step) { return step_kinds[step.index()]; }

// Grey levels up to the last step that needs them, line integrals from there on.
std::vector<Stage> stages_of(std::span<const CorrectionStep> steps) {
  std::size_t grey = 0;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (kind_of(steps[i]).needs == Stage::grey_levels) grey = i + 1;
  std::vector<Stage> stages;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    stages.push_back(i < grey ? Stage::grey_levels : Stage::line_integrals);
    if (i < grey && kind_of(steps[i]).needs == Stage::line_integrals)
      throw Error(ErrorKind::usage,
                  {.what = format("\"{}\" stands before \"{}\"", kind_of(steps[i]).name, kind_of(steps[grey - 1]).name),
                   .where = format("correction {}", i + 1),
                   .why = "the first needs line integrals, the second grey levels",
                   .hint = "exchange them"});
  }
  return stages;
}

void require_values(const MemoryFrames& frames, std::int64_t given) {
  const std::int64_t needed = frames.frames() * frames.rows() * frames.columns();
  if (given != needed)
    throw Error(ErrorKind::usage, {.what = format("an array of {} values", given),
                                   .where = "correct",
                                   .why = format("the geometry makes it {}", needed),
                                   .hint = {}});
}

void require_numbers(const char* image, const MemoryFrames& frames) {
  const std::int64_t columns = frames.columns(), rows = frames.rows(), count = frames.frames() * rows * columns;
  const auto* const values = static_cast<const float*>(frames.in_memory(0, 0));
  const auto* const bad = std::find_if(values, values + count, [](float value) { return !std::isfinite(value); });
  if (const std::int64_t at = bad - values; at < count)
    throw Error(ErrorKind::input, {.what = "a value is not a number",
                                   .where = format("{} {}, row {}, column {}", image, at / (rows * columns),
                                                   at / columns % rows, at % columns),
                                   .why = {},
                                   .hint = "replace it, or list the pixel as dead after giving it any value"});
}

// Says which share of the counts is not above the dark, where it is one in ten thousand or more; pixels that are
// replaced anyhow are left out.
std::string warning_of_dark(const MemoryFrames& frames, const Normalisation& normalisation) {
  const std::int64_t pixels = frames.columns() * frames.rows();
  const auto* const counts = static_cast<const float*>(frames.in_memory(0, 0));
  std::vector<bool> replaced(static_cast<std::size_t>(pixels), false);
  for (const std::int64_t pixel : normalisation.unusable) replaced[static_cast<std::size_t>(pixel)] = true;
  std::int64_t at_dark = 0;
  for (std::int64_t i = 0; i < frames.frames() * pixels; ++i) {
    const std::int64_t pixel = i % pixels;
    const float dark = normalisation.dark.size() > 0 ? normalisation.dark[pixel] : 0.0F;
    if (!replaced[static_cast<std::size_t>(pixel)] && counts[i] - dark <= 0) ++at_dark;
  }
  const double share = static_cast<double>(at_dark) / static_cast<double>(frames.frames() * pixels);
  if (share < 1e-4) return {};
  return format(
      "{:.3g} % of the counts are not above the dark and were taken for {:g}: check the dark, and list pixels "
      "that are dead",
      100 * share, normalisation.clip);
}

// What comes out goes to `out`, [view][row][column], which may be the frames' own memory.
std::vector<std::string> correct(const ScanGeometry& geometry, const MemoryFrames& frames,
                                 const Normalisation* normalisation, std::span<const CorrectionStep> steps, float* out,
                                 const CorrectOptions& options) {
  const std::int64_t columns = frames.columns(), rows = frames.rows(), views = frames.frames();
  const auto* const recorded = static_cast<const float*>(frames.in_memory(0, 0));
  const std::vector<Stage> stages = stages_of(steps);
  ThreadPool threads(options.threads, options.cancel);
  const auto device = host::make_device("cpu", threads);
  const auto queue = device->make_queue();
  BandKernels& kernels = device->band_kernels();
  Buffer<float> values(views * rows * columns);
  const RowBand all{0, rows};
  const SinogramBand band{values.data(), columns, views, all, rows};

  Stage stage = stages.empty() ? Stage::line_integrals : stages.front();
  BandStaging staging;
  using enum BandStage;
  if (normalisation) {
    staging.to = stage == Stage::grey_levels ? counts_to_grey : counts_to_line;
    staging.dark = normalisation->dark.size() > 0 ? normalisation->dark.data() : nullptr;
    staging.log_i0 = normalisation->log_i0.size() > 0 ? normalisation->log_i0.data() : nullptr;
    staging.log_i0_everywhere = normalisation->log_i0_everywhere;
    staging.clip = normalisation->clip;
  } else {
    staging.to = stage == Stage::grey_levels ? line_to_grey : as_it_is;
  }
  kernels.to_stage(PixelType::f32, recorded, band, staging, *queue);
  const auto take_log = [&] {
    staging.to = normalisation ? counts_to_line : as_it_is;
    kernels.logarithm(band, staging, lowest_grey_of_lines, *queue);
    stage = Stage::line_integrals;
  };

  Progress silent;
  Progress& progress = options.progress ? *options.progress : silent;
  std::vector<std::string> reports;
  progress.begin("correcting", std::ssize(steps));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (options.cancel) options.cancel->check();
    if (stage == Stage::grey_levels && stages[i] == Stage::line_integrals) take_log();
    ScanFacts facts;
    facts.columns = columns;
    facts.rows = rows;
    facts.views = views;
    facts.geometry = &geometry;
    facts.stage = stage;
    facts.threads = &threads;
    facts.warning = [&](const std::string& message) {
      reports.push_back(message);
      progress.warning(format("{}: {}", kind_of(steps[i]).name, message));
    };
    facts.band = [&](RowBand part) {
      Buffer<float> copy(part.size() * views * columns);
      std::copy_n(band.sinograms(part).data, copy.size(), copy.begin());
      return copy;
    };
    const Made correction = std::visit([&](const auto& given) { return make_step(given, facts); }, steps[i]);
    correction->apply(band, all, *queue);
    queue->wait();
    reports.push_back(format("{}: {}", kind_of(steps[i]).name, correction->summary()));
    if (const std::string look = correction->judge(); !look.empty()) facts.warning(look);
    progress.advance();
  }
  progress.end();
  if (stage == Stage::grey_levels) take_log();
  for (std::int64_t view = 0; view < views; ++view)
    for (std::int64_t row = 0; row < rows; ++row)
      std::copy_n(band.sinograms(all).row(row, view), columns, out + (view * rows + row) * columns);
  return reports;
}

}  // namespace

std::vector<std::string> correct_counts(const ScanGeometry& geometry, std::span<const float> counts,
                                        const OpenBeam& beam, std::span<const CorrectionStep> steps,
                                        std::span<float> line_integrals, const CorrectOptions& options) {
  check_scan(geometry, "a correction");
  const MemoryFrames frames(geometry, counts.data());
  require_values(frames, std::ssize(counts));
  require_values(frames, std::ssize(line_integrals));
  ScanGeometry one_view = geometry;
  one_view.matrices.resize(1);
  const MemoryFrames flat(one_view, beam.flat.data()), dark(one_view, beam.dark.data());
  if (!beam.flat.empty()) require_values(flat, std::ssize(beam.flat));
  if (!beam.dark.empty()) require_values(dark, std::ssize(beam.dark));
  if (!beam.flat.empty()) require_numbers("flat", flat);
  if (!beam.dark.empty()) require_numbers("dark", dark);
  require_numbers("view", frames);
  stages_of(steps);  // by the caller's numbers, before one is put before them
  const MemoryFrames* const darks = beam.dark.empty() ? nullptr : &dark;
  const Normalisation normalisation =
      beam.flat.empty() ? normalisation_from_value(beam.counts, darks, frames.columns(), frames.rows(), PixelType::f32)
                        : normalisation_from_flats(flat, darks, PixelType::f32);
  std::vector<CorrectionStep> all(steps.begin(), steps.end());
  // Where the flat is not above the dark there is nothing to hold counts against.
  if (!normalisation.unusable.empty()) all.insert(all.begin(), corrections::DeadPixels{normalisation.unusable});
  const std::string dark_counts = warning_of_dark(frames, normalisation);  // line_integrals may be their memory
  std::vector<std::string> reports = correct(geometry, frames, &normalisation, all, line_integrals.data(), options);
  if (!dark_counts.empty()) reports.push_back(dark_counts);
  if (!dark_counts.empty() && options.progress) options.progress->warning(dark_counts);
  return reports;
}

std::vector<std::string> correct_line_integrals(const ScanGeometry& geometry, std::span<float> line_integrals,
                                                std::span<const CorrectionStep> steps, const CorrectOptions& options) {
  check_scan(geometry, "a correction");
  const MemoryFrames frames(geometry, line_integrals.data());
  require_values(frames, std::ssize(line_integrals));
  require_numbers("view", frames);
  return correct(geometry, frames, nullptr, steps, line_integrals.data(), options);
}

}  // namespace lepus
