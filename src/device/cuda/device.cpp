// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/device.h"

#include "device/cuda/band_kernels/band_kernels.h"
#include "device/cuda/copy_views.h"
#include "device/cuda/cuda_check.h"
#include "device/cuda/devices.h"
#include "device/cuda/projector.h"
#include "device/cuda/ray_projector.h"
#include "device/cuda/surface_tracer.h"
#include "device/cuda/vector_kernels.h"
#include "device/cuda/volume_kernels.h"
#include <lepus/error.h>

namespace lepus::cuda {
namespace {

class CudaQueue final : public Queue {
public:
  CudaQueue(Device& device, int number, QueueRank rank)
      : Queue(device), number_(number), stream_(rank == QueueRank::first ? Stream::Rank::first : Stream::Rank::usual) {}
  // What is in it uses buffers that are given back now.
  ~CudaQueue() override { (void)cudaStreamSynchronize(stream_.get()); }
  void after(const lepus::Event& event) override { stream_.wait_for(event_of(event)); }
  void wait() override {
    use_device(number_);
    stream_.synchronize();
  }
  cudaStream_t stream() const { return stream_.get(); }

private:
  int number_;
  Stream stream_;
};

class CudaEvent final : public lepus::Event {
public:
  explicit CudaEvent(Timing timing)
      : event_(timing == Timing::on ? cuda::Event::Timing::on : cuda::Event::Timing::off) {}
  void mark(Queue& queue) override { event_.record(stream_of(queue)); }
  void wait() const override { event_.synchronize(); }
  double seconds_since(const lepus::Event& earlier) const override {
    return 1e-3 *
           static_cast<double>(cuda::Event::milliseconds(dynamic_cast<const CudaEvent&>(earlier).event_, event_));
  }
  cudaEvent_t get() const { return event_.get(); }

private:
  cuda::Event event_;
};

template <class Memory>
Block block_of(std::int64_t bytes) {
  auto memory = std::make_shared<Memory>(bytes);
  return {memory, memory->data()};
}

class CudaDevice final : public Device {
public:
  CudaDevice(int number, Precision precision, std::int64_t memory_bytes)
      : number_((require_device(number), number)), precision_(precision), memory_bytes_(memory_bytes) {
    info_.kind = "cuda";
    info_.number = number;
    info_.name = device_name(number);
    info_.free_bytes = free_memory_bytes(number);
  }

  const DeviceInfo& info() const override { return info_; }
  std::int64_t free_bytes() const override { return free_memory_bytes(number_); }
  std::int64_t memory_limit_bytes() const override { return memory_bytes_ > 0 ? memory_bytes_ : free_bytes() * 9 / 10; }

  std::unique_ptr<Queue> make_queue(QueueRank rank) override {
    use_device(number_);
    return std::make_unique<CudaQueue>(*this, number_, rank);
  }
  std::unique_ptr<lepus::Event> make_event(Timing timing) override {
    use_device(number_);
    return std::make_unique<CudaEvent>(timing);
  }

  Block allocate(std::int64_t bytes, Place place) override {
    use_device(number_);
    return place == Place::device ? block_of<DeviceBuffer<std::byte>>(bytes) : block_of<PinnedBuffer<std::byte>>(bytes);
  }
  bool copies_fast(const void* host_memory) const override { return is_pinned(host_memory); }
  bool reaches_host_memory() const override { return reaches_pinned(number_); }
  void copy(void* to, const void* from, std::int64_t bytes, Queue& queue) override {
    use_device(number_);
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault, stream_of(queue)),
          "copy between host and device");
  }
  void copy_views(const std::vector<const void*>& views, std::int64_t bytes, std::byte* to, std::int64_t group,
                  Queue& queue) override {
    use_device(number_);
    cuda::copy_views(views, bytes, reinterpret_cast<unsigned char*>(to), group, stream_of(queue));
  }
  void copy_rows(void* to, std::int64_t to_stride, const void* from, std::int64_t from_stride, std::int64_t bytes,
                 std::int64_t rows, Queue& queue) override {
    use_device(number_);
    const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
    check(cudaMemcpy2DAsync(to, size(to_stride), from, size(from_stride), size(bytes), size(rows), cudaMemcpyDefault,
                            stream_of(queue)),
          "copy rows between host and device");
  }
  void clear(void* memory, std::int64_t bytes, Queue& queue) override {
    use_device(number_);
    check(cudaMemsetAsync(memory, 0, static_cast<std::size_t>(bytes), stream_of(queue)), "clear device memory");
  }

  bool corrects_bands() const override { return true; }
  std::unique_ptr<Projector> make_projector(const ProjectorSetup& setup) override {
    return cuda::make_projector(number_, precision_, setup);
  }
  std::unique_ptr<lepus::RowFilter> make_row_filter(const lepus::RowFilterSetup& setup) override {
    return cuda::make_row_filter(number_, setup);
  }
  BandKernels& band_kernels() override { return *kernels_; }
  std::unique_ptr<RayProjector> make_ray_projector(const RayProjectorSetup& setup) override {
    return cuda::make_ray_projector(number_, setup);
  }
  std::unique_ptr<SurfaceTracer> make_surface_tracer(const SurfaceTracerSetup& setup) override {
    return cuda::make_surface_tracer(number_, setup);
  }
  VolumeKernels* volume_kernels() override { return volume_kernels_.get(); }
  VectorKernels& vector_kernels() override { return *vectors_; }

private:
  int number_;
  Precision precision_;
  std::int64_t memory_bytes_;
  DeviceInfo info_;
  std::unique_ptr<BandKernels> kernels_ = make_band_kernels(number_);
  std::unique_ptr<VectorKernels> vectors_ = make_vector_kernels(number_);
  std::unique_ptr<VolumeKernels> volume_kernels_ = make_volume_kernels(number_);
};

[[noreturn]] void refuse_stranger(const char* what) {
  throw Error(ErrorKind::internal,
              {.what = std::string("CUDA was given another device's ") + what, .where = {}, .why = {}, .hint = {}});
}

}  // namespace

std::unique_ptr<Device> make_device(int number, Precision precision, std::int64_t memory_bytes) {
  return std::make_unique<CudaDevice>(number, precision, memory_bytes);
}

cudaStream_t stream_of(const Queue& queue) {
  if (const auto* here = dynamic_cast<const CudaQueue*>(&queue)) return here->stream();
  refuse_stranger("queue");
}

cudaEvent_t event_of(const lepus::Event& event) {
  if (const auto* here = dynamic_cast<const CudaEvent*>(&event)) return here->get();
  refuse_stranger("event");
}

}  // namespace lepus::cuda
