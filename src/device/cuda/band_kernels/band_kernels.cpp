// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/band_kernels/band_kernels.h"

#include "device/cuda/band_kernels/beam_kernels.h"
#include "device/cuda/band_kernels/filter.h"
#include "device/cuda/band_kernels/phase_device.h"
#include "device/cuda/band_kernels/pixel_kernels.h"
#include "device/cuda/band_kernels/rings.h"
#include "device/cuda/band_kernels/stage_kernels.h"
#include "device/cuda/device.h"
#include "device/cuda/devices.h"

namespace lepus::cuda {
namespace {

class CudaPhase final : public PhaseKernel {
public:
  CudaPhase(int device, const PhasePlan& plan, std::int64_t views)
      : device_((use_device(device), device)), phase_(plan, views) {}
  void apply(const SinogramBand& band, RowBand wanted, Queue& queue) override {
    use_device(device_);
    phase_.apply(band, wanted, queue);
  }

private:
  int device_;
  PhaseDevice phase_;
};

class CudaBandKernels final : public BandKernels {
public:
  explicit CudaBandKernels(int device) : device_(device) {}
  bool has(BandOperation) const override { return true; }

  void to_stage(PixelType type, const void* recorded, const SinogramBand& band, const BandStaging& staging,
                Queue& queue) override {
    launch_to_stage(type, recorded, band, staging, stream_here(queue));
  }
  void logarithm(const SinogramBand& band, const BandStaging& staging, float lowest_of_lines, Queue& queue) override {
    launch_logarithm(band, staging, lowest_of_lines, stream_here(queue));
  }
  void hot_pixels(const pixels::HotRules& rules, int iterations, const Planes& sinograms, std::int64_t* counts,
                  Queue& queue) override {
    use_device(device_);
    pixels::launch_hot_pixels(rules, iterations, sinograms, counts, queue);
  }
  void zingers(const pixels::ZingerRules& rules, const Planes& sinograms, std::int64_t* counts, Queue& queue) override {
    use_device(device_);
    pixels::launch_zingers(rules, sinograms, counts, queue);
  }
  void bridge(std::span<const pixels::PixelRun> runs, std::span<const pixels::RowLine> lines, const Planes& sinograms,
              Queue& queue) override {
    use_device(device_);
    pixels::launch_bridges(runs.data(), static_cast<std::int64_t>(runs.size()), lines.data(),
                           static_cast<std::int64_t>(lines.size()), sinograms, queue);
  }
  void remove_rings(const Planes& sinograms, const RingOptions& options, Queue& queue) override {
    use_device(device_);
    cuda::remove_rings(sinograms, options, queue);
  }
  void scale_views(const Planes& sinograms, const float* factors, Queue& queue) override {
    launch_scale_views(sinograms, factors, stream_here(queue));
  }
  void remove_lag(const Planes& sinograms, const LagModel& model, LagStart start, Queue& queue) override {
    launch_remove_lag(sinograms, model, start, stream_here(queue));
  }
  void linearise(const Planes& sinograms, const HardeningCurve& curve, Queue& queue) override {
    launch_linearise(sinograms, curve, stream_here(queue));
  }
  void interpolate_flats(const Planes& sinograms, std::int64_t first_row, const FlatsOfViews& flats,
                         Queue& queue) override {
    launch_interpolate_flats(sinograms, first_row, flats, stream_here(queue));
  }
  std::unique_ptr<PhaseKernel> make_phase(const PhasePlan& plan, std::int64_t views) override {
    return std::make_unique<CudaPhase>(device_, plan, views);
  }
  void filter(const Planes& in, const Planes& out, const FilterOptions& options, const FilterCut& cut,
              Queue& queue) override {
    use_device(device_);
    cuda::filter(in, out, options, cut, queue);
  }
  void transpose(const Planes& in, const Planes& out, Queue& queue) override {
    launch_transpose(in, out, stream_here(queue));
  }

private:
  cudaStream_t stream_here(const Queue& queue) const {
    use_device(device_);
    return stream_of(queue);
  }

  int device_;
};

}  // namespace

std::unique_ptr<BandKernels> make_band_kernels(int device) { return std::make_unique<CudaBandKernels>(device); }

}  // namespace lepus::cuda
