// SPDX-License-Identifier: Apache-2.0
#include "run/correction_chain.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "core/format.h"
#include "correct/rings/ring_energy.h"
#include "io/pixels.h"
#include "project/grey_levels.h"
#include "run/make_correction.h"
#include "run/prepass_results.h"
#include "scan/keys.h"
#include "scan/parameters.h"
#include <lepus/error.h>

namespace lepus {
namespace {

// None: on either side of the log.
std::optional<Stage> stage_of(const CorrectionSpec& spec) {
  const auto kinds = correction_kinds();
  const auto kind = std::ranges::find(kinds, spec.kind, &CorrectionKind::name);
  std::string on(kind == kinds.end() ? "" : kind->works_on);
  if (spec.parameters.contains("on")) on = text_of(spec, "on");
  if (on == "either") return std::nullopt;
  return on.starts_with("grey") ? Stage::grey_levels : Stage::line_integrals;
}

std::int64_t middle_row_of(RowBand rows) { return (rows.first + rows.last) / 2; }

}  // namespace

std::vector<Stage> place_corrections(const std::vector<CorrectionSpec>& specs) {
  const auto last_grey = std::find_if(specs.rbegin(), specs.rend(), [](const CorrectionSpec& spec) {
                           return stage_of(spec) == Stage::grey_levels;
                         }).base();
  std::vector<Stage> stages;
  const CorrectionSpec* after_the_log = nullptr;
  for (auto spec_at = specs.begin(); spec_at != specs.end(); ++spec_at) {
    const CorrectionSpec& spec = *spec_at;
    const auto stage_here = stage_of(spec);
    stages.push_back(stage_here.value_or(spec_at < last_grey ? Stage::grey_levels : Stage::line_integrals));
    if (stage_here == Stage::line_integrals) {
      after_the_log = &spec;
    } else if (after_the_log && stage_here == Stage::grey_levels) {
      std::string order;
      for (const Stage stage : {Stage::grey_levels, Stage::line_integrals})
        for (const CorrectionSpec& other : specs)
          if (stage_of(other) == stage) order += (order.empty() ? "" : ", ") + other.kind;
      refuse(spec, "it belongs before the log",
             format("it works on grey levels, and \"{}\" before it on line integrals", after_the_log->kind),
             format("this order works: {}; or set `on` of one of them where it can work on both", order));
    }
  }
  return stages;
}

void check_corrections(const Scan& scan) {
  struct LooksAtRows {};
  const std::int64_t columns = scan.recorded.columns, rows = scan.selection.rows;
  Normalisation normalisation;
  normalisation.columns = columns;
  normalisation.rows = rows;
  if (scan.intensity == Intensity::flats) {  // without a dead pixel, as far as is known
    normalisation.log_i0 = Buffer<float>(columns * rows);
    std::ranges::fill(normalisation.log_i0, 0.0F);
  }
  const std::vector<Stage> stages = place_corrections(scan.corrections);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    ScanFacts facts{.columns = columns,
                    .rows = rows,
                    .views = scan.geometry.views(),
                    .geometry = &scan.geometry,
                    .stage = stages[i],
                    .band = [](RowBand) -> Buffer<float> { throw LooksAtRows{}; }};
    try {
      make_correction(scan.corrections[i], facts,
                      {&scan, scan.content == FrameContent::counts ? &normalisation : nullptr});
    } catch (const LooksAtRows&) {  // what they say is not known yet
    }
  }
}

struct CorrectionChain::Step {
  CorrectionSpec spec;
  Stage stage;
  std::unique_ptr<Correction> correction;
  // At the middle rows of bands so far.
  struct Looked {
    double squared_change = 0, rings_before = 0, rings_after = 0;
  };
  std::deque<Looked> looked = {};  // whose elements stay where they are
};

CorrectionChain::CorrectionChain(const Scan& scan, const FrameSource& frames, const Normalisation* normalisation,
                                 Context& context, std::unique_ptr<Correction> flats, KeptResults* kept)
    : frames_(frames),
      normalisation_(normalisation),
      columns_(frames.columns()),
      rows_(frames.rows()),
      views_(frames.frames()) {
  if (flats) {
    CorrectionSpec spec;
    spec.kind = "flats";
    steps_.push_back(std::make_unique<Step>(Step{std::move(spec), Stage::grey_levels, std::move(flats)}));
  }
  const std::vector<Stage> stages = place_corrections(scan.corrections);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    ScanFacts facts;
    facts.columns = columns_;
    facts.rows = rows_;
    facts.views = views_;
    facts.geometry = &scan.geometry;
    facts.stage = stages[i];
    facts.threads = &context.threads;
    facts.warning = [this](const std::string& message) { warnings_of_making_.push_back(message); };
    facts.band = [this, stage = stages[i], steps = steps_.size(), &context, kept](RowBand rows) {
      return kept_or_made(
          kept, format("rows {} to {} before correction {}", rows.first, rows.last, steps),
          [&] { return rows_after(steps, stage, rows, context.threads); },
          [](const Buffer<float>& values) { return to_bytes(values); }, values_from);
    };
    auto correction = make_correction(scan.corrections[i], facts, {&scan, normalisation});
    steps_.push_back(std::make_unique<Step>(Step{scan.corrections[i], stages[i], std::move(correction)}));
  }
}

CorrectionChain::~CorrectionChain() = default;

bool CorrectionChain::needs_all_views() const {
  return std::ranges::any_of(steps_, [](const auto& step) { return step->correction->needs_all_views(); });
}

std::vector<RowBand> CorrectionChain::rows_of_steps(RowBand wanted, std::size_t steps) const {
  std::vector<RowBand> rows(steps + 1, wanted);
  for (std::size_t i = steps; i > 0; --i) rows[i - 1] = steps_[i - 1]->correction->rows_needed(rows[i], rows_);
  return rows;
}

RowBand CorrectionChain::rows_needed(RowBand wanted) const { return rows_of_steps(wanted, steps_.size()).front(); }

std::int64_t CorrectionChain::band_bytes(std::int64_t rows, int threads) const {
  std::int64_t most = 0, scratch = 0;
  for (const std::int64_t first : {std::int64_t{0}, (rows_ - rows) / 2, rows_ - rows}) {
    const RowBand needed = rows_needed({std::max<std::int64_t>(0, first), std::min(rows_, first + rows)});
    most = std::max(most, needed.size());
  }
  const SinogramBand largest{nullptr, columns_, views_, {0, most}, rows_};
  for (const auto& step : steps_) scratch = std::max(scratch, step->correction->scratch_bytes(largest, threads));
  const std::int64_t written = files().empty() ? 0 : rows * views_ * columns_;
  const std::int64_t view_bytes = most * columns_ * std::min(float_bytes, bytes_per_pixel(frames_.pixel_type()));
  const std::int64_t recorded = view_bytes * std::min(views_, views_read_together(view_bytes, threads));
  return (largest.floats() + written) * float_bytes + recorded + scratch;
}

RecordedBand CorrectionChain::read_recorded(RowBand wanted, RowAudit* audit, BandEngine& engine,
                                            ThreadPool& readers) const {
  return read_rows(rows_needed(wanted), audit, engine, readers);
}

RecordedBand CorrectionChain::read_rows(RowBand rows, RowAudit* audit, BandEngine& engine, ThreadPool& readers) const {
  RecordedBand out;
  out.shape = {nullptr, columns_, views_, rows, rows_};
  const PixelType type = frames_.pixel_type();
  const void* const lies_at = engine.on_host() ? nullptr : frames_.in_memory(0, rows.first);
  if (lies_at) audit = nullptr;  // the caller's own: nobody keeps account
  if (type != PixelType::f64 && lies_at && engine.sends_from(lies_at)) {
    out.type = type;
    for (std::int64_t view = 0; view < views_; ++view) out.views.push_back(frames_.in_memory(view, rows.first));
    return out;
  }
  const bool whole = type != PixelType::f32 && type != PixelType::f64;
  out.type = type == PixelType::f64 ? PixelType::f32 : type;
  const std::int64_t pixels = rows.size() * columns_, view_bytes = pixels * bytes_per_pixel(out.type);
  // Whole numbers are sent as they are; of the others those that are not numbers are filled in first.
  const auto read = [=, this](std::int64_t view, unsigned char* sent) {
    thread_local Buffer<unsigned char> doubles;
    if (type == PixelType::f64 && doubles.size() < 2 * view_bytes) doubles = Buffer<unsigned char>(2 * view_bytes);
    unsigned char* recorded = type == PixelType::f64 ? doubles.data() : sent;
    frames_.read_native(view, rows.first, rows.last, recorded);
    if (audit && whole) audit->record_native(view, rows.first, rows.last, recorded);
    if (whole) return;
    auto* floats = reinterpret_cast<float*>(sent);
    if (recorded != sent) convert_to_float(type, recorded, pixels, floats);
    if (audit) audit->record(view, rows.first, rows.last, recorded, floats);
  };
  if (engine.on_host()) {
    out.read = read;
    return out;
  }
  out.memory = engine.host_memory(view_bytes * views_);
  for (std::int64_t view = 0; view < views_; ++view) out.views.push_back(out.memory.get() + view * view_bytes);
  readers.parallel_for(0, views_, 1, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t view = begin; view < end; ++view) read(view, out.memory.get() + view * view_bytes);
  });
  return out;
}

std::vector<float> CorrectionChain::lowest_grey(std::int64_t row) const {
  std::vector<float> lowest(static_cast<std::size_t>(columns_), lowest_grey_of_lines);
  if (normalisation_) normalisation_->lowest_grey(row, lowest.data());
  return lowest;
}

void CorrectionChain::compare(Step& step, std::int64_t row, const SeenRow& before, const SeenRow& after,
                              BandEngine& engine) const {
  Step::Looked& looked = step.looked.emplace_back();
  engine.later([this, row, stage = step.stage, &looked, before, after](ThreadPool& pool) {
    const std::int64_t floats = views_ * columns_;
    const std::vector<float> lowest = lowest_grey(row);
    // Of line integrals on both sides of the log: what one step leaves is what the next one finds.
    const auto rings = [&](const SeenRow& seen) {
      Buffer<float> values(floats);
      for (std::int64_t i = 0; i < floats; ++i)
        values[i] = stage == Stage::grey_levels
                        ? line_of_grey(seen.get()[i], lowest[static_cast<std::size_t>(i % columns_)])
                        : seen.get()[i];
      return ring_energy({values.data(), columns_, views_, columns_, 1, floats}, pool).total();
    };
    looked.rings_before = rings(before);
    looked.rings_after = rings(after);
    double squared = 0;
    for (std::int64_t i = 0; i < floats; ++i) {
      const double change = static_cast<double>(after.get()[i]) - static_cast<double>(before.get()[i]);
      squared += change * change;
    }
    looked.squared_change = squared / static_cast<double>(floats);
  });
}

std::vector<CorrectionChain::AtLowest> CorrectionChain::rows_to_count(RowBand rows, Look look, const RowAudit* audit) {
  std::vector<AtLowest> dark;
  if (audit && audit->at_dark().pixels > 0)
    for (const auto& [row, pixels] : audit->state().dark.in_row)
      if (rows.first <= row && row < rows.last) dark.push_back({.row = row, .recorded = pixels});
  const bool middle_is_dark = std::ranges::find(dark, middle_row_of(rows), &AtLowest::row) != dark.end();
  if (dark.size() > 2) {
    // The one that has most, and the middle one of the others: a dead row says nothing of single pixels.
    std::ranges::sort(dark, std::greater(), &AtLowest::recorded);
    dark[1] = dark[dark.size() / 2];
    dark[1].stands_for = std::ssize(dark) - 1;
    dark.resize(2);
  }
  if (look == Look::yes && !middle_is_dark) dark.push_back({.row = middle_row_of(rows)});
  return dark;
}

void CorrectionChain::count_lowest(AtLowest at, const SeenRow& lines, BandEngine& engine) {
  const SeenRow logged = std::exchange(at.logged, nullptr);
  AtLowest& kept = at_lowest_.emplace_back(std::move(at));
  engine.later([this, logged, lines, &kept](ThreadPool&) {
    std::vector<float> limit = lowest_grey(kept.row);
    constexpr float rounding = 1e-4F;  // of two logarithms
    // One count was taken before corrections of grey levels; dose and drift may triple it.
    const float below = kept.recorded > 0 ? std::log(3.0F) : rounding;
    constexpr float about_as_high = 0.7F;  // hardening and rings move a value, neighbours that replace it are far below
    for (float& grey : limit) grey = -std::log(grey) - below;
    for (std::int64_t i = 0; i < views_ * columns_; ++i) {
      const float of_one_count = limit[static_cast<std::size_t>(i % columns_)];
      kept.left += logged.get()[i] >= of_one_count && lines.get()[i] >= about_as_high * of_one_count;
    }
  });
}

std::optional<double> CorrectionChain::share_at_lowest(double recorded) const {
  double any_rows = 0, in_any = 0, dark = 0, left = 0;
  for (const AtLowest& at : at_lowest_) {
    if (at.recorded == 0) {
      ++any_rows;
      in_any += static_cast<double>(at.left);
    } else {
      dark += static_cast<double>(at.stands_for * at.recorded);
      left += static_cast<double>(at.stands_for * std::min(at.left, at.recorded));
    }
  }
  if (recorded > 0 ? dark == 0 : any_rows == 0) return std::nullopt;
  const double of_any = any_rows > 0 ? in_any / (any_rows * static_cast<double>(views_ * columns_)) : 0;
  return std::max(of_any, dark > 0 ? recorded * left / dark : 0);
}

Stage CorrectionChain::first_stage(std::size_t steps, Stage leave_as) const {
  return steps > 0 && steps_.front()->stage == Stage::grey_levels ? Stage::grey_levels : leave_as;
}

void CorrectionChain::work_on(const SinogramBand& kept, RowBand wanted, std::size_t steps, Stage leave_as,
                              BandEngine& engine, Look look, std::vector<AtLowest> counted) {
  const std::vector<RowBand> rows = rows_of_steps(wanted, steps);
  Stage now = first_stage(steps, leave_as);
  const std::int64_t middle = middle_row_of(wanted);
  const auto middle_row = [&] { return engine.look_at(kept, middle); };
  const auto look_at_log = [&] {
    for (AtLowest& at : counted) at.logged = engine.look_at(kept, at.row);
  };
  if (now == Stage::line_integrals) look_at_log();
  const auto take_log = [&](RowBand of) {
    engine.take_log(part_of(kept, of), normalisation_);
    look_at_log();
  };
  for (std::size_t i = 0; i < steps; ++i) {
    Step& step = *steps_[i];
    if (now != step.stage) take_log(rows[i]);
    now = step.stage;
    const SeenRow before = look == Look::yes ? middle_row() : nullptr;
    engine.apply(*step.correction, part_of(kept, rows[i]), rows[i + 1]);
    if (look == Look::yes) compare(step, middle, before, middle_row(), engine);
    if (!writer_ || !written_file(step.spec)) continue;
    SinogramBand left = part_of(kept, wanted);
    Buffer<float> here(left.floats());
    left.data = here.data();
    engine.download(kept, wanted, left.data);
    writer_(i, wanted, left.sinograms(wanted));
  }
  if (now != leave_as) take_log(wanted);
  for (AtLowest& at : counted) {
    const SeenRow lines = engine.look_at(kept, at.row);
    count_lowest(std::move(at), lines, engine);
  }
}

Buffer<float> CorrectionChain::rows_after(std::size_t steps, Stage leave_as, RowBand wanted, ThreadPool& threads) {
  BandEngine engine(threads);
  engine.send(read_rows(rows_of_steps(wanted, steps).front(), nullptr, engine, threads));
  SinogramBand out{nullptr, columns_, views_, wanted, rows_};
  Buffer<float> values(out.floats());
  out.data = values.data();
  const SinogramBand kept = engine.take_sent(normalisation_, first_stage(steps, leave_as), &out);
  work_on(kept, wanted, steps, leave_as, engine, Look::no, {});
  engine.download(kept, wanted, values.data());
  return values;
}

Buffer<float> CorrectionChain::corrected(RowBand wanted, ThreadPool& threads) {
  return rows_after(steps_.size(), Stage::line_integrals, wanted, threads);
}

SinogramBand CorrectionChain::correct_sent(RowBand wanted, BandEngine& engine, Look look, const RowAudit* audit,
                                           const SinogramBand* place) {
  constexpr Stage leave_as = Stage::line_integrals;
  const SinogramBand kept = engine.take_sent(normalisation_, first_stage(steps_.size(), leave_as), place);
  work_on(kept, wanted, steps_.size(), leave_as, engine, look, rows_to_count(wanted, look, audit));
  return kept;
}

std::vector<CorrectionReport> CorrectionChain::reports() const {
  std::vector<CorrectionReport> all;
  for (const auto& step : steps_) {
    const auto bands = static_cast<double>(std::max<std::size_t>(1, step->looked.size()));
    const auto rms_of = [&](double Step::Looked::*what) {
      double sum = 0;
      for (const Step::Looked& looked : step->looked) sum += looked.*what;
      return std::sqrt(sum / bands);
    };
    all.push_back({step->spec.kind, step->correction->summary(), step->stage, rms_of(&Step::Looked::squared_change),
                   rms_of(&Step::Looked::rings_before), rms_of(&Step::Looked::rings_after), !step->looked.empty()});
  }
  return all;
}

void CorrectionChain::judge_replaced() const {
  for (const auto& step : steps_) located(step->spec, [&] { return step->correction->judge(); });
}

std::vector<std::string> CorrectionChain::warnings_of_work() const {
  std::vector<std::string> warnings;
  const std::vector<CorrectionReport> made = reports();
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const CorrectionSpec& spec = steps_[i]->spec;
    if (const auto unusual = located(spec, [&] { return steps_[i]->correction->judge(); }); !unusual.empty())
      warnings.push_back(warning_of(spec, unusual));
    const double before = made[i].rings_before, after = made[i].rings_after;
    constexpr double shown = 1.005;  // else both are the same number in the report
    if (spec.kind == "rings" && after > shown * before)
      warnings.push_back(warning_of(
          spec,
          format("there is more ring after it than before, {:.3g} and {:.3g} rms ({:+.1f} dB): it does harm here; "
                 "leave it out, or let method = \"auto\" choose",
                 after, before, decibels(after * after, before * before))));
  }
  return warnings;
}

std::vector<std::pair<std::size_t, std::filesystem::path>> CorrectionChain::files() const {
  std::vector<std::pair<std::size_t, std::filesystem::path>> all;
  for (std::size_t i = 0; i < steps_.size(); ++i)
    if (const auto file = written_file(steps_[i]->spec)) all.emplace_back(i, *file);
  return all;
}

}  // namespace lepus
