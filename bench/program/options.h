// SPDX-License-Identifier: Apache-2.0
// What `lepus bench` and `lepus rabbitct` take. Both are run by a program of their own, lepus-bench, which lepus
// starts: so that lepus knows their options (help, man pages, completions) without the benchmarks being part of it.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "app/command.h"
#include "bench/rabbitct/options.h"

namespace lepus::app {

struct BenchArguments {
  std::string action = "suite", a, b, only, output, tolerance;
  std::vector<double> sizes;
  std::string backend = "auto", precision = "fast";
  std::int64_t device = 0, views = 0, repeats = 3;
  double scale = 0;
  bool quick = false, no_ablation = false;
  std::set<std::string> given;  // names of the options
};

struct RabbitArguments {
  std::string action, file;
  // run
  rabbitct::RunOptions run;
  std::string precision = "exact", protocol = "blocks", output;
  bool no_score = false;
  std::int64_t repeats = 3, device = 0, version = 2;
  // make
  rabbitct::MakeOptions make;
  std::vector<double> sizes;
  std::int64_t seed = 1;
  std::set<std::string> given;  // names of the options
};

// Name, help and options, filled into the arguments, which must outlive the command; nothing that runs.
std::unique_ptr<Command> described_bench(BenchArguments& a);
std::unique_ptr<Command> described_rabbitct(RabbitArguments& a);

// Those of lepus-bench, which run.
std::unique_ptr<Command> bench_command();
std::unique_ptr<Command> rabbitct_command();

}  // namespace lepus::app
