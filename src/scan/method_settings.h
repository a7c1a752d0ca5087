// SPDX-License-Identifier: Apache-2.0
// [method] of a scan file: how the volume is made from the line integrals. docs/iterative.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace lepus {

struct MethodSettings {
  std::string name = "fdk";  // the others are iterative (iterative/method.h)
  std::int64_t iterations = 50;
  std::optional<std::int64_t> subsets;  // not given: 10 for methods that have them, or as many as there are views
  std::string order = "distant";
  std::int64_t seed = 1;
  double relaxation = 1;
  double strength = 0;
  bool choose_strength = false;  // by the discrepancy principle
  double huber = 0;
  int total_variation_steps = 20;
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  std::string start = "zero";  // or "fdk", or a volume file
  std::string weights = "none";
  std::string mask, prior;  // volume files; "": none
  double prior_share = 0.5;
  std::vector<double> extend = {0, 0, 0};  // at both ends of x, y, z, in shares of the volume's size
  std::string model = "joseph";
  double stop_residual = 0, stop_change = 0;
  bool stop_at_noise = false;
  std::optional<double> noise;  // not given: measured
  std::int64_t save_every = 0;  // iterations
  double save_minutes = 0;      // both 0: as often as it costs little
  // Never in a file. A saved state is gone on from where there is one: it must be there, it must not.
  bool resume = false, restart = false;
  bool keeps_state = true;  // neither saved nor looked for where not
  bool whole = false;       // what extend adds is written, too, and the field of view is not cut out
  bool named = true;        // by the file or the command; not: the file says how to iterate, but not by which method

  bool iterative() const { return name != "fdk"; }
  std::vector<std::string> volume_files() const;  // that start, mask and prior name
};

// The text of the section, as it stands in a resolved scan file; "" for FDK.
std::string method_toml(const MethodSettings& settings);
// A resolved scan file with these settings in the place of its own, or without any where they are FDK's.
std::string with_method(const std::string& resolved, const MethodSettings& settings);

}  // namespace lepus
