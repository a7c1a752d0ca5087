// SPDX-License-Identifier: Apache-2.0
#include "run/run_keeper.h"

#include <algorithm>

#include "core/format.h"

namespace lepus {

AuditState earlier_audit(const ResumableVolume& volume, const std::string& where) {
  const auto& notes = volume.earlier_notes();
  const auto last =
      std::find_if(notes.rbegin(), notes.rend(), [](const JournalRecord& r) { return r.kind == "state"; });
  return last == notes.rend() ? AuditState{} : run_state_from_json(last->text, where).audit;
}

RunKeeper::RunKeeper(const Scan& scan, const std::filesystem::path& output, const ReconstructOptions& options,
                     const Plan& plan, const RowAudit& audit, const CorrectedFrames* corrected, ResumableVolume* volume)
    : asked_(options.state), checksums_(options.slab_checksums), audit_(audit), corrected_(corrected), volume_(volume) {
  if (!asked_ && !volume_) return;
  state_.scan = identity_of(scan);
  state_.output = output.string();
  state_.compute = options.compute;
  state_.plan = {.kind = name_of(plan.kind),
                 .slices = scan.grid.nz,
                 .views = scan.geometry.views(),
                 .slabs = plan.slabs,
                 .wedge_views = plan.wedge_views};
  if (corrected) state_.corrected_rows.file = corrected->rows_file().string();
  if (volume_) {
    for (const VolumeSlices slices : volume_->finished_before()) state_.finished({slices.z0, slices.z1}, "");
    volume_->keep_state([this] {
      const std::lock_guard lock(mutex_);
      look();
      return to_json(state_);
    });
  }
  hand_out();
}

RunKeeper::~RunKeeper() {
  if (volume_) volume_->stop_recording();
}

SlabAccount RunKeeper::account() {
  if (!asked_) return {};
  return {.finished =
              [this](SlabRange slab, std::uint64_t checksum) {
                const std::lock_guard lock(mutex_);
                state_.finished(slab, checksums_ ? format("{:016x}", checksum) : "");
                hand_out();
              },
          .checksums = checksums_};
}

void RunKeeper::finish(const CorrectionChain& chain) {
  if (!asked_) return;
  const std::lock_guard lock(mutex_);
  state_.corrections = chain.reports();
  hand_out();
}

void RunKeeper::look() {
  state_.audit = audit_.state();
  if (corrected_) state_.corrected_rows.bands = corrected_->corrected_bands();
}

void RunKeeper::hand_out() {
  if (!asked_) return;
  look();
  asked_(state_);
}

}  // namespace lepus
