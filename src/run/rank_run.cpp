// SPDX-License-Identifier: Apache-2.0
#include "run/rank_run.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <set>

#include "core/format.h"
#include "core/json.h"
#include "core/memory.h"
#include "core/output_file.h"
#include "io/pixels.h"
#include "ranks/agree.h"
#include "run/plan_models.h"
#include <lepus/error.h>
#include <lepus/version.h>

namespace lepus {
namespace {

using RankJson = nlohmann::json;

RankJson rank_json(const RankReport& report) {
  return {{"node", report.node},
          {"slices", report.slices},
          {"rows", report.rows},
          {"seconds", report.seconds},
          {"filter_seconds", report.filter_seconds},
          {"backproject_seconds", report.backproject_seconds},
          {"write_wait_seconds", report.write_wait_seconds},
          {"peak_memory_bytes", report.peak_memory_bytes}};
}

RankReport rank_report(const RankJson& json) {
  return {.node = json.at("node"),
          .slices = json.at("slices"),
          .rows = json.at("rows"),
          .seconds = json.at("seconds"),
          .filter_seconds = json.at("filter_seconds"),
          .backproject_seconds = json.at("backproject_seconds"),
          .write_wait_seconds = json.at("write_wait_seconds"),
          .peak_memory_bytes = json.at("peak_memory_bytes")};
}

std::string part_name(const Ranks& ranks) { return format("rank-{}-of-{}", ranks.rank() + 1, ranks.size()); }

// What the journals of an earlier run say of rows that were counted.
std::vector<std::pair<std::filesystem::path, AuditState>> earlier_audits(const std::filesystem::path& output) {
  std::vector<std::pair<std::filesystem::path, AuditState>> audits;
  for (const std::filesystem::path& file : journals_of(output)) {
    const JournalContents journal = read_journal(file);
    const auto last =
        std::ranges::find(journal.records.rbegin(), journal.records.rend(), "state", &JournalRecord::kind);
    if (last != journal.records.rend()) audits.emplace_back(file, run_state_from_json(last->text, file.string()).audit);
  }
  return audits;
}

// Rows that were counted by nobody: those of slabs that a rank took over, which are not its own to count.
void look_at_rest(const FrameSource& frames, RowAudit& audit, const Fdk& fdk, const CorrectedFrames* corrected) {
  audit.count_for_all();
  for (std::int64_t view = 0; view < fdk.views(); ++view) {
    const RowBand all = fdk.recorded_rows(view, {0, fdk.slices()});
    for (const RowBand& rows : audit.uncounted(view, corrected ? corrected->rows_read_for(all) : all)) {
      const std::int64_t pixels = rows.size() * frames.columns();
      std::vector<std::byte> native(static_cast<std::size_t>(pixels * bytes_per_pixel(frames.pixel_type())));
      std::vector<float> values(static_cast<std::size_t>(pixels));
      frames.read_native(view, rows.first, rows.last, native.data());
      convert_to_float(frames.pixel_type(), native.data(), pixels, values.data());
      audit.record(view, rows.first, rows.last, native.data(), values.data());
    }
  }
}

// Files are written by one process.
void refuse_written_files(const Scan& scan) {
  for (const CorrectionSpec& spec : scan.corrections)
    if (spec.parameters.contains("write"))
      throw Error(ErrorKind::usage, {.what = "a correction that writes a file needs one process",
                                     .where = format("{}:{}", scan.file.string(), spec.line),
                                     .why = "each rank corrects the rows that its slabs need, no more",
                                     .hint = "leave 'write' out, or run it without mpirun or srun"});
}

std::int64_t maximum_slabs(std::int64_t slices) { return rounded_up(slices, slab_alignment) / slab_alignment; }

}  // namespace

std::string to_json(const RankReport& report) { return json_text(rank_json(report)); }

RankRun::RankRun(Ranks* ranks, const Scan& scan, const std::filesystem::path& output, const ReconstructOptions& options)
    : ranks_(ranks && !ranks->alone() ? ranks : nullptr), scan_(scan), grid_(scan.grid), wedges_(options.wedges) {
  if (!ranks_ && wedges_ > 1)
    throw Error(ErrorKind::usage, {.what = "one process has nobody to share the views with",
                                   .where = "option --wedges",
                                   .why = {},
                                   .hint = "start several with mpirun or srun, or leave the option out"});
  if (!ranks_) return;
  state_.scan = identity_of(scan);
  state_.output = std::filesystem::absolute(output).lexically_normal().string();
  state_.compute = options.compute;
}

std::int64_t RankRun::largest_slab(bool on_host) {
  if (alone()) return 0;
  // The ratios of speeds decide, and they are much the same everywhere.
  if (on_host)
    costs_.emplace(scan_.geometry, grid_, field_of_view_radius_mm(scan_.geometry), scan_.interpolation, MachineSpeed{});
  const std::int64_t slabs = maximum_slabs(grid_.nz);
  return cut_for({static_cast<int>(std::min<std::int64_t>(ranks_->size(), slabs)), 1}, slabs * slab_alignment)
      .slab_slices;
}

RankCut RankRun::cut_for(const RankGrid& places, std::int64_t largest_slab) const {
  if (costs_) return best_cut(*costs_, places, largest_slab);
  return {.slab_slices = std::min(largest_slab, slab_for_devices(grid_.nz, places.groups))};
}

void RankRun::share_out(const Fdk& fdk, const std::vector<SlabRange>& missing) {
  if (alone()) return;
  require_same(*ranks_, {{"what computes", format("{}, {}", fdk.backend(), fdk.kernel())}});
  // Memory may differ: what the smallest plan has in one slab fits everywhere.
  std::int64_t slab = std::numeric_limits<std::int64_t>::max(), slabs = 0;
  for (const std::string& text : ranks_->gather(std::to_string(fdk.plan().slab_slices)))
    slab = std::min<std::int64_t>(slab, std::stoll(text));
  slab = rounded_up(slab, slab_alignment);
  for (const SlabRange& part : missing) slabs += maximum_slabs(part.slices());
  slabs = std::max<std::int64_t>(1, slabs);
  if (wedges_ > std::min<std::int64_t>(ranks_->size(), fdk.wedges()))
    throw Error(ErrorKind::usage,
                {.what = format("the views cannot be cut into {} parts", wedges_),
                 .where = "option --wedges",
                 .why = format("there are {} ranks, and views for {} parts", ranks_->size(), fdk.wedges()),
                 .hint = "leave the option out"});
  // By the whole volume, whatever of it is missing: a run that is gone on with adds up the views as it would have.
  const int wedges = wedges_ > 0 ? wedges_ : rank_grid(ranks_->size(), maximum_slabs(grid_.nz), fdk.wedges()).wedges;
  const RankGrid places = rank_grid_of(ranks_->size(), slabs, wedges);
  work_ = std::make_unique<RankWork>(*ranks_, grid_, places, missing, cut_for(places, slab));
  state_.plan = {.kind = name_of(fdk.plan().kind),
                 .slices = grid_.nz,
                 .views = 0,
                 .slabs = {},
                 .wedge_views = fdk.plan().wedge_views};
}

std::vector<RowBand> RankRun::counted_rows(std::int64_t view, const Fdk& fdk, const CorrectedFrames* corrected) const {
  const auto read = [&](SlabRange slices) {
    const RowBand rows = fdk.recorded_rows(view, slices);
    return corrected ? corrected->rows_read_for(rows) : rows;
  };
  const SlabRange range = work_->range();
  return missing_rows(read({0, range.z0}), read(range));
}

void RankRun::divide(RowAudit& audit, const Fdk& fdk, const CorrectedFrames* corrected, ResumableVolume& volume) {
  if (alone()) return;
  const std::filesystem::path mine = journal_of_part(volume.path(), part_name(*ranks_));
  for (const auto& [journal, earlier] : earlier_audits(volume.path())) {
    if (journal == mine)
      audit.go_on_from(earlier);
    else
      audit.counted_elsewhere(earlier);
  }
  for (std::int64_t view = 0; view < fdk.views(); ++view) audit.count_only(view, counted_rows(view, fdk, corrected));
  ranks_->barrier();  // all have read the journals, which are now written to
  volume.keep_state([this, &audit] {
    const std::lock_guard lock(mutex_);
    RunState state = state_;
    state.audit = audit.state();
    return to_json(state);
  });
}

SlabAccount RankRun::account(const SlabAccount& kept) {
  if (alone()) return kept;
  SlabAccount account = kept;
  account.complete = work_->complete();
  account.finished = {};
  if (!work_->writes()) return account;
  account.finished = [this, tell = kept.finished](SlabRange slab, std::uint64_t checksum) {
    {
      const std::lock_guard lock(mutex_);
      state_.finished(slab, "");
    }
    if (tell) tell(slab, checksum);
  };
  return account;
}

std::vector<RankReport> RankRun::collect(const FrameSource& frames, RowAudit& audit, const Fdk& fdk,
                                         const CorrectedFrames* corrected, RankReport mine) {
  if (alone()) return {};
  for (const RunState::FinishedSlab& slab : state_.finished_slabs) mine.slices += slab.slab.slices();
  add_audits_of_others(*ranks_, state_, audit);
  if (first()) look_at_rest(frames, audit, fdk, corrected);
  return reports_of_all(*ranks_, mine);
}

void RankRun::write_trace(const TraceLog& trace, const std::filesystem::path& file, bool force) const {
  const std::string mine = trace.events(alone() ? 0 : ranks_->rank(), alone() ? "" : ranks_->node());
  const std::vector<std::string> all = alone() ? std::vector{mine} : ranks_->gather(mine);
  if (first()) write_file(file, trace_file(all), force);
}

std::string RankRun::description() const {
  if (alone()) return {};
  const RankGrid& places = work_->grid();
  std::string text = describe_ranks(*ranks_) + ": ";
  text += places.wedges == 1
              ? format("{} share the slabs", places.groups)
              : format("{} groups of {}, which share the slabs and the views", places.groups, places.wedges);
  if (const int idle = ranks_->size() - places.groups * places.wedges; idle > 0)
    text += format("; {} have nothing to do", idle);
  return text;
}

void add_audits_of_others(Ranks& ranks, RunState state, RowAudit& audit) {
  state.audit = audit.state();
  const std::vector<std::string> all = ranks.gather(to_json(state));
  if (!ranks.first()) return;
  for (std::size_t rank = 1; rank < all.size(); ++rank)
    audit.go_on_from(run_state_from_json(all[rank], format("rank {}", rank)).audit);
}

std::vector<RankReport> reports_of_all(Ranks& ranks, RankReport mine) {
  mine.node = ranks.node();
  mine.peak_memory_bytes = peak_resident_bytes();
  std::vector<RankReport> reports;
  for (const std::string& text : ranks.gather(to_json(mine))) reports.push_back(rank_report(parse_json(text)));
  return reports;
}

std::string describe_ranks(Ranks& ranks) {
  std::set<std::string> nodes;
  for (const std::string& node : ranks.gather(ranks.node())) nodes.insert(node);
  return format("{} ranks on {} ({})", ranks.size(), nodes.size() == 1 ? "one node" : format("{} nodes", nodes.size()),
                ranks.library());
}

void require_common_run(Ranks& ranks, const Scan& scan, const std::filesystem::path& file,
                        const ReconstructOptions& options) {
  const ScanIdentity identity = identity_of(scan);
  require_same(ranks, {{"the version of lepus", version},
                       {"the scan file", identity.resolved},
                       {"what the scan file names (names, sizes and times of its files)", identity.inputs},
                       {"the views' geometry (checksum)", identity.geometry},
                       {"the output", std::filesystem::absolute(file).lexically_normal().string()},
                       {"--wedges", std::to_string(options.wedges)}});
  refuse_written_files(scan);
}

std::unique_ptr<ResumableVolume> join_volume(Ranks& ranks, const std::filesystem::path& file, const Scan& scan,
                                             const ReconstructOptions& options, const VolumeWriterOptions& writing,
                                             bool keep_journals, Progress& progress) {
  require_common_run(ranks, scan, file, options);
  const ResumableRun run{.header = {"reconstruct", facts_of(scan)},
                         .restart = options.restart && ranks.first(),
                         .part = part_name(ranks),
                         .block = slab_alignment,
                         .own = {},
                         .turn = ranks.first() ? Turn::first : Turn::later,
                         .keep_journals = keep_journals};
  std::unique_ptr<ResumableVolume> volume;
  const auto open = [&] { volume = std::make_unique<ResumableVolume>(file, scan.grid, writing, run, progress); };
  if (ranks.first()) open();
  const std::string maker = ranks.broadcast(ranks.name());
  if (!unfinished_appears(file, std::chrono::seconds(5)))
    throw Error(ErrorKind::disk, {.what = "this rank does not see the output that all write into",
                                  .where = file.string(),
                                  .why = format("{} has made it, and {} finds nothing there", maker, ranks.name()),
                                  .hint = "write to a file system that all nodes share"});
  // One after the other, whatever locks the file system has.
  for (int turn = 1; turn < ranks.size(); ++turn) {
    if (turn == ranks.rank()) open();
    ranks.barrier();
  }
  return volume;
}

}  // namespace lepus
