// SPDX-License-Identifier: Apache-2.0
// One rank's part in a reconstruction, from what all must have alike to what rank 0 reports for all. Where there is one
// process it changes nothing.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "io/resumable_volume.h"
#include "run/corrected_frames.h"
#include "run/fdk.h"
#include "run/rank_schedule.h"
#include "run/rank_work.h"
#include "run/run_state.h"

namespace lepus {

class RankRun {
public:
  // ranks: null: one process.
  RankRun(Ranks* ranks, const Scan& scan, const std::filesystem::path& output, const ReconstructOptions& options);

  bool alone() const { return ranks_ == nullptr; }
  bool first() const { return alone() || ranks_->first(); }
  std::int64_t largest_slab(bool on_host);  // for the plan; 0: what fits

  // By all ranks, when each has its plan: who makes what of the slices that are missing.
  void share_out(const Fdk& fdk, const std::vector<SlabRange>& missing);
  // Which rows this rank counts: those that its range needs and no slices below it, and that were not counted in an
  // earlier run. From now on the volume's journal has its account.
  void divide(RowAudit& audit, const Fdk& fdk, const CorrectedFrames* corrected, ResumableVolume& volume);
  SweepWork work() { return work_ ? work_->work() : SweepWork{}; }
  SlabAccount account(const SlabAccount& kept);

  // By all ranks, after the sweep: rank 0 has the account of all ranks.
  std::vector<RankReport> collect(const FrameSource& frames, RowAudit& audit, const Fdk& fdk,
                                  const CorrectedFrames* corrected, RankReport mine);
  // By all ranks: one file of all of them.
  void write_trace(const TraceLog& trace, const std::filesystem::path& file, bool force) const;
  std::string description() const;  // "6 ranks on 2 nodes: 3 groups of slabs x 2 wedges of views"

private:
  RankCut cut_for(const RankGrid& places, std::int64_t largest_slab) const;
  std::vector<RowBand> counted_rows(std::int64_t view, const Fdk& fdk, const CorrectedFrames* corrected) const;

  Ranks* ranks_;
  const Scan& scan_;
  VolumeGrid grid_;
  int wedges_;                      // asked for; 0: nobody did
  std::optional<SlabCosts> costs_;  // where hosts compute
  RunState state_;
  std::unique_ptr<RankWork> work_;
  std::mutex mutex_;
};

// What any run over ranks needs. By all ranks. Throws where they have different scans, versions, options or outputs,
// and where a correction writes a file: each rank corrects a part of the rows.
void require_common_run(Ranks& ranks, const Scan& scan, const std::filesystem::path& file,
                        const ReconstructOptions& options);
// By all ranks: rank 0 has in its account what all counted, each other rows. state: with whose run it is.
void add_audits_of_others(Ranks& ranks, RunState state, RowAudit& audit);
std::vector<RankReport> reports_of_all(Ranks& ranks, RankReport mine);  // by rank, to all
std::string describe_ranks(Ranks& ranks);                               // "6 ranks on 2 nodes (Open MPI v4.1.4)"

// The volume that all ranks write into, or what an earlier run left of it: rank 0 makes it, the others join.
// Throws where they have different scans, versions, options or outputs, and Error(disk) where one does not see it.
std::unique_ptr<ResumableVolume> join_volume(Ranks& ranks, const std::filesystem::path& file, const Scan& scan,
                                             const ReconstructOptions& options, const VolumeWriterOptions& writing,
                                             bool keep_journals, Progress& progress);

}  // namespace lepus
