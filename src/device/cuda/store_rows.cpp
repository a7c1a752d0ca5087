// SPDX-License-Identifier: Apache-2.0
// The row filter and the store of views together: a wedge of recorded rows on the card becomes texels.
#include <vector>

#include "device/batched_row_filter.h"
#include "device/cuda/band_kernels/stage_kernels.h"
#include "device/cuda/device.h"
#include "device/cuda/devices.h"
#include "device/cuda/projector.h"
#include "device/cuda/row_filter.h"

namespace lepus::cuda {
namespace {

class CudaRowFilter final : public BatchedRowFilter {
public:
  CudaRowFilter(int device, const lepus::RowFilterSetup& given)
      : BatchedRowFilter(given, "CUDA"), device_((use_device(device), device)) {
    if (given.weights)
      with_tables(cuda::RowFilter::transform_length(shortest_transform()),
                  [&](const RowTables& tables) { filter_ = std::make_unique<cuda::RowFilter>(tables); });
  }

  void take(const SinogramBand& corrected, std::span<const RowRequest> requests, std::byte* pixels,
            Queue& queue) override {
    use_device(device_);
    if (order_.size() == 0) send_tables();
    auto* lines = reinterpret_cast<float*>(pixels);
    const RowRequest& first = requests.front();
    const auto views = static_cast<std::int64_t>(requests.size());
    const std::int64_t* order = order_.data() + first.position;
    if (setup().resampler)
      launch_map_views(corrected, map_, first.rows, setup().columns, order, views, lines, stream_of(queue));
    else
      launch_take_views(corrected, first.rows, order, views, lines, stream_of(queue));
  }

private:
  void filter_batch(const RowBatch& batch, Queue& queue) override {
    use_device(device_);
    filter_->filter(stream_of(queue), batch);
  }
  void bad_pixels(std::span<BadPixels> bad) override {
    use_device(device_);
    const Stream stream;
    filter_->bad_pixels(stream.get(), 0, bad);
  }

  void send_tables() {
    order_ = on_device(setup().view_order->data(), static_cast<std::int64_t>(setup().view_order->size()),
                       "send the order of views to the device");
    if (!setup().resampler) return;
    map_ = setup().resampler->map();
    const auto upload = [&](const double*& table, std::int64_t size) {
      if (!table) return;
      tables_.push_back(on_device(table, size, "send tables to the device"));
      table = tables_.back().data();
    };
    upload(map_.stretch, setup().resampler->columns());
    upload(map_.column_at, setup().resampler->columns());
    upload(map_.slope, setup().resampler->views());
  }

  int device_;
  std::unique_ptr<cuda::RowFilter> filter_;
  // Where corrected rows lie on the card: the views' order, and how rows are made from them.
  DeviceBuffer<std::int64_t> order_;
  RowMap map_;
  std::vector<DeviceBuffer<double>> tables_;
};

}  // namespace

std::unique_ptr<lepus::RowFilter> make_row_filter(int device, const lepus::RowFilterSetup& setup) {
  return std::make_unique<CudaRowFilter>(device, setup);
}

}  // namespace lepus::cuda
