// SPDX-License-Identifier: Apache-2.0
// The journal of a run: a file beside its output, "v.mha.journal", to which the run adds a record of each piece of work
// that is safely on the disk, so that the same command can go on after a crash. It says which run it is (facts that
// must still hold) and what is finished (records, whose texts are their writers' business). It goes when the run is
// complete.
//
// A text file:  lepus journal 1 TOKEN
//               CRC NUMBER KIND TEXT      one line for each record; line ends and backslashes in TEXT are escaped
// CRC is the CRC-32 of the first line and of this one, so that no record of another journal is believed; NUMBER counts
// from 0, so that none can be missing. A crash tears the end of the file, and nothing else: damage that reaches to the
// end is dropped, any other is refused.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

namespace lepus {

// "v.mha" -> "v.mha.journal"
std::filesystem::path journal_name(const std::filesystem::path& output);

// What must be the same for a run to go on, in words for messages: {"the scan file", "2f0c19d2a7b3e416"}.
struct JournalFact {
  std::string name, value;
  friend bool operator==(const JournalFact&, const JournalFact&) = default;
};

struct JournalHeader {
  std::string command;  // "reconstruct"
  std::vector<JournalFact> facts;
};

struct JournalRecord {
  std::string kind;  // one word
  std::string text;
  friend bool operator==(const JournalRecord&, const JournalRecord&) = default;
};

struct JournalContents {
  std::string lepus;  // the version that wrote it
  JournalHeader header;
  std::vector<JournalRecord> records;
  std::string first_line;         // without its end
  std::int64_t next_number = 0;   // of a record
  std::int64_t intact_bytes = 0;  // what follows them was torn
};

// Throws Error(input) where the file is no journal, is of another format, or is damaged elsewhere than at its end.
JournalContents read_journal(const std::filesystem::path& file);

// Throws Error(usage) that names what differs where the journal is of another command, another version of lepus, or
// facts that do not hold any more. `output`: what the run writes, for the message.
void require_same_run(const JournalContents& begun, const JournalHeader& now, const std::filesystem::path& output);

// Throws Error(disk) where the system refuses. Any thread may append and flush.
class Journal {
public:
  // A new one in the place of an older; Error(disk) where a file of that name is no journal. The header is on the disk.
  Journal(const std::filesystem::path& file, const JournalHeader& header);
  // Goes on with one that was read: what was torn is cut off.
  Journal(const std::filesystem::path& file, const JournalContents& begun);
  ~Journal();  // the file stays
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Counts when flush() has returned; what it stands for must be on the disk before.
  void append(const JournalRecord& record);
  void flush();
  void remove();  // the run is complete

private:
  void put(const std::string& lines);
  std::string line_of(const JournalRecord& record);

  std::filesystem::path file_;
  std::mutex mutex_;
  std::string first_line_;
  std::int64_t next_number_ = 0, end_ = 0;
  int descriptor_ = -1;
};

}  // namespace lepus
