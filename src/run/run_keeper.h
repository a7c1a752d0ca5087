// SPDX-License-Identifier: Apache-2.0
// Keeps the state of a run while slabs are finished, and hands it to whoever asked for it (ReconstructOptions::state).
// Where nobody did, nothing is kept.
#pragma once

#include <filesystem>
#include <functional>
#include <mutex>

#include "run/corrected_frames.h"
#include "run/run_state.h"
#include "run/sweep.h"

namespace lepus {

class RunKeeper {
public:
  // corrected: null where frames are read as they are. All outlive it.
  RunKeeper(const Scan& scan, const std::filesystem::path& output, const ReconstructOptions& options, const Plan& plan,
            const RowAudit& audit, const CorrectedFrames* corrected);

  SlabAccount account();
  // When the corrections have finished: what each did.
  void finish(const CorrectionChain& chain);

private:
  void hand_out();

  const std::function<void(const RunState&)>& asked_;
  bool checksums_;
  const RowAudit& audit_;
  const CorrectedFrames* corrected_;
  std::mutex mutex_;
  RunState state_;
};

}  // namespace lepus
