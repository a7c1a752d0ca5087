// SPDX-License-Identifier: Apache-2.0
// What a benchmark found: one Figure per thing measured, all of them the same shape, so that one writer makes JSON,
// Markdown and SVG of every benchmark and two machines can be laid side by side.
#pragma once

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace lepus::measure {

// A figure is worth nothing if what was timed was wrong: `error` is what the check found, and a figure whose error is
// not at most `error_limit` (NaN is not) is shown as wrong and fails the benchmark.
struct Figure {
  std::string group;             // "backprojection 512^3"
  std::string name;              // "circular, half4"; unique in its group
  double seconds = 0;            // the best of several runs
  double work = 0;               // what was done in that time, in `unit` x s; 0: only the time says something
  std::string unit;              // of the rate: "GUPS" (2^30 updates a second), "GB/s" (10^9 bytes)
  double limit_rate = 0;         // what this machine could do at most, in the same unit; 0: not known
  std::string limit;             // what sets that limit: "copy bandwidth", "texture rate"
  double error = 0;              // of the result against what it is held to
  double error_limit = 0;        // the largest that counts as right
  std::string error_of;          // "rms against the double-precision reference, of the peak"
  double published_seconds = 0;  // somebody else's time for the same problem; 0: none
  std::string published;         // who, where, on what: "Thumper 2013, GTX 680"
  std::string note;              // what bounds it, how it was scaled down

  bool correct() const { return error <= error_limit; }
  double rate() const { return seconds > 0 ? work / seconds : 0; }
  double share_of_limit() const { return limit_rate > 0 ? rate() / limit_rate : 0; }
};

// The larger of two errors; what is not a number stays so, and is wrong.
inline double worse_error(double a, double b) {
  return a <= b ? b : a > b ? a : std::numeric_limits<double>::quiet_NaN();
}

// The machine and the program that measured.
struct Machine {
  std::string cpu, gpu, driver, system;  // gpu and driver are empty where there is none
  int threads = 0;
  double memory_bytes = 0, gpu_memory_bytes = 0, clock_hz = 0;
};

struct Report {
  std::string title;    // "lepus bench"
  std::string command;  // the command line that makes it again
  std::string version;  // of lepus
  std::string date;     // ISO 8601, UTC
  Machine machine;
  std::vector<Figure> figures;

  bool correct() const;  // all figures are
};
std::vector<std::string> groups_of(const Report& report);  // in the order in which they appear

Machine this_machine(int threads, int device = 0);  // threads = 0: all that the hardware has; device: which GPU

std::string to_json(const Report& report);
// Throws Error(input) that names the file and what is wrong with it.
Report read_report(const std::filesystem::path& file);
std::string to_markdown(const Report& report);
std::string to_svg(const Report& report);  // bars per group: share of the limit where it is known, else the time

// NAME.json, NAME.md and NAME.svg.
void write_report(const Report& report, const std::filesystem::path& folder, const std::string& name);

// One report, or of a folder all .json files in it and below, as runs of one program on one machine: the best of each
// figure, and the wrong one where one is wrong. Error(input) where there is none.
Report read_best_report(const std::filesystem::path& file_or_folder);

// Figures of the same group and name side by side, b's speed over a's, and those that only one has.
std::string compare_markdown(const Report& a, const Report& b);
std::string compare_json(const Report& a, const Report& b);

// The figures of a that b does not hold to `tolerance` (0.02: 2 %): slower by more than that, wrong, or not there.
// Those of the group "machine" say nothing of lepus and are left out.
struct SlowerFigure {
  std::string group, name;
  double speed = 0;  // b's over a's; 0: wrong, or not in b
};
std::vector<SlowerFigure> slower_figures(const Report& a, const Report& b, double tolerance);

}  // namespace lepus::measure
