// SPDX-License-Identifier: Apache-2.0
// Finished slabs on their way to the file: turned from z fastest to x fastest, masked, and written on a thread of their
// own while the next slab is summed.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "device/backend.h"
#include "core/memory.h"
#include "io/volume_file.h"

namespace lepus {

class SlabQueue {
public:
  // Voxels farther than cylinder_mm from the axis are written as zero.
  SlabQueue(VolumeWriter& writer, const VolumeGrid& grid, double cylinder_mm, std::int64_t slab_slices, int buffers);
  ~SlabQueue();
  SlabQueue(const SlabQueue&) = delete;
  SlabQueue& operator=(const SlabQueue&) = delete;

  SlabView acquire(std::int64_t z0, std::int64_t z1);  // waits for a free buffer; its contents are undefined
  void submit(const SlabView& slab);                   // hands it to the writer; slabs in order of z
  void drain();                                        // waits until all are written; rethrows what writing threw

private:
  void write_all();
  void write(const SlabView& slab);
  void rethrow_failure();

  VolumeWriter& writer_;
  VolumeGrid grid_;
  double cylinder_mm_;
  std::int64_t z_stride_;
  std::vector<Buffer<float>> buffers_;
  Buffer<float> slices_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<float*> free_;
  std::deque<SlabView> waiting_;
  std::exception_ptr failure_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace lepus
