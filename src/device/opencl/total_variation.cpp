// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "device/opencl/program.h"
#include "device/opencl/queue.h"
#include "device/opencl/vector_kernels.h"

namespace lepus::opencl {
namespace {

// As kernels/total_variation.cl has it.
struct ShapeArgument {
  cl_long nx, ny, nz;
};

// A call whose first argument is the shape, and its start for every voxel.
class VoxelCall {
public:
  VoxelCall(const char* kernel, const VolumeShape& shape, Queue& queue)
      : queue_(opencl_queue(queue)),
        shape_(shape),
        call_(queue_.context(), queue_.context().program("total_variation", ""), kernel) {
    call_.value(ShapeArgument{shape.nx, shape.ny, shape.nz});
  }
  VoxelCall& memory(const float* address) { return call_.memory(address), *this; }
  VoxelCall& value(float value) { return call_.value(value), *this; }
  VoxelCall& field(const float* const axes[3]) {
    for (int axis = 0; axis < 3; ++axis) call_.memory(axes[axis]);
    return *this;
  }
  void run() {
    constexpr std::int64_t items = 64;
    call_.run(queue_.get(), {(shape_.nx + items - 1) / items, shape_.ny, shape_.nz}, {items, 1, 1});
  }

private:
  OpenclQueue& queue_;
  VolumeShape shape_;
  KernelCall call_;
};

void move_and_clamp(const VariationStep& job, const float* const field[3], float* out, const VolumeShape& shape,
                    Queue& queue) {
  VoxelCall("move_and_clamp", shape, queue)
      .memory(job.volume)
      .value(job.strength)
      .field(field)
      .value(job.low)
      .value(job.high)
      .memory(out)
      .run();
}

}  // namespace

void gradient(const float* volume, float* const gradient[3], const VolumeShape& shape, Queue& queue) {
  VoxelCall("gradient", shape, queue).memory(volume).field(gradient).run();
}

void divergence(const float* const gradient[3], float* volume, const VolumeShape& shape, Queue& queue) {
  VoxelCall("divergence", shape, queue).field(gradient).memory(volume).run();
}

void total_variation_step(const VariationStep& job, float* const dual[3], float* out, const VolumeShape& shape,
                          Queue& queue) {
  const std::int64_t n = shape.voxels();
  if (n == 0) return;
  if (job.strength > 0 && job.steps > 0) {
    const ScratchScope scope(queue);
    float* ahead[3];  // the dual with momentum
    for (int axis = 0; axis < 3; ++axis) {
      ahead[axis] = queue.scratch<float>(n);
      queue.device().copy(ahead[axis], dual[axis], n * std::int64_t{sizeof(float)}, queue);
    }
    const float rise = 1 / (12 * job.strength);  // 12: the largest eigenvalue of -div grad
    double t = 1;
    for (int step = 0; step < job.steps; ++step) {
      move_and_clamp(job, ahead, out, shape, queue);
      const double next_t = (1 + std::sqrt(1 + 4 * t * t)) / 2;
      VoxelCall("dual_step", shape, queue)
          .memory(out)
          .value(rise)
          .value(static_cast<float>((t - 1) / next_t))
          .field(ahead)
          .field(dual)
          .run();
      t = next_t;
    }
  }
  move_and_clamp(job, dual, out, shape, queue);
}

}  // namespace lepus::opencl
