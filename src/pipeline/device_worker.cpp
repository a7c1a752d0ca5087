// SPDX-License-Identifier: Apache-2.0
#include "pipeline/device_worker.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/cuda/cuda_check.h"
#include "backend/cuda/devices.h"
#include "backend/cuda/slab_kernels.h"
#include "schedule/sizes.h"

namespace lepus {
namespace {

// Views that lie evenly spaced in host memory, one after the other, or one after the other in each turn of a group of
// symmetric ones, go up in one copy each; thousands of small copies would keep the host busy for longer than the link.
void copy_views(const std::vector<const void*>& views, std::int64_t bytes, unsigned char* to, std::int64_t group,
                cudaStream_t stream) {
  const auto count = static_cast<std::int64_t>(views.size());
  const auto at = [&](std::int64_t i) { return static_cast<const unsigned char*>(views[static_cast<std::size_t>(i)]); };
  const auto evenly = [&](std::int64_t turns) {
    for (std::int64_t i = 2 * turns; i < count; ++i)
      if (at(i) - at(i - turns) != at(i - turns) - at(i - 2 * turns) || at(i) - at(i - turns) < bytes) return false;
    return true;
  };
  const std::int64_t turns = evenly(1) ? 1 : evenly(group) ? group : count;
  for (std::int64_t first = 0; first < std::min(turns, count); ++first) {
    const std::int64_t height = (count - first + turns - 1) / turns;
    const std::int64_t pitch = height > 1 ? at(first + turns) - at(first) : bytes;
    cuda::check(cudaMemcpy2DAsync(to + first * bytes, static_cast<std::size_t>(turns * bytes), at(first),
                                  static_cast<std::size_t>(pitch), static_cast<std::size_t>(bytes),
                                  static_cast<std::size_t>(height), cudaMemcpyHostToDevice, stream),
                "send frames to the device");
  }
}

}  // namespace

void OrderedWriter::write(std::int64_t z0, std::int64_t z1, const float* slices) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopped_ || next_ == z0; });
  if (stopped_)
    throw Error(ErrorKind::cancelled, {.what = "another device stopped", .where = {}, .why = {}, .hint = {}});
  lock.unlock();  // nobody else can be next
  writer_.write(z0, z1, slices);
  lock.lock();
  next_ = z1;
  changed_.notify_all();
}

void OrderedWriter::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

float largest_line_integral(const Normalisation& normalisation) {
  float brightest = normalisation.log_i0_everywhere;
  for (std::int64_t i = 0; i < normalisation.log_i0.size(); ++i)
    brightest = std::max(brightest, normalisation.log_i0[i]);
  return std::max(1.0F, brightest - std::log(normalisation.clip));
}

// Pairs of events around pieces of work, read when all is done.
struct DeviceWorker::Spans {
  struct Span {
    cuda::Event begin{cuda::Event::Timing::on}, end{cuda::Event::Timing::on};
  };
  std::vector<Span> filtering, summing;

  template <class Work>
  static void around(std::vector<Span>& list, cudaStream_t stream, const Work& work) {
    Span span;
    span.begin.record(stream);
    work();
    span.end.record(stream);
    list.push_back(std::move(span));
  }
  static double seconds(const std::vector<Span>& list) {
    double sum = 0;
    for (const Span& span : list) sum += 1e-3 * static_cast<double>(cuda::Event::milliseconds(span.begin, span.end));
    return sum;
  }
};

DeviceWorker::DeviceWorker(const DeviceJob& job, const DevicePlan& plan, const cuda::Backprojection& backprojection,
                           int device)
    : job_(job), plan_(plan), backprojection_(backprojection), device_((cuda::use_device(device), device)) {
  const std::int64_t row_bytes = job.sent_columns * job.sent_pixel_bytes;
  for (int i = 0; i < 2; ++i) {
    uploads_.emplace_back();
    uploads_.back().pixels = cuda::DeviceBuffer<unsigned char>(plan.wedge_views * plan.held_rows * row_bytes);
  }
  for (int i = 0; i < plan.slab_buffers; ++i) {
    slabs_.emplace_back();
    slabs_.back().voxels =
        cuda::DeviceBuffer<float>(job.grid.nx * job.grid.ny * std::min(plan.slab_slices, job.grid.nz));
  }
  filtered_ = cuda::DeviceBuffer<float>(plan.wedge_views * plan.held_rows * job.wide->columns);
  store_ = std::make_unique<cuda::ViewTextures>(backprojection.store_shape(plan.held_views, plan.held_rows));
}

DeviceWorker::~DeviceWorker() {
  for (Slab& slab : slabs_)
    if (slab.coming_down.valid()) slab.coming_down.wait();
}

void DeviceWorker::make_row_filter() {
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

DeviceWorker::Wedge DeviceWorker::wedge(std::int64_t slab, std::int64_t index) const {
  const auto& order = backprojection_.view_order();
  Wedge w;
  w.first = index * plan_.wedge_views;
  w.views = std::min(plan_.wedge_views, static_cast<std::int64_t>(order.size()) - w.first);
  const auto rows = [&](SlabRange range) {
    return rows_for(*job_.bands, order, w.first, w.first + w.views, range, job_.wide->rows);
  };
  if (plan_.resident) {  // every wedge holds the same rows, so that all can be summed at once
    w.rows = w.counted =
        rows_for(*job_.bands, order, 0, static_cast<std::int64_t>(order.size()), {0, job_.grid.nz}, job_.wide->rows);
    return w;
  }
  const SlabRange range = plan_.slabs[static_cast<std::size_t>(slab)];
  w.rows = w.counted = rows(range);
  if (slab > 0) {
    const RowBand before = rows({0, range.z0});
    if (before.first <= w.rows.first)
      w.counted.first = std::clamp(before.last, w.rows.first, w.rows.last);
    else
      w.counted.last = std::clamp(before.first, w.rows.first, w.rows.last);
  }
  return w;
}

void DeviceWorker::prepare_on_host(const Wedge& wedge, std::int64_t slot, unsigned char* out) {
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
void DeviceWorker::record(std::int64_t view, RowBand rows, const unsigned char* pixels) const {
  const RowBand needed = job_.bands->band(view, {0, job_.grid.nz});
  const RowBand both{std::max(rows.first, needed.first), std::min(rows.last, needed.last)};
  if (both.last <= both.first) return;
  const std::int64_t skipped = (both.first - rows.first) * job_.sent_columns * job_.sent_pixel_bytes;
  frames_->audit->record_bytes(view, both.first, both.last, pixels + skipped);
}

// Where the rows of one view lie in host memory: where they are already, or read into a page-locked buffer.
const void* DeviceWorker::stage(const Wedge& wedge, std::int64_t slot, Upload& upload) {
  const std::int64_t view = backprojection_.view_order()[static_cast<std::size_t>(wedge.first + slot)];
  const std::int64_t view_bytes = wedge.rows.size() * job_.sent_columns * job_.sent_pixel_bytes;
  if (!frames_->prepare)
    if (const void* there = frames_->source->in_memory(view, wedge.rows.first)) return there;
  unsigned char* staged = upload.staged.data() + slot * view_bytes;
  if (frames_->prepare) {
    prepare_on_host(wedge, slot, staged);
  } else {
    frames_->source->read_native(view, wedge.rows.first, wedge.rows.last, staged);
    if (frames_->audit) record(view, wedge.rows, staged);
  }
  return staged;
}

void DeviceWorker::send_up(const Wedge& wedge, Upload& upload) {
  const std::int64_t view_bytes = wedge.rows.size() * job_.sent_columns * job_.sent_pixel_bytes;
  const bool staged = frames_->prepare || !frames_->source->in_memory(0, 0);
  if (staged && upload.staged.size() == 0) upload.staged = cuda::PinnedBuffer<unsigned char>(upload.pixels.size());
  if (staged) upload.arrived.synchronize();  // what this buffer held is on the device
  up_.wait_for(upload.used.get());           // and what it was sent into has been filtered
  std::vector<const void*> rows(static_cast<std::size_t>(wedge.views));
  const auto read = [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t slot = begin; slot < end; ++slot)
      rows[static_cast<std::size_t>(slot)] = stage(wedge, slot, upload);
  };
  if (staged && threads_are_free_)
    context_->threads.parallel_for(0, wedge.views, 1, read);
  else
    read(0, wedge.views, 0);
  copy_views(rows, view_bytes, upload.pixels.data(), backprojection_.view_block(), up_.get());
  upload.arrived.record(up_.get());
}

void DeviceWorker::load(const Wedge& wedge) {
  const std::int64_t first_slot = plan_.resident ? wedge.first : 0;
  for (std::int64_t slot = 0; slot < wedge.views; ++slot) store_->set_first_row(first_slot + slot, wedge.rows.first);
  if (wedge.rows.size() == 0) return;
  Upload& upload = uploads_[static_cast<std::size_t>(loads_++ % 2)];
  send_up(wedge, upload);
  work_.wait_for(upload.arrived.get());
  const std::int64_t wide = job_.wide->columns, rows = wedge.rows.size();
  const auto hold = [&](const float* data) {
    store_->store({.data = data, .row_stride = wide, .view_stride = rows * wide, .factor = 1.0F}, first_slot,
                  wedge.views, wedge.rows.first, rows, work_.get());
  };
  Spans::around(spans_->filtering, work_.get(), [&] {
    if (!filter_) {
      hold(reinterpret_cast<const float*>(upload.pixels.data()));
      upload.used.record(work_.get());
      return;
    }
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
    filter_->filter(work_.get(), batch);
    upload.used.record(work_.get());
    hold(filtered_.data());
  });
}

void DeviceWorker::sum(std::int64_t first_slot, std::int64_t first_view, std::int64_t views, std::int64_t slab,
                       const Slab& into) {
  const SlabRange range = plan_.slabs[static_cast<std::size_t>(slab)];
  Spans::around(spans_->summing, work_.get(), [&] {
    backprojection_.accumulate({store_.get(), first_slot, first_view, views}, {into.voxels.data(), range.z0, range.z1},
                               work_.get());
  });
}

void DeviceWorker::bring_down(std::int64_t slab, Slab& from, OrderedWriter& writer) {
  cuda::use_device(device_);
  const SlabRange range = plan_.slabs[static_cast<std::size_t>(slab)];
  const std::int64_t slice = job_.grid.nx * job_.grid.ny;
  from.down.wait_for(from.summed.get());
  const auto copy = [&](float* to, std::int64_t z0, std::int64_t z1) {
    cuda::check(cudaMemcpyAsync(to, from.voxels.data() + (z0 - range.z0) * slice,
                                static_cast<std::size_t>((z1 - z0) * slice * float_bytes), cudaMemcpyDeviceToHost,
                                from.down.get()),
                "bring a slab down from the device");
  };
  if (float* there = writer.in_memory(range.z0)) {
    copy(there, range.z0, range.z1);
    from.down.synchronize();
    return;
  }
  // In pieces: one is written while the next comes down.
  const std::int64_t piece = plan_.landing_slices;
  if (from.landing.empty())
    for (int i = 0; i < 2; ++i) from.landing.emplace_back(piece * slice);
  int turn = 0;
  copy(from.landing[0].data(), range.z0, std::min(range.z1, range.z0 + piece));
  for (std::int64_t z = range.z0; z < range.z1; z += piece, turn ^= 1) {
    from.down.synchronize();
    const std::int64_t next = z + piece;
    if (next < range.z1)
      copy(from.landing[static_cast<std::size_t>(turn ^ 1)].data(), next, std::min(range.z1, next + piece));
    writer.write(z, std::min(range.z1, next), from.landing[static_cast<std::size_t>(turn)].data());
  }
}

void DeviceWorker::report_bad_pixels() {
  if (!filter_ || frames_->prepare || !frames_->audit) return;
  const auto& order = backprojection_.view_order();
  std::vector<cuda::BadPixels> bad(order.size());
  filter_->bad_pixels(work_.get(), 0, bad);
  for (std::size_t i = 0; i < order.size(); ++i)
    frames_->audit->record_bad(order[i], bad[i].not_finite, bad[i].saturated);
}

void DeviceWorker::prepare(const DeviceSweep::Frames& frames, float largest_value) {
  cuda::use_device(device_);
  frames_ = &frames;
  if (!job_.views_are_filtered) make_row_filter();
  if (cuda::is_half(store_->shape().kind)) store_->set_scale(cuda::scale_for_half(largest_value));
}

SweepTimes DeviceWorker::run(SlabTickets& tickets, OrderedWriter& writer, Context& context, bool threads_are_free) {
  cuda::use_device(device_);
  context_ = &context;
  threads_are_free_ = threads_are_free;
  spans_ = std::make_unique<Spans>();

  const auto views = static_cast<std::int64_t>(backprojection_.view_order().size());
  const std::int64_t wedges = (views + plan_.wedge_views - 1) / plan_.wedge_views;
  bool loaded = false;
  std::size_t turn = 0;
  while (const auto slab = tickets.next()) {
    Slab& into = slabs_[turn++ % slabs_.size()];
    if (into.coming_down.valid()) into.coming_down.get();
    const SlabRange range = plan_.slabs[static_cast<std::size_t>(*slab)];
    const std::int64_t voxels = job_.grid.nx * job_.grid.ny * (range.z1 - range.z0);
    cuda::check(cudaMemsetAsync(into.voxels.data(), 0, static_cast<std::size_t>(voxels * float_bytes), work_.get()),
                "clear a slab");
    if (plan_.resident && loaded) {
      context.cancel.check();
      sum(0, 0, views, *slab, into);
      context.progress.advance(views);
    } else {
      for (std::int64_t i = 0; i < wedges; ++i) {
        context.cancel.check();
        const Wedge w = wedge(*slab, i);
        load(w);
        if (w.rows.size() > 0) sum(plan_.resident ? w.first : 0, w.first, w.views, *slab, into);
        context.progress.advance(w.views);
      }
      loaded = true;
    }
    cuda::launch_mask_outside(into.voxels.data(), job_.grid, range.z1 - range.z0, job_.cylinder_mm, work_.get());
    into.summed.record(work_.get());
    into.coming_down =
        std::async(std::launch::async, [this, slab, &into, &writer] { bring_down(*slab, into, writer); });
  }
  for (Slab& slab : slabs_)
    if (slab.coming_down.valid()) slab.coming_down.get();
  work_.synchronize();
  report_bad_pixels();
  SweepTimes times;
  times.filter_s = Spans::seconds(spans_->filtering);
  times.backproject_s = Spans::seconds(spans_->summing);
  return times;
}

}  // namespace lepus
