// SPDX-License-Identifier: Apache-2.0
// Keeps the state of a run while slabs are finished, for whoever asked for it (ReconstructOptions::state) and for the
// journal of a volume that can be gone on with. Where there is neither, nothing is kept.
#pragma once

#include <filesystem>
#include <functional>
#include <mutex>

#include "io/resumable_volume.h"
#include "run/corrected_frames.h"
#include "run/run_state.h"
#include "run/sweep.h"

namespace lepus {

// What an earlier run knew beside the voxels; of no slabs where there was none.
AuditState earlier_audit(const ResumableVolume& volume, const std::string& where);

class RunKeeper {
public:
  // corrected: null where frames are read as they are; volume: null where nothing can be gone on with. All outlive it.
  RunKeeper(const Scan& scan, const std::filesystem::path& output, const ReconstructOptions& options, const Plan& plan,
            const RowAudit& audit, const CorrectedFrames* corrected, ResumableVolume* volume);
  ~RunKeeper();  // what was written is in the journal, with its state
  RunKeeper(const RunKeeper&) = delete;
  RunKeeper& operator=(const RunKeeper&) = delete;

  SlabAccount account();
  // When the corrections have finished: what each did.
  void finish(const CorrectionChain& chain);

private:
  void look();
  void hand_out();

  const std::function<void(const RunState&)>& asked_;
  bool checksums_;
  const RowAudit& audit_;
  const CorrectedFrames* corrected_;
  ResumableVolume* volume_;
  std::mutex mutex_;
  RunState state_;
};

}  // namespace lepus
