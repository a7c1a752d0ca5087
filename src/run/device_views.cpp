// SPDX-License-Identifier: Apache-2.0
#include "run/device_views.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "device/cuda/copy_views.h"
#include "device/cuda/cuda_check.h"
#include "device/cuda/devices.h"
#include "correct/stage_kernels.h"
#include "run/sizes.h"

namespace lepus {

float largest_line_integral(const Normalisation& normalisation) {
  float brightest = normalisation.log_i0_everywhere;
  for (std::int64_t i = 0; i < normalisation.log_i0.size(); ++i)
    brightest = std::max(brightest, normalisation.log_i0[i]);
  return std::max(1.0F, brightest - std::log(normalisation.clip));
}

DeviceViews::DeviceViews(const DeviceJob& job, const DevicePlan& plan, const cuda::Backprojection& backprojection,
                         int device)
    : job_(job), plan_(plan), backprojection_(backprojection), device_((cuda::use_device(device), device)) {
  const std::int64_t row_bytes = job.sent_columns * job.sent_pixel_bytes;
  for (int i = 0; i < 2; ++i) {
    uploads_.emplace_back();
    uploads_.back().pixels = cuda::DeviceBuffer<unsigned char>(plan.wedge_views * plan.held_rows * row_bytes);
  }
  filtered_ = cuda::DeviceBuffer<float>(plan.wedge_views * plan.held_rows * job.wide->columns);
  store_ = std::make_unique<cuda::ViewTextures>(backprojection.store_shape(plan.held_views, plan.held_rows));
}

std::int64_t DeviceViews::wedges() const { return (views() + plan_.wedge_views - 1) / plan_.wedge_views; }

void DeviceViews::make_row_filter() {
  const RayWeights& rays = job_.weights->rays();
  std::vector<ViewWeight> in_order;  // slots are counted along view_order()
  for (const std::int64_t view : backprojection_.view_order())
    in_order.push_back(rays.views[static_cast<std::size_t>(view)]);
  const RampTransfer ramp =
      ramp_transfer(job_.wide->columns, job_.filter,
                    cuda::RowFilter::transform_length(shortest_ramp_transform(job_.wide->columns, job_.filter)));
  cuda::RowNormalisation normalisation;
  const bool on_device = frames_->normalisation && !frames_->prepare;
  if (on_device) {
    const Normalisation& n = *frames_->normalisation;
    normalisation = {n.dark.size() > 0 ? n.dark.data() : nullptr, n.log_i0.size() > 0 ? n.log_i0.data() : nullptr,
                     n.log_i0_everywhere, n.clip, frames_->dead_pixels};
  }
  cuda::RowFilterSetup setup;
  setup.columns = job_.columns;
  setup.rows = job_.wide->rows;
  setup.columns_before = job_.columns_before;
  setup.wide = job_.wide->columns;
  setup.type = frames_->prepare ? PixelType::f32 : frames_->source->pixel_type();
  setup.normalisation = on_device ? &normalisation : nullptr;
  setup.shape = rays.shape;
  setup.views = in_order;
  setup.partners = rays.partners;
  setup.response = ramp.response;
  setup.edge = ramp.edge;
  setup.saturation_level = frames_->prepare ? std::numeric_limits<double>::infinity() : frames_->saturation_level;
  filter_ = std::make_unique<cuda::RowFilter>(setup);
}

RowBand DeviceViews::rows_of_all_views(SlabRange slab) const {
  return rows_for(*job_.bands, backprojection_.view_order(), 0, views(), slab, job_.wide->rows);
}

DeviceViews::Wedge DeviceViews::wedge(SlabRange slab, std::int64_t index) const {
  const auto& order = backprojection_.view_order();
  Wedge w;
  w.first = index * plan_.wedge_views;
  w.views = std::min(plan_.wedge_views, views() - w.first);
  const auto rows = [&](SlabRange range) {
    return rows_for(*job_.bands, order, w.first, w.first + w.views, range, job_.wide->rows);
  };
  if (plan_.resident) {  // every wedge holds the same rows, so that all can be summed at once
    w.rows = w.counted = rows_of_all_views({0, job_.grid.nz});
    return w;
  }
  w.rows = w.counted = rows(slab);
  if (slab.z0 > 0) {
    const RowBand before = rows({0, slab.z0});
    if (before.first <= w.rows.first)
      w.counted.first = std::clamp(before.last, w.rows.first, w.rows.last);
    else
      w.counted.last = std::clamp(before.first, w.rows.first, w.rows.last);
  }
  return w;
}

void DeviceViews::prepare_on_host(const Wedge& wedge, std::int64_t slot, unsigned char* out) {
  const std::int64_t view = backprojection_.view_order()[static_cast<std::size_t>(wedge.first + slot)];
  Buffer<float> scratch(frames_->prepare->scratch_floats());
  for (std::int64_t row = wedge.rows.first; row < wedge.rows.last; row += RowFilter::rows_at_once) {
    const RowBand rows{row, std::min(row + RowFilter::rows_at_once, wedge.rows.last)};
    RowBlock block{{view, slot, rows, frames_->prepare->recorded_rows(view, rows)}, {}};
    const RowBand recorded = block.request.recorded;
    block.pixels = Buffer<unsigned char>(recorded.size() * frames_->source->columns() *
                                         bytes_per_pixel(frames_->source->pixel_type()));
    frames_->source->read_native(view, recorded.first, recorded.last, block.pixels.data());
    const float* lines = frames_->prepare->line_integrals(block, scratch.data());
    std::copy(lines, lines + rows.size() * job_.columns,
              reinterpret_cast<float*>(out) + (row - wedge.rows.first) * job_.columns);
  }
}

// Of the rows that were read, those that the volume needs: they are the same whatever the plan.
void DeviceViews::record(std::int64_t view, RowBand rows, const unsigned char* pixels) const {
  const RowBand needed = job_.bands->band(view, {0, job_.grid.nz});
  const RowBand both{std::max(rows.first, needed.first), std::min(rows.last, needed.last)};
  if (both.last <= both.first) return;
  const std::int64_t skipped = (both.first - rows.first) * job_.sent_columns * job_.sent_pixel_bytes;
  frames_->audit->record_bytes(view, both.first, both.last, pixels + skipped);
}

// Where the rows of one view lie in host memory: where they are already, or read into a page-locked buffer.
const void* DeviceViews::stage(const Wedge& wedge, std::int64_t slot, Upload& upload) {
  const std::int64_t view = backprojection_.view_order()[static_cast<std::size_t>(wedge.first + slot)];
  const std::int64_t view_bytes = wedge.rows.size() * job_.sent_columns * job_.sent_pixel_bytes;
  const void* there = frames_->prepare ? nullptr : frames_->source->in_memory(view, wedge.rows.first);
  if (as_they_lie_) return there;
  unsigned char* staged = upload.staged.data() + slot * view_bytes;
  if (frames_->prepare) {
    prepare_on_host(wedge, slot, staged);
  } else {
    frames_->source->read_native(view, wedge.rows.first, wedge.rows.last, staged);
    if (frames_->audit && !there) record(view, wedge.rows, staged);
  }
  return staged;
}

// Rows that corrections left on this card, with those that the wedge's are made from.
const SinogramBand* DeviceViews::corrected_here(const Wedge& wedge) const {
  if (!frames_->corrected) return nullptr;
  RowBand needed = wedge.rows;
  if (const RowResampler* resampler = frames_->resampler)
    for (std::int64_t slot = 0; slot < wedge.views; ++slot) {
      const std::int64_t view = backprojection_.view_order()[static_cast<std::size_t>(wedge.first + slot)];
      const RowBand own = resampler->recorded_rows(view, wedge.rows);
      needed = slot == 0 ? own : RowBand{std::min(needed.first, own.first), std::max(needed.last, own.last)};
    }
  return frames_->corrected->on_device(needed, device_);
}

void DeviceViews::send_up(const Wedge& wedge, Upload& upload, Context& context, bool threads_are_free) {
  if (const SinogramBand* there = corrected_here(wedge)) {
    up_.wait_for(upload.used.get());
    auto* lines = reinterpret_cast<float*>(upload.pixels.data());
    const std::int64_t* views = order_.data() + wedge.first;
    if (frames_->resampler)
      cuda::launch_map_views(*there, map_.map, wedge.rows, job_.sent_columns, views, wedge.views, lines, up_.get());
    else
      cuda::launch_take_views(*there, wedge.rows, views, wedge.views, lines, up_.get());
    upload.arrived.record(up_.get());
    return;
  }
  const std::int64_t view_bytes = wedge.rows.size() * job_.sent_columns * job_.sent_pixel_bytes;
  const bool staged = !as_they_lie_;
  if (staged && upload.staged.size() == 0) upload.staged = cuda::PinnedBuffer<unsigned char>(upload.pixels.size());
  if (staged) upload.arrived.synchronize();  // what this buffer held is on the device
  up_.wait_for(upload.used.get());           // and what it was sent into has been filtered
  std::vector<const void*> rows(static_cast<std::size_t>(wedge.views));
  const auto read = [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t slot = begin; slot < end; ++slot)
      rows[static_cast<std::size_t>(slot)] = stage(wedge, slot, upload);
  };
  if (staged && threads_are_free)
    context.threads.parallel_for(0, wedge.views, 1, read);
  else
    read(0, wedge.views, 0);
  cuda::copy_views(rows, view_bytes, upload.pixels.data(), backprojection_.view_block(), up_.get());
  upload.arrived.record(up_.get());
}

void DeviceViews::load(std::int64_t index, const Wedge& wedge, const cuda::Stream& work, DeviceSpans& filtering,
                       Context& context, bool threads_are_free) {
  if (!plan_.resident) return bring(wedge, work, filtering, context, threads_are_free);
  // All views stay; the first worker that comes to a wedge brings it for the others on the card too.
  const std::lock_guard lock(mutex_);
  auto& there = held_[static_cast<std::size_t>(index)];
  if (there) return work.wait_for(there->get());
  bring(wedge, work, filtering, context, threads_are_free);
  there.emplace();
  there->record(work.get());
}

void DeviceViews::load_band(SlabRange slab, const cuda::Stream& work, DeviceSpans& filtering, Context& context,
                            bool threads_are_free) {
  const RowBand needed = rows_of_all_views(slab);
  const std::lock_guard lock(mutex_);
  const auto bring_rows = [&](RowBand rows) {
    if (rows.size() <= 0) return;
    // As many views at a time as the buffers for wedges take.
    const std::int64_t block = backprojection_.view_block();
    const std::int64_t at_once = plan_.wedge_views * plan_.held_rows / rows.size() / block * block;
    for (std::int64_t first = 0; first < views(); first += at_once) {
      context.cancel.check();
      bring({first, std::min(at_once, views() - first), rows, rows}, work, filtering, context, threads_are_free);
    }
  };
  work.wait_for(rows_held_.get());  // what another worker brought
  if (needed.size() == 0 || (held_rows_.first <= needed.first && needed.last <= held_rows_.last)) return;
  if (held_rows_.size() == 0) held_rows_ = {needed.first, needed.first};
  bring_rows({needed.first, held_rows_.first});
  bring_rows({held_rows_.last, needed.last});
  held_rows_ = {std::min(needed.first, held_rows_.first), std::max(needed.last, held_rows_.last)};
  rows_held_.record(work.get());
}

void DeviceViews::bring(const Wedge& wedge, const cuda::Stream& work, DeviceSpans& filtering, Context& context,
                        bool threads_are_free) {
  const std::int64_t first_slot = plan_.resident ? wedge.first : 0;
  if (!by_bands())
    for (std::int64_t slot = 0; slot < wedge.views; ++slot) store_->set_first_row(first_slot + slot, wedge.rows.first);
  if (wedge.rows.size() == 0) return;
  Upload& upload = uploads_[static_cast<std::size_t>(loads_++ % 2)];
  send_up(wedge, upload, context, threads_are_free);
  work.wait_for(upload.arrived.get());
  work.wait_for(filtered_used_.get());  // by another worker's stream, perhaps
  const std::int64_t wide = job_.wide->columns, rows = wedge.rows.size();
  filtering.around(work.get(), [&] {
    if (filter_) filter(wedge, upload, work);
    const float* data = filter_ ? filtered_.data() : reinterpret_cast<const float*>(upload.pixels.data());
    store_->store({.data = data, .row_stride = wide, .view_stride = rows * wide, .factor = 1.0F}, first_slot,
                  wedge.views, wedge.rows.first, rows, work.get());
    (filter_ ? filtered_used_ : upload.used).record(work.get());
  });
}

void DeviceViews::filter(const Wedge& wedge, const Upload& upload, const cuda::Stream& work) {
  const std::int64_t wide = job_.wide->columns, rows = wedge.rows.size();
  cuda::RowBatch batch;
  batch.first_view = wedge.first;
  batch.views = wedge.views;
  batch.row0 = wedge.rows.first;
  batch.row1 = wedge.rows.last;
  batch.pixels = upload.pixels.data();
  batch.view_pixels = rows * job_.sent_columns;
  batch.out = filtered_.data();
  batch.out_row = wide;
  batch.out_view = rows * wide;
  if (!frames_->prepare) {
    batch.counted_row0 = wedge.counted.first;
    batch.counted_row1 = wedge.counted.last;
  }
  filter_->filter(work.get(), batch);
  upload.used.record(work.get());
}

void DeviceViews::report_bad_pixels() {
  cuda::use_device(device_);
  if (!filter_ || frames_->prepare || !frames_->audit) return;
  const auto& order = backprojection_.view_order();
  std::vector<cuda::BadPixels> bad(order.size());
  filter_->bad_pixels(up_.get(), 0, bad);
  for (std::size_t i = 0; i < order.size(); ++i)
    frames_->audit->record_bad(order[i], bad[i].not_finite, bad[i].saturated);
}

void DeviceViews::prepare(const DeviceSweep::Frames& frames, float largest_value) {
  cuda::use_device(device_);
  frames_ = &frames;
  const void* lie_at = frames.prepare ? nullptr : frames.source->in_memory(0, 0);
  as_they_lie_ = lie_at && cuda::is_pinned(lie_at);
  if (!job_.views_are_filtered) make_row_filter();
  if (cuda::is_half(store_->shape().kind)) store_->set_scale(cuda::scale_for_half(largest_value));
  held_ = std::vector<std::optional<cuda::Event>>(static_cast<std::size_t>(wedges()));
  held_rows_ = {};
  if (by_bands()) {
    const std::int64_t first_row = rows_of_all_views({0, job_.grid.nz}).first;
    for (std::int64_t slot = 0; slot < plan_.held_views; ++slot) store_->set_first_row(slot, first_row);
  }
  if (!frames.corrected) return;
  order_ =
      cuda::on_device(backprojection_.view_order().data(), job_.wide->views(), "send the order of views to the device");
  if (!frames.resampler) return;
  map_.map = frames.resampler->map();
  const auto upload = [&](const double*& table, std::int64_t size) {
    if (!table) return;
    map_.tables.push_back(cuda::on_device(table, size, "send tables to the device"));
    table = map_.tables.back().data();
  };
  map_.tables.clear();
  upload(map_.map.stretch, frames.resampler->columns());
  upload(map_.map.column_at, frames.resampler->columns());
  upload(map_.map.slope, frames.resampler->views());
}

}  // namespace lepus
