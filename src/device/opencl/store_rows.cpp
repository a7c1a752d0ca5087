// SPDX-License-Identifier: Apache-2.0
// The row filter and the store of views together: a wedge of recorded rows on the device becomes texels.
#include "device/batched_row_filter.h"
#include "device/opencl/band_kernels.h"
#include "device/opencl/projector.h"
#include "device/opencl/row_filter.h"
#include "project/planes.h"

namespace lepus::opencl {
namespace {

class OpenclRowFilter final : public BatchedRowFilter {
public:
  OpenclRowFilter(Device& device, Context& context, const lepus::RowFilterSetup& given)
      : BatchedRowFilter(given, "OpenCL"), device_(device) {
    if (given.weights)
      with_tables(opencl::RowFilter::transform_length(shortest_transform()), [&](const RowTables& tables) {
        filter_ = std::make_unique<opencl::RowFilter>(device, context, tables, *device.make_queue());
      });
  }

  void take(const SinogramBand& corrected, std::span<const RowRequest> requests, std::byte* pixels,
            Queue& queue) override {
    if (!order_) send_tables(queue);
    auto* const lines = reinterpret_cast<float*>(pixels);
    const RowRequest& first = requests.front();
    const auto views = static_cast<std::int64_t>(requests.size());
    const auto* const order = reinterpret_cast<const std::int64_t*>(order_.get()) + first.position;
    if (setup().resampler)
      map_views(corrected, map_, first.rows, setup().columns, order, views, lines, queue);
    else
      take_views(corrected, first.rows, order, views, lines, queue);
  }

private:
  // The order of views, and how rows are made from those of a band.
  void send_tables(Queue& queue) {
    const auto send = [&](const auto* table, std::int64_t size) {
      const std::int64_t bytes = size * static_cast<std::int64_t>(sizeof *table);
      Block block = device_.allocate(bytes);
      device_.copy(block.get(), table, bytes, queue);
      return block;
    };
    order_ = send(setup().view_order->data(), std::ssize(*setup().view_order));
    if (!setup().resampler) return;
    map_ = setup().resampler->map();
    const auto replace = [&](const double*& table, std::int64_t size) {
      if (!table) return;
      tables_.push_back(send(table, size));
      table = reinterpret_cast<const double*>(tables_.back().get());
    };
    replace(map_.stretch, setup().resampler->columns());
    replace(map_.column_at, setup().resampler->columns());
    replace(map_.slope, setup().resampler->views());
    queue.wait();  // other queues use them, too
  }

  void filter_batch(const RowBatch& batch, Queue& queue) override { filter_->filter(batch, queue); }
  void bad_pixels(std::span<BadPixels> bad) override { filter_->bad_pixels(0, bad, *device_.make_queue()); }

  Device& device_;
  std::unique_ptr<opencl::RowFilter> filter_;
  Block order_;
  RowMap map_;
  std::vector<Block> tables_;
};

}  // namespace

std::unique_ptr<lepus::RowFilter> make_row_filter(Device& device, Context& context,
                                                  const lepus::RowFilterSetup& setup) {
  return std::make_unique<OpenclRowFilter>(device, context, setup);
}

}  // namespace lepus::opencl
