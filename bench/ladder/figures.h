// SPDX-License-Identifier: Apache-2.0
// What the runners of both machines share: which steps were asked for, and a step's figure without its time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/ladder/ladder.h"
#include "bench/ladder/problem.h"

namespace lepus::ladder {

bool wanted(const LadderOptions& options, const std::string& name);
const Rung& rung_named(const std::vector<Rung>& rungs, std::string_view name);  // Error(internal) where there is none

// Group, name, work in 2^30 updates, unit, and the check of the sampled voxels.
measure::Figure checked_figure(const std::string& group, const std::string& name, const Problem& problem,
                               const Truth& truth, const std::vector<float>& sampled, Weights weights);
// "kernel 512^3, kernel B: 123 ms, 504 GUPS", for the progress.
std::string figure_line(const measure::Figure& figure);
// The volume at the sampled voxels.
std::vector<float> sampled_from(const Truth& truth, const float* volume);

// The published time belongs to RabbitCT's problem alone: 512^3 or 1024^3, 496 views of 1248 x 960.
void add_published(measure::Figure& figure, const Rung& rung, const Problem& problem);

// A group is complete: whoever asked for it is shown the report so far.
void show_so_far(const LadderOptions& options, const measure::Report& report);

// All sizes on the CPU into the report.
void run_cpu(const LadderOptions& options, const Scene& scene, Context& context, measure::Report& report);

}  // namespace lepus::ladder
