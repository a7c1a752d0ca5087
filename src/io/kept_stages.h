// SPDX-License-Identifier: Apache-2.0
// Stages of a run that fills a folder, each finished with its result and files (io/resumable_folder.h): what the next
// start of the same command need not do again. Nothing but the journal is flushed: a file that a crash of the machine
// took with it has another checksum, and its stage is made again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/resumable_folder.h"

namespace lepus {

class KeptStages {
public:
  explicit KeptStages(ResumableFolder& folder);  // which outlives it

  void expect(std::int64_t stages) { folder_.expect("steps", stages); }
  // The result of a stage that was finished, all of whose files are as it left them.
  std::optional<std::string> find(const std::string& stage);
  // files: in the folder.
  void finish(const std::string& stage, const std::string& result, std::vector<std::filesystem::path> files);
  // For what only the next start needs: "out.unfinished/kept/NAME".
  std::filesystem::path scratch(const std::string& name) const { return folder_.path() / "kept" / name; }

private:
  ResumableFolder& folder_;
};

}  // namespace lepus
