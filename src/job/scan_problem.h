// SPDX-License-Identifier: Apache-2.0
// A scan as the problem that an iterative method solves: the operator on the machine's devices, the corrected line
// integrals in its memory, FDK and the ramp filter beside it. Over ranks (options.ranks) each has the whole volume and
// the line integrals of its rows of the detector: subsets of views are then shared by all ranks, corrections, which
// work on rows of all views, are made once, and few slices are met by the rays of two ranks.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "device/files/device.h"
#include "iterative/method.h"
#include "job/line_integrals.h"
#include "job/method_input.h"
#include "operators/scan_map.h"

namespace lepus {

class ScanProblem {
public:
  // Corrects and reads the whole scan, by all ranks. Vectors that do not fit into the limit are kept in files beside
  // the output; over ranks they must fit. Throws Error(memory) where not even pieces of them do.
  ScanProblem(const Scan& scan, const std::filesystem::path& output, const ReconstructOptions& options,
              Context& context);

  Problem& problem() { return problem_; }
  const MethodOptions& options() const { return options_; }
  void set_strength(double strength) { options_.strength = strength; }
  double noise() const { return noise_; }  // root mean square of what the method's residuals are measured in
  LineIntegrals& lines() { return lines_; }
  const std::optional<files::Setup>& files() const { return files_; }  // of vectors that do not fit into the memory

  // The given grid's part of the method's volume, zero outside the field of view where the scan wants that; or all of
  // it (method.whole).
  void write(Vector& volume, VolumeWriter& writer);

private:
  void make_map(const std::filesystem::path& output);
  std::unique_ptr<LinearMap> map_of_rows(const VectorNeeds& needs) const;
  void load_views(Context& context);
  void load_volumes();
  // A file's voxels, each as `change` makes it, and `beyond` around them.
  Vector load_volume(const std::string& file, float beyond = 0, float (*change)(float) = nullptr);
  void fdk_of(const float* line_integrals, float* volume) const;
  void fdk_over_ranks(const float* line_integrals, float* volume) const;
  FdkOptions fdk_options() const;

  const Scan& scan_;
  const MethodKind& kind_;
  ExtendedGrid extended_;
  Ranks* ranks_;  // null: one process
  LineIntegrals lines_;
  Compute compute_;
  std::optional<files::Setup> files_;
  std::unique_ptr<LinearMap> map_;
  Problem problem_;
  MethodOptions options_;
  double noise_ = 0;
};

}  // namespace lepus
