// SPDX-License-Identifier: Apache-2.0
// A scan as its corrections leave it: frames of line integrals, corrected band by band when they are first asked for.
// The sweep reads them like any other frames, on the host or for a device.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "core/context.h"
#include "io/frames.h"
#include "io/volume_file.h"
#include "run/correction_chain.h"
#include "run/kept_rows.h"
#include "run/row_store.h"

namespace lepus {

struct CorrectedFramesOptions {
  std::int64_t memory_bytes = 0;  // for rows that are kept and for a band at work
  std::filesystem::path scratch;  // the run's output, beside which rows are kept that do not fit (run/row_store.h)
  bool force = false;             // overwrite what the chain's `write` names
  int threads = 0;                // of its own: bands are corrected while others are filtered and summed
  Device* device = nullptr;       // where it computes, if it has memory of its own; null: the host
  std::int64_t device_bytes = 0;  // limit on the device, of which corrections take half; 0: what is free there
  KeptRows* kept = nullptr;       // of earlier runs and for later ones; outlives the frames; null: none are kept
};

class CorrectedFrames final : public FrameSource {
public:
  CorrectedFrames(const FrameSource& recorded, CorrectionChain& chain, RowAudit& audit,
                  const CorrectedFramesOptions& options, const CancelFlag& cancel);

  std::int64_t columns() const override { return recorded_.columns(); }
  std::int64_t rows() const override { return recorded_.rows(); }
  std::int64_t frames() const override { return recorded_.frames(); }
  PixelType pixel_type() const override { return PixelType::f32; }
  std::string name(std::int64_t frame) const override { return recorded_.name(frame); }
  void read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const override;

  // All rows on that card, where they wait to be filtered; null: they wait elsewhere. Rows `needed` are corrected.
  const SinogramBand* on_device(RowBand needed, const DeviceInfo& device) const;

  // So much of the detector will be asked for (all, where nobody says so): bands in it, the same whatever order they
  // are asked for in, are looked at for the reports.
  void expect(RowBand rows);
  // What is read of the recorded frames where these rows are asked for: whole bands, and what corrections see beside
  // them.
  RowBand rows_read_for(RowBand rows) const;
  // What is asked for from now on is corrected anew: the recorded frames are others.
  void forget();
  // Corrects what nobody has asked for where files are to be written, and completes them; the chain's reports are
  // there.
  void finish();
  // What is kept so far.
  std::vector<RowBand> corrected_bands() const;
  std::filesystem::path rows_file() const { return store_->file(); }  // "": they are not in a file that has a name
  std::int64_t memory_bytes() const;                                  // at most
  // What the sweep may take on the device; 0: nothing was taken there.
  std::int64_t device_bytes_left() const { return engine_.memory_for_others(); }
  std::string description() const;  // "bands of 32 rows, kept in memory"
  double seconds() const { return seconds_; }

private:
  void ensure(RowBand rows) const;
  std::vector<JournalRecord> make_missing(RowBand rows) const;
  void correct(const std::vector<std::int64_t>& bands) const;
  bool is_done(std::int64_t band) const;
  void set_done(std::int64_t band) const;
  CorrectionChain::Look look_for(std::int64_t band) const;
  RowBand rows_of(std::int64_t band) const;

  const FrameSource& recorded_;
  CorrectionChain& chain_;
  RowAudit& audit_;
  mutable ThreadPool pool_;
  mutable BandEngine engine_;
  RowStoreSize size_;
  std::unique_ptr<RowKeeper> store_;
  KeptRows* kept_;
  std::int64_t band_rows_, band_bytes_;
  mutable std::mutex mutex_;  // of whoever corrects
  mutable std::mutex done_mutex_;
  mutable std::vector<bool> done_;  // per band
  mutable double seconds_ = 0;
  mutable std::set<std::int64_t> looked_at_;                    // bands, until they have been
  std::map<std::size_t, std::unique_ptr<VolumeWriter>> files_;  // by step of the chain
};

}  // namespace lepus
