// SPDX-License-Identifier: Apache-2.0
// From views in host memory to the volume in host memory, as the steps arrange it. The views lie in ordinary memory, as
// RabbitCT's runner hands them over; buffers are made before the clock starts.
//   in_order: one stream; the driver copies the views from ordinary memory, the volume goes back there
//   prefetch: the next views are copied to one of two page-locked buffers and sent while the last are summed; the
//             volume comes down into page-locked memory
//   copying_thread: a thread of its own does that copying, ping-pong between the two buffers
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "device/cuda/device_memory.h"
#include "bench/ladder/cuda/device_views.h"
#include "bench/ladder/cuda/host_memory.h"

namespace lepus::ladder {

enum class Way { in_order, prefetch, copying_thread };

struct Step {
  Launcher launcher = nullptr;
  Held held = Held::texture;
  bool turns = false;              // leaves the volume turned; turn_back at the end
  std::int64_t views_at_once = 1;  // that go up together
  Way way = Way::in_order;
};

class Pipeline {
public:
  Pipeline(const Problem& problem, const Step& step, HostMemory& memory);
  ~Pipeline() { (void)cudaDeviceSynchronize(); }  // what is in the streams uses the buffers
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  double run();  // seconds; may be called again
  const float* volume() const { return host_; }

private:
  void add(std::int64_t buffer, std::int64_t block);
  void send(std::int64_t buffer, std::int64_t block, const float* pixels, cudaStream_t stream);
  void stage(std::int64_t block);  // into page-locked memory, and on its way up
  void run_in_order();
  void run_overlapped();
  std::int64_t first_view(std::int64_t block) const { return block * step_.views_at_once; }
  std::int64_t views_of(std::int64_t block) const;

  const Problem& problem_;
  Step step_;
  std::int64_t blocks_;
  cuda::Stream up_, work_;
  cuda::DeviceBuffer<float> volume_;
  bool turned_ = false;
  struct Buffer {
    std::unique_ptr<DeviceViews> views;
    float* pinned = nullptr;
    cuda::Event arrived, used;
  };
  std::array<Buffer, 2> buffers_;
  float* host_ = nullptr;  // the volume
};

}  // namespace lepus::ladder
