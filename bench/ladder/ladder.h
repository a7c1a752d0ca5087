// SPDX-License-Identifier: Apache-2.0
// The ladder: the classic steps of RabbitCT's backprojection as small named kernels, each measured on this machine
// beside the time its authors published. docs/ladder.md tells the story.
// In: how large the problem is. Out: one Figure per step, in groups:
//   "kernel 512^3"          views and volume lie in device memory; CUDA events
//   "host to host 512^3"    views in host memory to the volume in host memory; wall clock; published times stand here
//   "ablation 512^3"        kernels A, B and ours-like with parts taken out, "kernel B: + volume update"
//   "sweep of B 512^3"      kernel B over views per launch I, voxels per thread K and the shape of the block
//   "cpu 256^3"             the CPU's steps; wall clock, all threads of the Context
// Each result is compared with the definition in double precision at sampled voxels before its time counts.
// On a GPU the first size is measured in full; at further ones nothing is taken apart or swept, and host to host only
// the best of each paper is run.
//
// `lepus bench ladder` maps: --size 512,1024 -> sizes; --views -> views; --width, --height -> columns, rows;
// --only TEXT -> only; --backend auto|cpu|cuda -> backend; --device N -> device; --repeats N -> repeats;
// --no-ablation -> ablation = sweep = false. Title, command, version, date and machine of the report are the caller's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/context.h"
#include "bench/measure/report.h"

namespace lepus::ladder {

struct LadderOptions {
  std::vector<std::int64_t> sizes;          // edges of the volume, any; empty: 512 on a GPU, 256 on a CPU
  std::int64_t views = 0;                   // 0: RabbitCT's 496 on a GPU, 32 on a CPU
  std::int64_t columns = 1248, rows = 960;  // of a view
  std::string only;                         // steps whose name has this in it; empty: all
  std::string backend = "auto";             // "cpu", "cuda"; "auto": cuda where a GPU can be used, else cpu
  int device = 0;                           // which GPU
  int repeats = 3;                          // the best counts; what takes long on a GPU is run less often
  bool ablation = true, sweep = true;       // on a GPU
  std::int64_t samples = 2000;              // voxels that are computed again in double precision
  // Called with all figures so far after each group, so that a run that is interrupted leaves what it found.
  std::function<void(const measure::Report&)> so_far;
};

// One step of the ladder, as the tables name it.
struct Rung {
  std::string name;              // "4 views per launch"; unique
  std::string shows;             // what it teaches, one line
  double published_seconds = 0;  // at 512^3 from 496 views; 0: none
  std::string published;         // who and when
  double published_1024 = 0;     // the same at 1024^3
};
std::vector<Rung> cuda_rungs();
std::vector<Rung> cpu_rungs();

// Only figures and title are filled. Throws Error(usage) for sizes that are not possible, Error(unsupported) where
// there is no such backend.
measure::Report run_ladder(const LadderOptions& options, Context& context);

// The tables of docs/ladder.md, with the note (what bounds it) of every step, and links to the plots.
std::string ladder_markdown(const measure::Report& report);
// As many as the report has figures for: "ladder-host-512.svg", "ladder-kernel-512.svg", "ladder-ablation-512.svg",
// "ladder-sweep-512.svg", "ladder-cpu-256.svg".
struct Plot {
  std::string file, title, svg;
};
std::vector<Plot> ladder_plots(const measure::Report& report);
// ladder.md and the plots.
void write_ladder(const measure::Report& report, const std::filesystem::path& folder);

}  // namespace lepus::ladder
