// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cuda_check.h"
#include "backend/cuda/device_memory.h"
#include "backend/cuda/devices.h"
#include "correct/stage_kernels.h"
#include "correct/workspace.h"
#include "pipeline/band_engine.h"

namespace lepus {
namespace {

cuda::DeviceBuffer<float> on_device(const Buffer<float>& host) {
  cuda::DeviceBuffer<float> copy(host.size());
  if (host.size() > 0)
    cuda::check(cudaMemcpy(copy.data(), host.data(), static_cast<std::size_t>(host.bytes()), cudaMemcpyHostToDevice),
                "send flats to the device");
  return copy;
}

class DeviceEngine final : public BandEngine {
public:
  DeviceEngine(int device, ThreadPool& pool)
      : device_((cuda::require_device(device), cuda::use_device(device), device)),
        pool_(pool),
        workspace_(stream_.get()) {}

  SinogramBand take(const SinogramBand& host) override {
    cuda::use_device(device_);
    if (kept_.size() < host.floats()) {
      kept_ = {};
      kept_ = cuda::DeviceBuffer<float>(host.floats());
    }
    SinogramBand kept = host;
    kept.data = kept_.data();
    copy(kept_.data(), host.data, host.floats(), cudaMemcpyHostToDevice, "send a band to the device");
    return kept;
  }

  void normalise(const SinogramBand& kept, const Normalisation* normalisation, Stage to) override {
    if (!normalisation) {
      if (to == Stage::grey_levels) cuda::launch_exponential(kept, stream_.get());
      return;
    }
    if (normalisation != held_) {
      dark_ = on_device(normalisation->dark);
      log_i0_ = on_device(normalisation->log_i0);
      held_ = normalisation;
    }
    const cuda::BandNormalisation n{dark_.data(), log_i0_.data(), normalisation->log_i0_everywhere,
                                    normalisation->clip};
    if (to == Stage::grey_levels)
      cuda::launch_to_grey_levels(kept, n, stream_.get());
    else
      cuda::launch_to_line_integrals(kept, n, stream_.get());
  }

  void take_log(const SinogramBand& kept) override { cuda::launch_logarithm(kept, least_grey, stream_.get()); }

  void apply(Correction& correction, const SinogramBand& kept, RowBand wanted) override {
    const cuda::Workspace::Scope scope(workspace_);
    correction.apply_on_device(kept, wanted, workspace_);
  }

  void bring_back(const SinogramBand& kept, RowBand rows, float* host) override {
    const SinogramBand part = part_of(kept, rows);
    copy(host, part.data, part.floats(), cudaMemcpyDeviceToHost, "bring a band back from the device");
    stream_.synchronize();
  }

  ThreadPool& pool() override { return pool_; }

private:
  void copy(float* to, const float* from, std::int64_t floats, cudaMemcpyKind kind, const char* doing) const {
    cuda::check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(floats) * sizeof(float), kind, stream_.get()),
                doing);
  }

  int device_;
  ThreadPool& pool_;
  cuda::Stream stream_;
  cuda::Workspace workspace_;
  cuda::DeviceBuffer<float> kept_, dark_, log_i0_;
  const Normalisation* held_ = nullptr;
};

}  // namespace

std::unique_ptr<BandEngine> device_engine(const std::string& devices, ThreadPool& pool) {
  return std::make_unique<DeviceEngine>(cuda::parse_devices(devices).front(), pool);
}

}  // namespace lepus
