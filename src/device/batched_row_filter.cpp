// SPDX-License-Identifier: Apache-2.0
#include "device/batched_row_filter.h"

#include <limits>

#include "device/projector.h"
#include <lepus/error.h>

namespace lepus {

BatchedRowFilter::Tables::Tables(const RowFilterSetup& setup, std::int64_t transform_length)
    : ramp(ramp_transfer(setup.wide->columns, setup.ramp, transform_length)) {
  const RayWeights& rays = setup.weights->rays();
  in_order.reserve(setup.view_order->size());
  for (const std::int64_t view : *setup.view_order) in_order.push_back(rays.views[static_cast<std::size_t>(view)]);
  if (const Normalisation* n = setup.normalisation) {
    normalisation = {.dark = n->dark.size() > 0 ? n->dark.data() : nullptr,
                     .log_i0 = n->log_i0.size() > 0 ? n->log_i0.data() : nullptr,
                     .log_i0_everywhere = n->log_i0_everywhere,
                     .clip = n->clip,
                     .dead = {}};
    if (setup.dead_pixels) normalisation.dead = *setup.dead_pixels;
    tables.normalisation = &normalisation;
  }
  tables.columns = setup.columns;
  tables.rows = setup.wide->rows;
  tables.columns_before = setup.columns_before;
  tables.wide = setup.wide->columns;
  tables.type = setup.type;
  tables.shape = rays.shape;
  tables.views = in_order;
  tables.partners = rays.partners;
  tables.response = ramp.response;
  tables.edge = ramp.edge;
  tables.saturation_level = setup.audit ? setup.audit->saturation_level() : std::numeric_limits<double>::infinity();
}

void BatchedRowFilter::filter(std::span<const RowBlock> blocks, ViewStore& store, Queue& queue) {
  const RowRequest& first = blocks.front().request;
  const auto views = static_cast<std::int64_t>(blocks.size());
  const std::int64_t rows = first.rows.size(), view_pixels = rows * setup_.recorded_columns;
  const std::int64_t view_bytes = view_pixels * bytes_per_pixel(setup_.type);
  for (std::int64_t i = 0; i < views; ++i) {
    const RowBlock& block = blocks[static_cast<std::size_t>(i)];
    if (block.request.rows != first.rows || block.request.position != first.position + i ||
        block.pixels != blocks.front().pixels + i * view_bytes)
      throw Error(ErrorKind::internal,
                  {.what = "rows of views that do not follow one another", .where = where_, .why = {}, .hint = {}});
  }
  if (!setup_.weights)
    return store.put(reinterpret_cast<const float*>(blocks.front().pixels), view_pixels, first.slot, views, first.rows,
                     queue);
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
  filter_batch(batch, queue);
  store.put(batch.out, rows * wide, first.slot, views, first.rows, queue);
}

void BatchedRowFilter::report_bad_pixels() {
  if (!setup_.weights || !setup_.audit) return;
  const std::vector<std::int64_t>& order = *setup_.view_order;
  std::vector<BadPixels> bad(order.size());
  bad_pixels(bad);
  for (std::size_t i = 0; i < order.size(); ++i)
    setup_.audit->record_bad(order[i], bad[i].not_finite, bad[i].saturated);
}

}  // namespace lepus
