// SPDX-License-Identifier: Apache-2.0
// A volume that a device holds whole while filtered views are added to it as they come, in blocks. For live
// reconstructions, RabbitCT's protocol and whatever else does not know its views beforehand.
// In: filtered views, u fastest, and their matrices. Out: the sum so far, x fastest,
//   f = sum over the views of sample(u, v) / w^2 (Feldkamp, Davis and Kress 1984), zero beyond the cylinder.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/threads.h"
#include "device/device.h"
#include "device/projector.h"

namespace lepus {

struct AccumulatorSetup {
  ScanGeometry detector;  // of the filtered views; its matrices are not looked at
  VolumeGrid grid;
  double cylinder_mm = std::numeric_limits<double>::max();
  Interpolation interpolation = Interpolation::linear;
  RowBand rows;                 // of the detector that are given
  std::int64_t block = 32;      // views that are summed at once, at most
  float largest_value = 32;     // of filtered views, about; for fp16
  bool piece_by_piece = false;  // views come by put(), else by send()
};

class ViewAccumulator {
public:
  // Takes the memory. Device and threads outlive it.
  ViewAccumulator(const AccumulatorSetup& setup, Device& device, ThreadPool& threads);
  ~ViewAccumulator();
  ViewAccumulator(const ViewAccumulator&) = delete;
  ViewAccumulator& operator=(const ViewAccumulator&) = delete;

  // What it takes: on the host, and on a device that has memory of its own.
  struct Bytes {
    std::int64_t host = 0, device = 0;
  };
  static Bytes bytes(const AccumulatorSetup& setup, Device& device);
  // Views that the device likes to sum at once.
  static std::int64_t usual_block(const AccumulatorSetup& setup, Device& device);

  const DeviceInfo& device() const { return device_.info(); }
  const std::string& kernel() const { return kernel_; }  // known after the first block

  // Rows of the view in a slot of the block that is being made; copied when it returns. From any thread.
  void put(std::int64_t slot, RowBand rows, const float* filtered);
  // All rows of it; they must not change before release() returns. Waits where too many are still on their way: whoever
  // hands them over is held to the pace of the link.
  void send(std::int64_t slot, const float* view);
  void release();

  // Adds the views in slots [0, matrices.size()); then another block is made.
  void sum(const std::vector<Matrix34>& matrices);
  void wait();  // until all that was given is in the sum
  // Voxels beyond the cylinder are zero. beside: while another thread adds; on the host the caller's does it alone.
  void download(const VoxelBox& box, float* voxels, bool beside = false);
  // Adds the last block, which may be empty, and downloads the volume: each slab while the next is summed.
  void finish(const std::vector<Matrix34>& matrices, float* volume);

private:
  // One of two blocks on their way.
  struct Upload {
    Block staged, pixels;
    std::unique_ptr<Event> copied, used;  // reached when staged, when pixels may be written again
  };

  std::int64_t view_floats() const { return setup_.detector.columns * setup_.rows.size(); }
  bool own_memory() const { return !device_.info().host; }
  std::unique_ptr<Projector> projector(const std::vector<Matrix34>& matrices) const;
  void store_block(std::int64_t views);
  void add(const Projector& projector, SlabRange slices);
  void next_block();

  AccumulatorSetup setup_;
  Device& device_;
  ThreadPool& threads_;
  std::mutex giving_work_;  // one thread at a time
  std::unique_ptr<Queue> up_, work_, down_;
  std::unique_ptr<ViewStore> store_;
  std::unique_ptr<SlabStore> volume_;
  std::array<Upload, 2> uploads_;
  std::size_t turn_ = 0;
  std::unique_ptr<Event> arrived_;
  std::vector<std::unique_ptr<Event>> sent_;  // the last views on their way
  std::int64_t sends_ = 0;
  std::string kernel_;
};

}  // namespace lepus
