// SPDX-License-Identifier: Apache-2.0
#include "run/run_keeper.h"

#include "core/format.h"

namespace lepus {

RunKeeper::RunKeeper(const Scan& scan, const std::filesystem::path& output, const ReconstructOptions& options,
                     const Plan& plan, const RowAudit& audit, const CorrectedFrames* corrected)
    : asked_(options.state), checksums_(options.slab_checksums), audit_(audit), corrected_(corrected) {
  if (!asked_) return;
  state_.scan = identity_of(scan);
  state_.output = output.string();
  state_.compute = options.compute;
  state_.plan = {.kind = name_of(plan.kind),
                 .slices = scan.grid.nz,
                 .views = scan.geometry.views(),
                 .slabs = plan.slabs,
                 .wedge_views = plan.wedge_views};
  if (corrected) state_.corrected_rows.file = corrected->rows_file().string();
  hand_out();
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

void RunKeeper::hand_out() {
  state_.audit = audit_.state();
  if (corrected_) state_.corrected_rows.bands = corrected_->corrected_bands();
  asked_(state_);
}

}  // namespace lepus
