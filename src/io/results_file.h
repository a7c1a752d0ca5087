// SPDX-License-Identifier: Apache-2.0
// Results that a run keeps in a file beside its journal (core/kept_results.h), one after another; the journal has a
// record "result" {name, offset, bytes, checksum} of each. Nothing is flushed: what a crash of the machine takes with
// it has another checksum, and is made again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/journal.h"
#include "core/kept_results.h"
#include "core/scratch_file.h"

namespace lepus {

inline constexpr const char* result_kind = "result";

class ResultsFile final : public KeptResults {
public:
  using Note = std::function<void(const JournalRecord&)>;
  // earlier: records of the journal, other kinds among them. The file is made when something is kept.
  ResultsFile(std::filesystem::path file, const std::vector<JournalRecord>& earlier, Note note);

  std::optional<std::string> find(const std::string& name) override;
  void keep(const std::string& name, const std::string& bytes, double seconds) override;
  double seconds() const { return seconds_; }  // that all of them took to make

private:
  struct Place {
    std::int64_t offset = 0, bytes = 0;
    std::uint64_t checksum = 0;
  };
  ScratchFile& file();

  std::mutex mutex_;
  std::filesystem::path name_;
  Note note_;
  std::unique_ptr<ScratchFile> file_;
  std::map<std::string, Place> places_;
  std::int64_t end_ = 0;
  double seconds_ = 0;
};

}  // namespace lepus
