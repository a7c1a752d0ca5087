// SPDX-License-Identifier: Apache-2.0
// One pass of a volume through steps, slab by slab: the next slab is read and the last one written while this one is
// computed. A slab's slices depend on nothing but the volume, so every cut gives the same bits.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/context.h"
#include "core/memory.h"
#include "post/step.h"

namespace lepus::post {

struct SweepLimits {
  std::int64_t memory_bytes = 0;
  std::int64_t device_bytes = 0;  // 0: the filters run on the CPU
  std::int64_t slab_slices = 0;   // 0: as many as are good and fit
};

class Sweep {
public:
  // `steps` must outlive the sweep. Throws Error(memory) where not even one slice fits.
  Sweep(const VolumeReader& volume, const VolumeFacts& before, const Steps& steps, const SweepLimits& limits,
        int threads);

  std::int64_t slab_slices() const { return slab_slices_; }
  std::int64_t slabs() const { return (grids_.back().nz + slab_slices_ - 1) / slab_slices_; }

  std::vector<SliceRange> all_slices() const { return {{0, grids_.back().nz}}; }

  // Every slab of `parts` in order: look() on this thread, with all threads free; write() on another. Either may be
  // empty. Throws Error(input) where a voxel that is read (unless any_value) or comes out is not a finite number.
  using Sink = std::function<void(SliceRange slices, const float* values)>;
  void run(const std::string& stage, bool any_value, const Sink& look, const Sink& write,
           const std::vector<SliceRange>& parts, Context& context) const;

private:
  struct Need {
    std::int64_t floats = 0, scratch = 0, device = 0;
  };
  std::vector<SliceRange> slabs_of(const std::vector<SliceRange>& parts) const;
  std::vector<SliceRange> bands_for(SliceRange wanted) const;  // before each step, and after the last
  Need need_of(std::int64_t slices) const;
  std::int64_t plane(std::size_t i) const { return grids_[i].nx * grids_[i].ny; }
  std::int64_t host_bytes(const Need& need) const;
  void choose_slabs(const SweepLimits& limits);
  void require_finite(const float* values, std::int64_t n, SliceRange slices, bool read, ThreadPool& threads) const;

  const VolumeReader& volume_;
  const Steps& steps_;
  std::vector<VolumeGrid> grids_;  // before each step, and after the last
  int threads_;
  int buffers_ = 3;  // being read, worked on, written; one more where a step writes elsewhere
  std::int64_t slab_slices_ = 1, buffer_floats_ = 0;
};

}  // namespace lepus::post
