// SPDX-License-Identifier: Apache-2.0
// A scan as the kernels want it: its rays, and its faces in the order in which they are summed.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "device/cuda/device_memory.h"
#include "device/cuda/ray_projector_faces.h"
#include "device/cuda/ray_projector_planes.h"
#include "device/ray_projector.h"
#include "project/ray_views.h"

namespace lepus::cuda {

// The faces of a scan, and which of them some views have.
class Faces {
public:
  // `views` are the job's in the memory of the current device.
  Faces(const RayViews& job, const JosephView* views);
  const std::vector<Face>& all() const { return faces_; }

  // Calls work(source, number of its first face) for the faces of some views, as many at a time as take no more than
  // the memory that is set aside for them.
  void in_batches(const ViewRows<const float>& lines, std::int64_t bytes_per_face,
                  const std::function<void(const FaceSource&, int)>& work) const;
  static std::int64_t work_bytes(std::int64_t views, std::int64_t bytes_per_face);

private:
  const JosephView* views_;
  JosephGrid grid_;
  std::int64_t columns_;
  std::vector<Face> faces_;
  DeviceBuffer<Face> on_device_;
};

// The rays of a scan in the memory of the current device, and the volume that they are sent through.
class ScanRays {
public:
  ScanRays(const RayProjectorSetup& setup, Weights weights);
  const RayViews& job() const { return job_; }
  const JosephView* views() const { return views_.data(); }
  std::int64_t work_bytes(std::int64_t slices) const { return VolumePlanes::bytes(job_.grid, axes_, weights_, slices); }

  // Calls launch(rays, planes) for the piece, when the slab's planes are there.
  void project(const SlabVoxels<const float>& slab, const ViewRows<float>& lines, Queue& queue,
               const std::function<void(const RaysOnDevice&, const PlanesOnDevice&)>& launch);

private:
  Weights weights_;
  RayViews job_;
  std::vector<int> axes_;
  DeviceBuffer<JosephView> views_;
  std::shared_ptr<VolumePlanes> planes_;
  std::uint64_t planes_queue_ = 0;
};

}  // namespace lepus::cuda
