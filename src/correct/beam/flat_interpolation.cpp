// SPDX-License-Identifier: Apache-2.0
// Grey levels that were made with the mean of all flats, as if made with the flat of each view: g (F - D) / (F_v - D),
// F_v interpolated between the flats taken next to the view. Where no flat is above its dark, nothing changes.
#include <utility>
#include <vector>

#include "core/format.h"
#include "correct/beam/beam.h"
#include "device/device_table.h"

namespace lepus {
namespace {

class FlatInterpolation final : public Correction {
public:
  FlatInterpolation(FlatSeries series, Buffer<float> mean)
      : series_(std::move(series)),
        mean_(std::move(mean)),
        shares_(series_.shares()),
        mean_table_({mean_.data(), static_cast<std::size_t>(mean_.size())}),
        flats_table_({series_.plane(0), static_cast<std::size_t>(mean_.size() * series_.count())}),
        shares_table_(shares_) {}

  bool needs_all_views() const override { return false; }  // every view has its flat

  BandOperation operation() const override { return BandOperation::flats; }
  void apply(const SinogramBand& band, RowBand wanted, Queue& queue) override {
    const FlatsOfViews flats{mean_table_.on(queue), flats_table_.on(queue), mean_.size(), shares_table_.on(queue)};
    queue.device().band_kernels().interpolate_flats(band.sinograms(wanted), wanted.first, flats, queue);
  }

  std::string summary() const override {
    return format("the open beam of each view interpolated between {} flats", series_.count());
  }

private:
  FlatSeries series_;
  Buffer<float> mean_;
  std::vector<FlatShare> shares_;
  DeviceTable<float> mean_table_, flats_table_;
  DeviceTable<FlatShare> shares_table_;
};

}  // namespace

std::unique_ptr<Correction> make_flat_interpolation(FlatSeries series, Buffer<float> mean) {
  return std::make_unique<FlatInterpolation>(std::move(series), std::move(mean));
}

}  // namespace lepus
