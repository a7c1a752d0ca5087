// SPDX-License-Identifier: Apache-2.0
// The slices that are still to be made, handed out in order to the workers that ask. What a worker gets follows from
// its measured speed, and shrinks towards the end, so that all finish together and the last slab, which comes down with
// nothing left to hide it, is small (guided self-scheduling; Polychronopoulos, Kuck 1987).
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "device/projector.h"

namespace lepus {

// How slabs are cut: `part` of what is left to a worker at a time, within limits.
struct SlabSizes {
  std::int64_t largest = 0, least = 0;
  double part = 0.5;
};

// Slices that belong together, one part after the other, cut at multiples of slab_alignment; none: no more.
using VolumeParts = std::function<std::optional<SlabRange>()>;

class SlabTickets {
public:
  SlabTickets(VolumeParts parts, SlabSizes sizes, int workers);
  SlabTickets(std::int64_t slices, SlabSizes sizes, int workers);  // one part: the whole volume

  // The next slab for a worker, cut at multiples of slab_alignment, and at multiples of their size where all are of
  // one; none where all are taken. Thread-safe, as all here.
  std::optional<SlabRange> next(int worker);
  // So many slices of that worker are done, so many seconds after the start.
  void done(int worker, std::int64_t slices, double seconds);
  void stop();  // no more

private:
  double share(int worker) const;  // of the speed of all

  std::mutex mutex_;
  VolumeParts parts_;
  bool over_ = false;
  std::int64_t next_ = 0, end_ = 0;  // of the part
  SlabSizes sizes_;
  struct Worker {
    std::int64_t done = 0;
    double slices_per_second = 0;  // 0: not known yet
  };
  std::vector<Worker> workers_;
};

// How equally fast workers would cut the volume.
std::vector<SlabRange> expected_slabs(std::int64_t slices, SlabSizes sizes, int workers);

}  // namespace lepus
