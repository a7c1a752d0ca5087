// SPDX-License-Identifier: Apache-2.0
// A chain of steps on a finished volume, slab by slab: volume file -> volume file, which may have fewer voxels, another
// unit or integers. Neither needs to fit into memory, and the result is the same, bit for bit, whatever the slabs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/context.h"
#include "core/journal.h"
#include "io/volume_file.h"
#include "scan/scan.h"
#include <lepus/output_values.h>
#include <lepus/post.h>

namespace lepus {

// One step: a kind of post_kinds() with all its parameters (defaults written in).
struct PostSpec {
  CorrectionSpec step;
  std::string where;  // for messages: --do "median radius=2"
};

// "median radius=2 dimensions=3": kind, then key=value; a list has commas between its values. Throws Error(usage) that
// suggests the nearest kind or key.
PostSpec parse_post_step(const std::string& text);

// Throws where a step cannot be taken on such a volume, in the steps' own words.
void check_steps(const std::vector<PostSpec>& chain, const VolumeGrid& grid, const std::string& unit);

// Throws Error(usage) where a step makes integers, and others were asked for.
void check_output_values(const std::vector<PostSpec>& chain, const OutputValues& values);

struct PostSettings {
  std::string input;                     // the name of what is read, for the provenance
  std::string backend = "auto";          // of the filters: "auto" (a GPU where there is one), "cpu", "cuda"
  std::string devices = "0";             // which GPU
  std::int64_t device_memory_bytes = 0;  // limit on it; 0: 90 % of what is free
  std::int64_t memory_bytes = 0;         // limit for the buffers; 0: 60 % of what is free
  std::int64_t slab_slices = 0;          // 0: chosen
  bool force = false;                    // overwrite the output
  OutputValues stored = {};              // how its voxels are stored, where no step makes integers
  // The command and what is read, for a run that can be gone on with (docs/restart.md); the steps are added. Not given:
  // nothing stays of one that is not finished.
  std::optional<JournalHeader> same_run = {};
  bool restart = false;  // begin anew where an unfinished run is there
};

// Steps that must know the values before them (rescale by percentiles, bilateral without value_range) make the chain
// run up to there first; what filters made is then kept in a scratch file beside the output. Throws before any work
// where the chain, the output, the memory or the disk will not do.
PostReport post_process(const VolumeReader& volume, const std::filesystem::path& output,
                        const std::vector<PostSpec>& chain, const PostSettings& options, Context& context);

}  // namespace lepus
