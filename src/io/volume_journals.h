// SPDX-License-Identifier: Apache-2.0
// What the journals of a volume say (core/journal.h): one of the run that makes it, or one of each process that makes a
// part of it. Records: "volume" {slices}, once; "slab" {slices, checksum, seconds,
// cut_off}, of each finished one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/journal.h"
#include "io/volume_file.h"

namespace lepus {

// part: "share-3-of-16", "rank-2-of-4"; "": there is but one process.
std::filesystem::path journal_of_part(const std::filesystem::path& output, const std::string& part);
// Those that are there, by name.
std::vector<std::filesystem::path> journals_of(const std::filesystem::path& output);
// "v.mha.share-3-of-16.journal", "v.mha.journal" -> "v.mha"; none: no journal has such a name.
std::optional<std::string> name_before_journal(std::string name);
// "v.mha.share-3-of-16.journal" -> "share-3-of-16"
std::string part_of_journal(const std::filesystem::path& journal, const std::filesystem::path& output);
void remove_journals(const std::filesystem::path& output);

// What a run keeps for the next start beside its journal, until the journal goes: "v.mha.journal", "rows" ->
// "v.mha.rows". What the journal does not record was not kept.
std::filesystem::path kept_beside(const std::filesystem::path& journal, const std::string& what);
inline constexpr const char *kept_rows = "rows", *kept_results = "results";
void remove_kept(const std::filesystem::path& journal);
// Error(disk) where there is such a file: without a journal it is none of ours.
void require_nothing_kept(const std::filesystem::path& journal);
void remove_journal_and_kept(const std::filesystem::path& journal);

// Where FDK makes a volume on which [[post]] steps are then taken: "v.mha" -> "v.mha.before-post.mha". Its journals
// stay until the steps are done.
std::filesystem::path volume_before_steps(const std::filesystem::path& output);

inline constexpr const char *volume_kind = "volume", *slab_kind = "slab", *file_kind = "file";

using VolumeSlices = FinishedSlices;  // finished or not: [z0, z1)

struct RecordedSlab {
  VolumeSlices slices;
  std::uint64_t checksum = 0;  // UnfinishedVolume::checksum
  double seconds = 0;          // since its process opened the volume
  std::int64_t cut_off = 0;    // VolumeWriter::cut_off of its voxels
};
JournalRecord slab_record(const RecordedSlab& slab);
JournalRecord volume_record(std::int64_t slices);
// Which file the slabs after it are written into: its number in the file system, by which all nodes know it.
JournalRecord file_record(const std::filesystem::path& file);
bool is_written_into(const JournalContents& journal, const std::filesystem::path& file);  // by the last such record

// In the order of recording. Error(input) where a record is not as slab_record makes it.
std::vector<RecordedSlab> recorded_slabs(const JournalContents& journal);
std::int64_t volume_slices(const JournalContents& journal);  // 0: not recorded yet

// What of `all` is not in the list, ascending; the list may overlap.
std::vector<VolumeSlices> slices_without(VolumeSlices all, std::vector<VolumeSlices> others);
std::int64_t count_slices(const std::vector<VolumeSlices>& ranges);

// Of the last process that recorded slabs; 0: not known.
double slices_per_second(const std::vector<RecordedSlab>& recorded);

}  // namespace lepus
