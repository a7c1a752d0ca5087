// SPDX-License-Identifier: Apache-2.0
#include "run/correction_chain.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "core/format.h"
#include "correct/rings/ring_energy.h"
#include "io/pixels.h"
#include "project/grey_levels.h"
#include "run/make_correction.h"
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
                                 Context& context, std::unique_ptr<Correction> flats)
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
    facts.band = [this, stage = stages[i], steps = steps_.size(), &context](RowBand rows) {
      ChainBand made = run(rows, steps, stage, nullptr, *host_engine(context.threads), Look::no);
      const Planes wanted = made.wanted(rows);
      if (wanted.data != made.data.data()) std::copy_n(wanted.data, rows.size() * views_ * columns_, made.data.data());
      return std::move(made.data);
    };
    auto correction = make_correction(scan.corrections[i], facts, {&scan, normalisation});
    steps_.push_back(std::make_unique<Step>(Step{scan.corrections[i], stages[i], std::move(correction)}));
  }
}

CorrectionChain::~CorrectionChain() = default;

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
  return (largest.floats() + written) * static_cast<std::int64_t>(sizeof(float)) + scratch;
}

ChainBand CorrectionChain::read(RowBand rows, RowAudit* audit, ThreadPool& pool) const {
  ChainBand out;
  out.band = {nullptr, columns_, views_, rows, rows_};
  out.data = Buffer<float>(out.band.floats());
  out.band.data = out.data.data();
  const std::int64_t pixels = rows.size() * columns_;
  std::vector<Buffer<unsigned char>> native;
  std::vector<Buffer<float>> values;
  for (int i = 0; i < pool.size(); ++i) {
    native.emplace_back(pixels * bytes_per_pixel(frames_.pixel_type()));
    values.emplace_back(pixels);
  }
  pool.parallel_for(0, views_, 1, [&](std::int64_t begin, std::int64_t end, int worker) {
    unsigned char* bytes = native[static_cast<std::size_t>(worker)].data();
    float* frame = values[static_cast<std::size_t>(worker)].data();
    for (std::int64_t view = begin; view < end; ++view) {
      frames_.read_native(view, rows.first, rows.last, bytes);
      convert_to_float(frames_.pixel_type(), bytes, pixels, frame);
      if (audit) audit->record(view, rows.first, rows.last, bytes, frame);
      for (std::int64_t row = 0; row < rows.size(); ++row)
        std::copy_n(frame + row * columns_, columns_, out.band.data + (row * views_ + view) * columns_);
    }
  });
  return out;
}

RecordedBand CorrectionChain::read_recorded(RowBand wanted, RowAudit* audit, BandEngine& engine,
                                            ThreadPool& readers) const {
  const RowBand rows = rows_needed(wanted);
  RecordedBand out;
  out.shape = {nullptr, columns_, views_, rows, rows_};
  out.views.resize(static_cast<std::size_t>(views_));
  const PixelType type = frames_.pixel_type();
  const void* const lies_at = frames_.in_memory(0, rows.first);
  if (lies_at) audit = nullptr;  // the caller's own: nobody keeps account
  if (type != PixelType::f64 && lies_at && engine.sends_from(lies_at)) {
    out.type = type;
    for (std::int64_t view = 0; view < views_; ++view)
      out.views[static_cast<std::size_t>(view)] = frames_.in_memory(view, rows.first);
    return out;
  }
  // Whole numbers are sent as they are; of the others those that are not numbers are filled in first.
  const bool whole = type != PixelType::f32 && type != PixelType::f64;
  const bool as_they_are = whole || (type == PixelType::f32 && !audit);
  out.type = as_they_are ? type : PixelType::f32;
  const std::int64_t pixels = rows.size() * columns_, view_bytes = pixels * bytes_per_pixel(out.type);
  out.memory = engine.host_memory(view_bytes * views_);
  readers.parallel_for(0, views_, 1, [&](std::int64_t begin, std::int64_t end, int) {
    Buffer<unsigned char> recorded(as_they_are ? 0 : pixels * bytes_per_pixel(type));
    for (std::int64_t view = begin; view < end; ++view) {
      unsigned char* sent = out.memory.get() + view * view_bytes;
      out.views[static_cast<std::size_t>(view)] = sent;
      if (as_they_are) {
        frames_.read_native(view, rows.first, rows.last, sent);
        if (audit) audit->record_whole(view, rows.first, rows.last, sent);
        continue;
      }
      auto* floats = reinterpret_cast<float*>(sent);
      frames_.read_native(view, rows.first, rows.last, recorded.data());
      convert_to_float(type, recorded.data(), pixels, floats);
      if (audit) audit->record(view, rows.first, rows.last, recorded.data(), floats);
    }
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

void CorrectionChain::count_lowest(std::int64_t row, const SeenRow& lines, BandEngine& engine) {
  double& share = lowest_shares_.emplace_back(0);
  engine.later([this, row, lines, &share](ThreadPool&) {
    std::vector<float> limit = lowest_grey(row);
    constexpr float rounding = 1e-4F;  // of two logarithms
    for (float& grey : limit) grey = -std::log(grey) - rounding;
    std::int64_t found = 0;
    for (std::int64_t view = 0; view < views_; ++view)
      for (std::int64_t i = 0; i < columns_; ++i)
        found += lines.get()[view * columns_ + i] >= limit[static_cast<std::size_t>(i)];
    share = static_cast<double>(found) / static_cast<double>(views_ * columns_);
  });
}

double CorrectionChain::share_at_lowest() const {
  return std::accumulate(lowest_shares_.begin(), lowest_shares_.end(), 0.0) /
         static_cast<double>(std::max<std::size_t>(1, lowest_shares_.size()));
}

Stage CorrectionChain::first_stage(std::size_t steps, Stage leave_as) const {
  return steps > 0 && steps_.front()->stage == Stage::grey_levels ? Stage::grey_levels : leave_as;
}

void CorrectionChain::work_on(const SinogramBand& kept, RowBand wanted, std::size_t steps, Stage leave_as,
                              BandEngine& engine, Look look) {
  const std::vector<RowBand> rows = rows_of_steps(wanted, steps);
  Stage now = first_stage(steps, leave_as);
  const std::int64_t middle = (wanted.first + wanted.last) / 2;
  const auto middle_row = [&] { return engine.look_at(kept, middle); };
  for (std::size_t i = 0; i < steps; ++i) {
    Step& step = *steps_[i];
    if (now != step.stage) engine.take_log(part_of(kept, rows[i]), normalisation_);
    now = step.stage;
    const SeenRow before = look == Look::yes ? middle_row() : nullptr;
    engine.apply(*step.correction, part_of(kept, rows[i]), rows[i + 1]);
    if (look == Look::yes) compare(step, middle, before, middle_row(), engine);
    if (!writer_ || !written_file(step.spec)) continue;
    SinogramBand left = part_of(kept, wanted);
    Buffer<float> here(left.floats());
    left.data = here.data();
    engine.bring_back(kept, wanted, left.data);
    writer_(i, wanted, left.sinograms(wanted));
  }
  if (now != leave_as) engine.take_log(part_of(kept, wanted), normalisation_);
  if (look == Look::yes && leave_as == Stage::line_integrals) count_lowest(middle, middle_row(), engine);
}

ChainBand CorrectionChain::run(RowBand wanted, std::size_t steps, Stage leave_as, RowAudit* audit, BandEngine& engine,
                               Look look) {
  ChainBand made = read(rows_of_steps(wanted, steps).front(), audit, engine.pool());
  engine.normalise(made.band, normalisation_, first_stage(steps, leave_as));
  work_on(made.band, wanted, steps, leave_as, engine, look);
  return made;
}

ChainBand CorrectionChain::bring(RowBand wanted, RowAudit* audit, BandEngine& engine, Look look) {
  return run(wanted, steps_.size(), Stage::line_integrals, audit, engine, look);
}

SinogramBand CorrectionChain::correct_sent(RowBand wanted, BandEngine& engine, Look look, const SinogramBand* room) {
  constexpr Stage leave_as = Stage::line_integrals;
  const SinogramBand kept = engine.take_sent(normalisation_, first_stage(steps_.size(), leave_as), room);
  work_on(kept, wanted, steps_.size(), leave_as, engine, look);
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
                   rms_of(&Step::Looked::rings_before), rms_of(&Step::Looked::rings_after)});
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
