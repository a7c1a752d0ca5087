// SPDX-License-Identifier: Apache-2.0
// A volume that is written over several runs: a journal beside it (core/journal.h) records each finished slab with its
// checksum, so that the same command goes on after a crash. A thread of its own flushes what was written and then its
// records, in batches, so that the run does not wait for the disk. Several processes may write parts of one volume,
// each with a journal of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/journal.h"
#include "io/results_file.h"
#include "io/slab_writer.h"
#include "io/volume_journals.h"
#include <lepus/error.h>

namespace lepus {

enum class Turn { first, later };

struct ResumableRun {
  JournalHeader header;             // whose volume it is: must be the same for a run to go on, as its pixel type must
  bool restart = false;             // what an unfinished run left is removed first
  std::string part;                 // "share-3-of-16": of several processes that write the volume; "": there is but one
  std::int64_t block = 1;           // what is missing is made in whole blocks of so many slices, counted from the first
  std::optional<VolumeSlices> own;  // the slices that this process makes; none: all of them
  // Who of several processes opens it first. None: whoever comes first, for which the file system must know locks.
  // Some: they see to it themselves that they open it one after the other.
  std::optional<Turn> turn;
  Slices slices = Slices::of_volume;
  const char* unit = "slices";  // what a slice is called in messages: "views"
  // The journals stay beside the finished volume, so that the next run of the same header finds that it has it; for a
  // volume that the run itself goes on to use, in a format of one file. remove_with_journals() when it has done so.
  bool keep_journals = false;
};

// The finished volume of a run that kept its journals.
void remove_with_journals(const std::filesystem::path& path);

class ResumableVolume final : public VolumeWriter {
public:
  // Goes on with an unfinished volume where its journals are of the same run and its finished slabs are as they were
  // written; those that are not are made again, which `progress` is told. Begins anew where nothing was begun. Throws
  // Error(usage) that names what differs where it is another run, Error(input) where a journal is damaged.
  ResumableVolume(const std::filesystem::path& path, const VolumeGrid& grid, const VolumeWriterOptions& options,
                  const ResumableRun& run, Progress& progress);
  // Without finish() what was written stays, recorded; where nothing was written or noted, nothing stays.
  ~ResumableVolume() override;

  const std::filesystem::path& path() const { return path_; }
  // Its own slices that are not finished, ascending: when it was opened.
  const std::vector<VolumeSlices>& missing() const { return missing_; }
  std::vector<VolumeSlices> finished_before() const;  // the others of its own
  bool with_others() const { return with_others_; }   // other processes made parts of it
  // What earlier runs noted, in their order; states only of this part.
  const std::vector<JournalRecord>& earlier_notes() const { return notes_; }

  // Of earlier runs and for later ones, beside the journal. One thread at a time.
  KeptResults& results() { return *results_; }
  std::filesystem::path kept_file(const std::string& what) const;  // "v.mha.rows" for "rows": goes with the journal
  // After the state as it is now; counts when the journal is flushed, with the next slabs at the latest. Nothing where
  // there is no state.
  void note_with_state(const JournalRecord& record);

  void note(const JournalRecord& record);  // is on the disk when it returns; other kinds than this file's own
  // What becomes known when it is open: was the same in earlier runs, or Error(usage), as a fact of the header.
  void require_same(const JournalFact& fact);
  // What a run that goes on must know beside the voxels: is called before slabs are recorded, when they are in the
  // volume, and its text is noted as "state" before them. Before the first write().
  void keep_state(std::function<std::string()> state) { state_ = std::move(state); }

  void write(std::int64_t z0, std::int64_t z1, const float* slices) override;
  void write_stored(std::int64_t z0, std::int64_t z1, const void* slices);   // of the file's type already
  std::uint64_t checksum() const { return volume_->checksum(0, grid_.nz); }  // of all slices, when they are there
  std::int64_t memory_bytes() const override { return volume_->memory_bytes(); }
  std::int64_t cut_off() const override;  // of what earlier runs wrote too; of all parts when it is complete
  // And the journals go. A part of a volume: the last process to come here completes it; see complete().
  void finish(const std::string& provenance) override;
  bool complete() const { return finished_; }  // after finish(): the volume is there
  bool stays() const;                          // where it ends now: something that can be gone on with
  void stop_recording() noexcept;  // what was written is on the disk and recorded, or finish() will say why not
  // For a run that ends with this error: records what was written, and adds to the hint that the same command goes on
  // where something of it stays.
  Error ended_by(const Error& error);

private:
  void open(Progress& progress);
  void open_journal(const std::filesystem::path& file, const std::optional<JournalContents>& begun);
  bool take_back_finished() const;
  void require_same_parts(const std::string& other) const;
  void take_over(const std::vector<JournalContents>& journals, Progress& progress);
  void finish_together(const std::string& provenance);
  void complete_volume(const std::string& provenance);
  void leave() noexcept;
  void remove_what_was_made() noexcept;
  void was_written(VolumeSlices slices);
  void keep_recording();
  void record(std::vector<VolumeSlices> batch);

  std::filesystem::path path_;
  VolumeGrid grid_;
  VolumeWriterOptions options_;
  ResumableRun run_;
  OutputLock part_lock_;  // two processes must not make the same part
  VolumeSlices own_;
  std::unique_ptr<SlabWriter> volume_;
  std::optional<Journal> journal_;
  std::vector<VolumeSlices> missing_, made_;  // made: here, and recorded
  std::vector<JournalRecord> notes_;
  std::int64_t cut_off_before_ = 0;  // in slices that earlier runs wrote
  std::function<std::string()> state_;
  std::mutex noting_;  // states come into the journal in the order in which they were
  std::unique_ptr<ResultsFile> results_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<VolumeSlices> written_;  // not yet recorded
  bool ending_ = false, finished_ = false, with_others_ = false;
  std::atomic<bool> worth_keeping_ = false;
  std::chrono::steady_clock::time_point opened_ = std::chrono::steady_clock::now();
  std::exception_ptr failure_;
  std::thread recorder_;
};

}  // namespace lepus
