// SPDX-License-Identifier: Apache-2.0
#include "device/host/band_kernels/band_kernels.h"

#include "device/host/band_kernels/bridge.h"
#include "device/host/band_kernels/filter.h"
#include "device/host/band_kernels/hot_pixels.h"
#include "device/host/band_kernels/phase.h"
#include "device/host/band_kernels/rings.h"
#include "device/host/band_kernels/stage.h"
#include "device/host/band_kernels/transpose.h"
#include "device/host/band_kernels/view_loops.h"
#include "device/host/band_kernels/zingers.h"
#include "device/host/device.h"

namespace lepus::host {
namespace {

class HostPhase final : public PhaseKernel {
public:
  explicit HostPhase(const PhasePlan& plan) : transform_(plan) {}
  void apply(const SinogramBand& band, RowBand wanted, Queue& queue) override {
    transform_.apply(band, wanted, threads_of(queue));
  }

private:
  PhaseTransform transform_;
};

class HostBandKernels final : public BandKernels {
public:
  bool has(BandOperation) const override { return true; }

  void to_stage(PixelType type, const void* recorded, const SinogramBand& band, const BandStaging& staging,
                Queue& queue) override {
    host::to_stage(type, recorded, band, staging, threads_of(queue));
  }
  void logarithm(const SinogramBand& band, const BandStaging& staging, float lowest_of_lines, Queue& queue) override {
    host::logarithm(band, staging, lowest_of_lines, threads_of(queue));
  }
  void hot_pixels(const pixels::HotRules& rules, int iterations, const Planes& sinograms, std::int64_t* counts,
                  Queue& queue) override {
    pixels::replace_hot_pixels(rules, iterations, sinograms, counts, threads_of(queue));
  }
  void zingers(const pixels::ZingerRules& rules, const Planes& sinograms, std::int64_t* counts, Queue& queue) override {
    pixels::replace_zingers(rules, sinograms, counts, threads_of(queue));
  }
  void bridge(std::span<const pixels::PixelRun> runs, std::span<const pixels::RowLine> lines, const Planes& sinograms,
              Queue& queue) override {
    pixels::bridge(runs, lines, sinograms, threads_of(queue));
  }
  void remove_rings(const Planes& sinograms, const RingOptions& options, Queue& queue) override {
    lepus::remove_rings(sinograms, options, threads_of(queue));
  }
  void scale_views(const Planes& sinograms, const float* factors, Queue& queue) override {
    lepus::scale_views(sinograms, factors, threads_of(queue));
  }
  void remove_lag(const Planes& sinograms, const LagModel& model, LagStart start, Queue& queue) override {
    lepus::remove_lag(sinograms, model, start, threads_of(queue));
  }
  void linearise(const Planes& sinograms, const HardeningCurve& curve, Queue& queue) override {
    lepus::linearise(sinograms, curve, threads_of(queue));
  }
  void interpolate_flats(const Planes& sinograms, std::int64_t first_row, const FlatsOfViews& flats,
                         Queue& queue) override {
    lepus::interpolate_flats(sinograms, first_row, flats, threads_of(queue));
  }
  std::unique_ptr<PhaseKernel> make_phase(const PhasePlan& plan, std::int64_t) override {
    return std::make_unique<HostPhase>(plan);
  }
  void filter(const Planes& in, const Planes& out, const FilterOptions& options, const FilterCut& cut,
              Queue& queue) override {
    lepus::filter(in, out, options, cut, threads_of(queue));
  }
  void transpose(const Planes& in, const Planes& out, Queue& queue) override {
    host::transpose(in, out, threads_of(queue));
  }
};

}  // namespace

std::unique_ptr<BandKernels> make_band_kernels() { return std::make_unique<HostBandKernels>(); }

}  // namespace lepus::host
