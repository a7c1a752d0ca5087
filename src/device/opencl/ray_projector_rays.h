// SPDX-License-Identifier: Apache-2.0
// The rays of a scan in a device's memory, and the calls of the kernels that send them through slices of a volume or
// gather along them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/opencl/program.h"
#include "device/opencl/queue.h"
#include "device/opencl/ray_projector_layers.h"
#include "device/ray_projector.h"
#include "project/faces.h"

namespace lepus::opencl {

class ScanRays {
public:
  // Throws Error(geometry) for matrices that cannot be used.
  ScanRays(Device& device, Context& context, const RayProjectorSetup& setup);

  bool samples_images() const { return images_; }
  bool gathers_columns() const { return columns_program_ != nullptr; }
  std::int64_t table_bytes() const { return table_bytes_; }  // that are taken all the time
  std::int64_t project_bytes(std::int64_t slices) const;     // beside the arrays
  void project(const SlabVoxels<const float>& slab, const ViewRows<float>& lines, Queue& queue);
  std::int64_t gather_bytes(std::int64_t views, std::int64_t rows) const;
  // Adds to the slab: by columns of voxels where the scan can be taken so and the model is Joseph's, else voxel by
  // voxel.
  void gather(const ViewRows<const float>& lines, const SlabVoxels<float>& slab, Queue& queue) const;

private:
  struct Piece;
  Piece piece_of(SlabRange slices, std::int64_t first_view, std::int64_t views, RowBand rows) const;
  Program& program(bool images) const;  // built where there is none yet
  void project_layers(const Piece& piece, const float* voxels, float* sums, Queue& queue);
  void project_lines(const Piece& piece, const float* voxels, float* sums, Queue& queue) const;
  std::string options() const;  // of every program
  void gather_columns(const ViewRows<const float>& lines, const SlabVoxels<float>& slab, Queue& queue) const;
  std::int64_t views_at_once(std::int64_t rows) const;
  std::int64_t faces_at_once(std::int64_t rows) const;

  Device& device_;
  Context& context_;
  RayModel model_;
  Beam beam_;
  std::int64_t columns_, rows_;
  JosephGrid grid_;
  bool axes_[3] = {};
  bool images_;
  Program& lines_;  // kernels that read linear memory
  Block views_, seen_by_;
  // For gather_columns, where that is used.
  std::vector<Face> faces_;
  std::vector<PictureFace> pictures_;
  Block faces_on_device_;
  Program* columns_program_ = nullptr;
  std::int64_t table_bytes_ = 0;
  std::shared_ptr<VolumeLayers> layers_;
  std::uint64_t layers_queue_ = 0;
};

}  // namespace lepus::opencl
