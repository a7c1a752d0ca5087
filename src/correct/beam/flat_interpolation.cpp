// SPDX-License-Identifier: Apache-2.0
// Grey levels that were made with the mean of all flats, as if made with the flat of each view: g (F - D) / (F_v - D),
// F_v interpolated between the flats taken next to the view. Where no flat is above its dark, nothing changes.
#include <cmath>
#include <utility>
#include <vector>

#include "core/format.h"
#include "correct/beam/beam.h"
#if LEPUS_HAVE_CUDA
#include "device/cuda/cuda_check.h"
#include "correct/beam/beam_launch.h"
#include "correct/workspace.h"
#endif

namespace lepus {
namespace {

class FlatInterpolation final : public Correction {
public:
  FlatInterpolation(FlatSeries series, Buffer<float> mean) : series_(std::move(series)), mean_(std::move(mean)) {}

  bool needs_all_views() const override { return true; }  // every view has its flat

  void apply(const SinogramBand& band, RowBand wanted, ThreadPool& threads) override {
    const std::int64_t columns = band.columns;
    const Planes sinograms = band.sinograms(wanted);
    threads.parallel_for(0, wanted.size(), 1, [&](std::int64_t begin, std::int64_t end, int) {
      std::vector<float> flat(static_cast<std::size_t>(columns));
      for (std::int64_t i = begin; i < end; ++i) {
        const float* mean = mean_.data() + (wanted.first + i) * columns;
        for (std::int64_t view = 0; view < band.views; ++view) {
          series_.row(view, wanted.first + i, flat.data());
          float* values = sinograms.row(i, view);
          for (std::int64_t u = 0; u < columns; ++u)
            values[u] *= flat_factor(mean[u], flat[static_cast<std::size_t>(u)]);
        }
      }
    });
  }

  void apply_on_device([[maybe_unused]] const SinogramBand& band, [[maybe_unused]] RowBand wanted,
                       [[maybe_unused]] cuda::Workspace& workspace) override {
#if LEPUS_HAVE_CUDA
    hold_on_device();
    cuda::launch_interpolate_flats(band.sinograms(wanted), wanted.first, mean_on_device_.data(),
                                   planes_on_device_.data(), mean_.size(), shares_on_device_.data(),
                                   workspace.stream());
#else
    no_device_here("flats");
#endif
  }

  std::string summary() const override {
    return format("the open beam of each view interpolated between {} flats", series_.count());
  }

private:
#if LEPUS_HAVE_CUDA
  void hold_on_device() {
    if (mean_on_device_.size() > 0) return;
    const auto send = [](void* to, const void* from, std::size_t bytes) {
      cuda::copy_to_device(to, from, bytes, "send flats to the device");
    };
    const std::vector<FlatShare> shares = series_.shares();
    mean_on_device_ = cuda::DeviceBuffer<float>(mean_.size());
    planes_on_device_ = cuda::DeviceBuffer<float>(mean_.size() * series_.count());
    shares_on_device_ = cuda::DeviceBuffer<FlatShare>(static_cast<std::int64_t>(shares.size()));
    send(mean_on_device_.data(), mean_.data(), static_cast<std::size_t>(mean_.bytes()));
    send(shares_on_device_.data(), shares.data(), shares.size() * sizeof(FlatShare));
    for (std::int64_t i = 0; i < series_.count(); ++i)
      send(planes_on_device_.data() + i * mean_.size(), series_.plane(i), static_cast<std::size_t>(mean_.bytes()));
  }

  cuda::DeviceBuffer<float> mean_on_device_, planes_on_device_;
  cuda::DeviceBuffer<FlatShare> shares_on_device_;
#endif
  FlatSeries series_;
  Buffer<float> mean_;
};

}  // namespace

std::unique_ptr<Correction> make_flat_interpolation(FlatSeries series, Buffer<float> mean) {
  return std::make_unique<FlatInterpolation>(std::move(series), std::move(mean));
}

}  // namespace lepus
