// SPDX-License-Identifier: Apache-2.0
// The proximal map of total variation on volumes in a file. A slab is brought in with so many slices beside it that
// several steps can be done before it goes back: each step makes one more slice at either end wrong, where neighbours
// are missing. What lies before the slab has been written over by the slab before it; that one keeps it as it was.
#include <algorithm>
#include <cstring>
#include <vector>

#include "core/format.h"
#include "core/memory.h"
#include "device/files/device.h"
#include "device/files/slabs.h"
#include "device/files/vector_kernels.h"
#include "device/host/device.h"
#include "device/host/vector_kernels.h"
#include <lepus/error.h>

namespace lepus::files {
namespace {

// In memory at once: volume, result, the dual and the dual with momentum; and of these six what the next slab wants.
constexpr std::int64_t slabs_at_once = 8, fields = 6;

// The end of a slab is wrong from the start, where its last slice counts as the volume's.
std::int64_t halo_of(int steps) { return steps + 1; }

struct Cut {
  int steps = 0;            // at a time; 0: it does not fit
  std::int64_t slices = 0;  // of a slab
};

// The one that takes the least time: slices that are computed twice against steps for which all is read and written.
Cut cut_for(const VolumeShape& shape, int steps, std::int64_t work_bytes) {
  constexpr double io = 4;  // what reading and writing takes, in steps
  const std::int64_t held = work_bytes / (shape.nx * shape.ny * float_bytes);
  if (held >= slabs_at_once * shape.nz) return {std::max(1, steps), shape.nz};
  Cut best;
  double least = 0;
  for (int k = 1; k <= std::max(1, steps); ++k) {
    const std::int64_t halo = halo_of(k), slices = (held - fields * halo) / slabs_at_once - 2 * halo;
    if (slices < 1) break;
    const double cost = (1 + 2 * static_cast<double>(halo) / static_cast<double>(slices)) * (1 + io / k);
    if (best.steps == 0 || cost < least) {
      best = {k, std::min(slices, shape.nz)};
      least = cost;
    }
  }
  return best;
}

class Sweeps {
public:
  Sweeps(const TotalVariation& work, FileMemory& memory, const Cut& cut, Queue& queue)
      : work_(work),
        memory_(memory),
        cut_(cut),
        queue_(queue),
        slice_(work.shape.nx * work.shape.ny),
        halo_(halo_of(cut.steps)) {
    const std::int64_t held = std::min(work.shape.nz, cut.slices + 2 * halo_);
    for (std::int64_t i = 0; i < slabs_at_once; ++i) slabs_.emplace_back(held * slice_);
    for (std::int64_t i = 0; i < fields && cut.slices < work.shape.nz; ++i) before_.emplace_back(halo_ * slice_);
    if (cut.steps < work.steps) ahead_ = memory.allocate(3 * work.shape.voxels() * float_bytes);
  }

  // Steps [first, last), and the result after the last of all.
  void sweep(int first, int last) {
    each_slab(work_.shape.nz, cut_.slices, halo_, [&](const Slab& slab) {
      copy(volume(), work_.volume + slab.first * slice_, slab.held());
      for (int i = 0; i < fields; ++i) bring(i, slab, first);
      const std::int64_t next_first = std::max<std::int64_t>(0, slab.z1 - halo_);
      for (int i = 0; i < fields && slab.z1 < work_.shape.nz; ++i)
        std::memcpy(before_[static_cast<std::size_t>(i)].data(), field(i) + (next_first - slab.first) * slice_,
                    bytes(slab.z1 - next_first));
      compute(slab, first, last);
      const std::int64_t own = (slab.z0 - slab.first) * slice_, count = slab.z1 - slab.z0;
      for (int i = 0; i < fields; ++i)
        if (i < 3 || last < work_.steps) copy(in_file(i) + slab.z0 * slice_, field(i) + own, count);
      if (last == work_.steps) copy(work_.out + slab.z0 * slice_, result() + own, count);
    });
  }

private:
  std::size_t bytes(std::int64_t slices) const { return static_cast<std::size_t>(slices * slice_ * float_bytes); }
  // 0, 1, 2: the dual; 3, 4, 5: the dual with momentum.
  float* field(int i) { return slabs_[static_cast<std::size_t>(i)].data(); }
  float* volume() { return slabs_[6].data(); }
  float* result() { return slabs_[7].data(); }
  float* in_file(int i) const {
    return i < 3 ? work_.dual[i] : reinterpret_cast<float*>(ahead_.get()) + (i - 3) * work_.shape.voxels();
  }
  void copy(float* to, const float* from, std::int64_t slices) {
    memory_.copy(to, from, slices * slice_ * float_bytes, host::threads_of(queue_));
  }

  void bring(int i, const Slab& slab, int first) {
    if (i >= 3 && first == 0) {
      std::memcpy(field(i), field(i - 3), bytes(slab.held()));
      return;
    }
    const std::int64_t kept = slab.z0 - slab.first;
    if (kept > 0) std::memcpy(field(i), before_[static_cast<std::size_t>(i)].data(), bytes(kept));
    copy(field(i) + kept * slice_, in_file(i) + slab.z0 * slice_, slab.last - slab.z0);
  }

  void compute(const Slab& slab, int first, int last) {
    const VolumeShape part{work_.shape.nx, work_.shape.ny, slab.held()};
    float* const dual[3] = {field(0), field(1), field(2)};
    float* const ahead[3] = {field(3), field(4), field(5)};
    host::dual_steps({volume(), work_.strength, work_.low, work_.high, ahead, dual, result()}, first, last, part,
                     queue_);
    if (last == work_.steps)
      host::move_and_clamp(volume(), work_.strength, dual, work_.low, work_.high, result(), part, queue_);
  }

  const TotalVariation& work_;
  FileMemory& memory_;
  Cut cut_;
  Queue& queue_;
  std::int64_t slice_, halo_;
  std::vector<Buffer<float>> slabs_, before_;
  Block ahead_;
};

}  // namespace

void refuse_slices(const VolumeShape& shape, std::int64_t work_bytes) {
  throw Error(ErrorKind::memory,
              {.what = "slices of the volume do not fit into the memory",
               .where = {},
               .why = format("some of {} x {} voxels and their neighbours need {}, and {} may be used", shape.nx,
                             shape.ny, format_bytes(smallest_work_bytes(shape)), format_bytes(work_bytes)),
               .hint = "allow more with --memory"});
}

std::int64_t smallest_work_bytes(const VolumeShape& shape) {
  const std::int64_t halo = halo_of(1), slices = slabs_at_once * (1 + 2 * halo) + fields * halo;
  return std::min(slices, slabs_at_once * shape.nz) * shape.nx * shape.ny * float_bytes;
}

void total_variation_step(TotalVariation work, FileMemory& memory, std::int64_t work_bytes, Queue& queue) {
  if (!(work.strength > 0)) work.steps = 0;
  const Cut cut = cut_for(work.shape, work.steps, work_bytes);
  if (cut.steps == 0) refuse_slices(work.shape, work_bytes);
  Sweeps sweeps(work, memory, cut, queue);
  int first = 0;
  do {
    const int last = std::min(work.steps, first + cut.steps);
    sweeps.sweep(first, last);
    first = last;
  } while (first < work.steps);
}

}  // namespace lepus::files
