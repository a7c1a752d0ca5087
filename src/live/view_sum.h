// SPDX-License-Identifier: Apache-2.0
// A volume that is held whole while filtered views are added to it, in any order, in blocks of as many as there are.
// In: rows [rows.first, rows.last) of filtered views, u fastest, and their matrices. Out: the sum so far, x fastest,
//   f = sum over the views added of sample(u, v) / w^2 (Feldkamp, Davis and Kress 1984), zero beyond the cylinder.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/backend.h"
#include "core/threads.h"
#include "geometry/row_band.h"

namespace lepus {

struct ViewSumSetup {
  ScanGeometry detector;  // of the filtered views; its one matrix is that of any view
  VolumeGrid grid;
  Interpolation interpolation = Interpolation::linear;
  RowBand rows;             // of the detector that are given
  std::int64_t block = 32;  // views that are added at once, at most
  // Of a GPU.
  int device = 0;
  Precision precision = Precision::half;
  float largest_value = 32;  // of filtered views, about; for fp16
};

// Voxels [x0, x1) x [y0, y1) x [z0, z1).
struct VoxelBox {
  std::int64_t x0 = 0, x1 = 0, y0 = 0, y1 = 0, z0 = 0, z1 = 0;
  std::int64_t voxels() const { return (x1 - x0) * (y1 - y0) * (z1 - z0); }
};

class ViewSum {
public:
  virtual ~ViewSum() = default;
  virtual std::string device() const = 0;       // what computes
  virtual std::string description() const = 0;  // the kernel; known after the first block
  virtual std::string backend() const = 0;      // "cpu"

  // Rows of the view in slot [0, block) of the block that is being made; from any thread.
  virtual void put(std::int64_t slot, RowBand rows, const float* filtered) = 0;
  // Adds the views in slots [0, matrices.size()), all of whose rows were put.
  virtual void add(const std::vector<Matrix34>& matrices, ThreadPool& threads) = 0;
  virtual void wait() = 0;  // until all that was added is in the sum
  // On `threads`, or where they are null on the caller's alone.
  virtual void read(const VoxelBox& box, float* x_fastest, ThreadPool* threads) = 0;
};

// Host memory that it takes for the volume and a block of views, and memory of the device.
std::int64_t host_sum_bytes(const ViewSumSetup& setup);
struct DeviceSumBytes {
  std::int64_t host = 0, device = 0;
};
DeviceSumBytes device_sum_bytes(const ViewSumSetup& setup);
std::int64_t free_device_bytes(int device);

std::unique_ptr<ViewSum> make_host_sum(std::unique_ptr<Backend> backend, const ViewSumSetup& setup);
// Throws Error(unsupported) where there is no GPU or this build has no CUDA.
std::unique_ptr<ViewSum> make_device_sum(const ViewSumSetup& setup);

}  // namespace lepus
