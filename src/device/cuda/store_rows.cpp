// SPDX-License-Identifier: Apache-2.0
// The row filter and the store of views together: a wedge of recorded rows on the card becomes texels.
#include <algorithm>
#include <limits>
#include <vector>

#include "device/cuda/band_kernels/stage_kernels.h"
#include "device/cuda/device.h"
#include "device/cuda/devices.h"
#include "device/cuda/projector.h"
#include "device/cuda/row_filter.h"
#include <lepus/error.h>

namespace lepus::cuda {
namespace {

class CudaRowFilter final : public lepus::RowFilter {
public:
  CudaRowFilter(int device, const lepus::RowFilterSetup& setup) : device_((use_device(device), device)), setup_(setup) {
    if (setup.weights) make_filter();
  }

  void filter(std::span<const RowBlock> blocks, ViewStore& store, Queue& queue) override {
    use_device(device_);
    const RowRequest& first = blocks.front().request;
    const auto views = static_cast<std::int64_t>(blocks.size());
    const std::int64_t rows = first.rows.size(), view_pixels = rows * setup_.recorded_columns;
    const std::int64_t view_bytes = view_pixels * bytes_per_pixel(setup_.type);
    for (std::int64_t i = 0; i < views; ++i) {
      const RowBlock& block = blocks[static_cast<std::size_t>(i)];
      if (block.request.rows != first.rows || block.request.position != first.position + i ||
          block.pixels != blocks.front().pixels + i * view_bytes)
        throw Error(ErrorKind::internal,
                    {.what = "rows of views that do not follow one another", .where = "CUDA", .why = {}, .hint = {}});
    }
    if (!filter_)
      return store.put(reinterpret_cast<const float*>(blocks.front().pixels), view_pixels, first.slot, views,
                       first.rows, queue);
    const std::int64_t wide = setup_.wide->columns;
    const ScratchScope scope(queue);
    RowBatch batch;
    batch.first_view = first.position;
    batch.views = views;
    batch.row0 = first.rows.first;
    batch.row1 = first.rows.last;
    batch.pixels = blocks.front().pixels;
    batch.view_pixels = view_pixels;
    batch.out = queue.scratch<float>(views * rows * wide);
    batch.out_row = wide;
    batch.out_view = rows * wide;
    if (setup_.audit) {
      batch.counted_row0 = first.counted.first;
      batch.counted_row1 = first.counted.last;
    }
    filter_->filter(stream_of(queue), batch);
    store.put(batch.out, rows * wide, first.slot, views, first.rows, queue);
  }

  void take(const SinogramBand& corrected, std::span<const RowRequest> requests, std::byte* pixels,
            Queue& queue) override {
    use_device(device_);
    if (order_.size() == 0) send_tables();
    auto* lines = reinterpret_cast<float*>(pixels);
    const RowRequest& first = requests.front();
    const auto views = static_cast<std::int64_t>(requests.size());
    const std::int64_t* order = order_.data() + first.position;
    if (setup_.resampler)
      launch_map_views(corrected, map_, first.rows, setup_.columns, order, views, lines, stream_of(queue));
    else
      launch_take_views(corrected, first.rows, order, views, lines, stream_of(queue));
  }

  void report_bad_pixels() override {
    if (!filter_ || !setup_.audit) return;
    use_device(device_);
    const std::vector<std::int64_t>& order = *setup_.view_order;
    std::vector<BadPixels> bad(order.size());
    const Stream stream;
    filter_->bad_pixels(stream.get(), 0, bad);
    for (std::size_t i = 0; i < order.size(); ++i)
      setup_.audit->record_bad(order[i], bad[i].not_finite, bad[i].saturated);
  }

private:
  void send_tables() {
    order_ = on_device(setup_.view_order->data(), static_cast<std::int64_t>(setup_.view_order->size()),
                       "send the order of views to the device");
    if (!setup_.resampler) return;
    map_ = setup_.resampler->map();
    const auto upload = [&](const double*& table, std::int64_t size) {
      if (!table) return;
      tables_.push_back(on_device(table, size, "send tables to the device"));
      table = tables_.back().data();
    };
    upload(map_.stretch, setup_.resampler->columns());
    upload(map_.column_at, setup_.resampler->columns());
    upload(map_.slope, setup_.resampler->views());
  }

  void make_filter() {
    const RayWeights& rays = setup_.weights->rays();
    std::vector<ViewWeight> in_order;  // positions are counted along the order of summation
    for (const std::int64_t view : *setup_.view_order) in_order.push_back(rays.views[static_cast<std::size_t>(view)]);
    const std::int64_t wide = setup_.wide->columns;
    const RampTransfer ramp =
        ramp_transfer(wide, setup_.ramp, cuda::RowFilter::transform_length(shortest_ramp_transform(wide, setup_.ramp)));
    RowNormalisation normalisation;
    if (const Normalisation* n = setup_.normalisation) {
      normalisation = {.dark = n->dark.size() > 0 ? n->dark.data() : nullptr,
                       .log_i0 = n->log_i0.size() > 0 ? n->log_i0.data() : nullptr,
                       .log_i0_everywhere = n->log_i0_everywhere,
                       .clip = n->clip,
                       .dead = {}};
      if (setup_.dead_pixels) normalisation.dead = *setup_.dead_pixels;
    }
    RowFilterSetup setup;
    setup.columns = setup_.columns;
    setup.rows = setup_.wide->rows;
    setup.columns_before = setup_.columns_before;
    setup.wide = wide;
    setup.type = setup_.type;
    setup.normalisation = setup_.normalisation ? &normalisation : nullptr;
    setup.shape = rays.shape;
    setup.views = in_order;
    setup.partners = rays.partners;
    setup.response = ramp.response;
    setup.edge = ramp.edge;
    setup.saturation_level = setup_.audit ? setup_.audit->saturation_level() : std::numeric_limits<double>::infinity();
    filter_ = std::make_unique<cuda::RowFilter>(setup);
  }

  int device_;
  lepus::RowFilterSetup setup_;
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
