// SPDX-License-Identifier: Apache-2.0
// One step of the chain on a volume. A step sees a slab of slices at a time, with the slices around it that it asks
// for: slices [first, last) of the volume before it -> slices of the volume after it, floats, x fastest.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/threads.h"
#include "geometry/row_band.h"
#include "io/frames.h"
#include "post/post.h"

namespace lepus::post {

using SliceRange = RowBand;  // slices [first, last)

struct Slab {
  float* data = nullptr;
  SliceRange slices;
};

// What a volume is between two steps.
struct VolumeFacts {
  VolumeGrid grid;
  std::string unit;
  PixelType type = PixelType::f32;
};

// Percentiles of all voxels of the volume before a step, exact, linear between neighbours as NumPy has them.
using Percentiles = std::function<std::vector<double>(const std::vector<double>& percents)>;

class Step {
public:
  virtual ~Step() = default;

  virtual VolumeFacts after(const VolumeFacts& before) const { return before; }
  virtual SliceRange slices_needed(SliceRange wanted) const { return wanted; }  // of the volume before
  // Whether a second sweep over the volume should read what this step made from a file instead of making it again.
  virtual bool is_costly() const { return false; }
  // Whether apply() writes elsewhere; else in and out are the same memory.
  virtual bool needs_output() const { return false; }
  virtual std::int64_t scratch_bytes(std::int64_t /*slices_in*/, int /*threads*/) const { return 0; }

  // Called once, before the first slab, when all steps before it are ready.
  virtual bool needs_percentiles() const { return false; }
  virtual void prepare(const Percentiles& /*of_the_volume_before*/) {}
  // `out` holds what was wanted, `in` what slices_needed() said.
  virtual void apply(const Slab& in, const Slab& out, ThreadPool& threads) = 0;

  virtual std::string summary() const = 0;  // "values below 0.01 became 0: 1234 voxels"; after the sweep
};
using Steps = std::vector<std::unique_ptr<Step>>;

// Where filters run; made by post_process.
class FilterDevice;

// The step, for a volume as `before` says. Throws Error(usage) naming the step where they do not go together.
std::unique_ptr<Step> make_step(const PostSpec& spec, const VolumeFacts& before, FilterDevice* device);
std::unique_ptr<Step> make_filter_step(const PostSpec& spec, const VolumeFacts& before, FilterDevice* device);
bool is_filter(const std::string& kind);

// "hardening" is three steps; every other is itself.
std::vector<PostSpec> expanded(const PostSpec& spec);

[[noreturn]] void refuse_step(const PostSpec& spec, std::string what, std::string why, std::string hint);

// Calls body(row of the slab's first slice counted from 0, values) for all rows, on all threads.
void each_row(const Slab& slab, const VolumeGrid& grid, ThreadPool& threads,
              const std::function<void(std::int64_t z, std::int64_t y, float* values)>& body);

}  // namespace lepus::post
