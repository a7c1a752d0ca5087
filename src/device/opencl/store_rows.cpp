// SPDX-License-Identifier: Apache-2.0
// The row filter and the store of views together: a wedge of recorded rows on the device becomes texels.
#include <limits>
#include <vector>

#include "device/opencl/projector.h"
#include "device/opencl/row_filter.h"
#include <lepus/error.h>

namespace lepus::opencl {
namespace {

class OpenclRowFilter final : public lepus::RowFilter {
public:
  OpenclRowFilter(Device& device, Context& context, const lepus::RowFilterSetup& setup)
      : device_(device), setup_(setup) {
    if (setup.weights) make_filter(context);
  }

  void filter(std::span<const RowBlock> blocks, ViewStore& store, Queue& queue) override {
    const RowRequest& first = blocks.front().request;
    const auto views = static_cast<std::int64_t>(blocks.size());
    const std::int64_t rows = first.rows.size(), view_pixels = rows * setup_.recorded_columns;
    const std::int64_t view_bytes = view_pixels * bytes_per_pixel(setup_.type);
    for (std::int64_t i = 0; i < views; ++i) {
      const RowBlock& block = blocks[static_cast<std::size_t>(i)];
      if (block.request.rows != first.rows || block.request.position != first.position + i ||
          block.pixels != blocks.front().pixels + i * view_bytes)
        throw Error(ErrorKind::internal, {.what = "rows of views that do not follow one another",
                                          .where = device_.info().name,
                                          .why = {},
                                          .hint = {}});
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
    filter_->filter(batch, queue);
    store.put(batch.out, rows * wide, first.slot, views, first.rows, queue);
  }

  void report_bad_pixels() override {
    if (!filter_ || !setup_.audit) return;
    const std::vector<std::int64_t>& order = *setup_.view_order;
    std::vector<BadPixels> bad(order.size());
    filter_->bad_pixels(0, bad, *device_.make_queue());
    for (std::size_t i = 0; i < order.size(); ++i)
      setup_.audit->record_bad(order[i], bad[i].not_finite, bad[i].saturated);
  }

private:
  void make_filter(Context& context) {
    const RayWeights& rays = setup_.weights->rays();
    std::vector<ViewWeight> in_order;  // positions are counted along the order of summation
    for (const std::int64_t view : *setup_.view_order) in_order.push_back(rays.views[static_cast<std::size_t>(view)]);
    const std::int64_t wide = setup_.wide->columns;
    const RampTransfer ramp = ramp_transfer(
        wide, setup_.ramp, opencl::RowFilter::transform_length(shortest_ramp_transform(wide, setup_.ramp)));
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
    filter_ = std::make_unique<opencl::RowFilter>(device_, context, setup, *device_.make_queue());
  }

  Device& device_;
  lepus::RowFilterSetup setup_;
  std::unique_ptr<opencl::RowFilter> filter_;
};

}  // namespace

std::unique_ptr<lepus::RowFilter> make_row_filter(Device& device, Context& context,
                                                  const lepus::RowFilterSetup& setup) {
  return std::make_unique<OpenclRowFilter>(device, context, setup);
}

}  // namespace lepus::opencl
