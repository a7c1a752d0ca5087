// SPDX-License-Identifier: Apache-2.0
// Corrected rows that outlive their run, in a file beside its journal: the next start takes those that it needs instead
// of correcting them again. The journal has a record "rows" {rows, checksum} of each band, after the state of the
// account of the frames that these rows were counted in. Nothing is flushed: what a crash of the machine takes with it
// has another checksum.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "core/threads.h"
#include "geometry/row_band.h"
#include "io/resumable_volume.h"
#include "run/row_store.h"

namespace lepus {

class KeptRows {
public:
  // The volume's, and outlived by it.
  explicit KeptRows(ResumableVolume& volume);

  const std::filesystem::path& file() const { return file_; }
  // Whether all of them are in the store from an earlier run, and as they were written: read once for that.
  bool has(RowBand rows, const RowKeeper& store, const RowStoreSize& size, ThreadPool& threads);
  // They are in the store, which `seconds` were needed for. Where that is memory, they are written to the file if they
  // took so long that this does not matter; a store that finds the file uses it (RowStoreSize::kept). What is to be
  // noted, if they are kept.
  std::optional<JournalRecord> keep(RowBand rows, const RowKeeper& store, const RowStoreSize& size, double seconds,
                                    ThreadPool& threads);
  void note(const JournalRecord& record) { volume_.note_with_state(record); }  // nobody waits for bands meanwhile
  std::int64_t band_rows() const;                     // of the bands that earlier runs kept; 0: they kept none
  std::int64_t rows_taken() const { return taken_; }  // that were not corrected again

private:
  struct Band {
    std::uint64_t checksum = 0;
    std::optional<bool> intact = {};  // not looked at yet
  };

  ResumableVolume& volume_;
  std::filesystem::path file_;
  std::map<std::pair<std::int64_t, std::int64_t>, Band> earlier_;
  std::unique_ptr<ScratchFile> copy_;
  std::int64_t taken_ = 0;
};

}  // namespace lepus
