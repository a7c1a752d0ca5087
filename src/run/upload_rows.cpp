// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "core/memory.h"
#include "device/host/row_filter.h"
#include "run/corrected_frames.h"
#include "run/row_loader.h"

namespace lepus {
namespace {

// Resampled rows are line integrals by the time they are filtered, whoever made them.
RowFilterSetup without_resampling(RowFilterSetup setup) {
  setup.recorded_columns = setup.columns;
  setup.type = PixelType::f32;
  setup.normalisation = nullptr;
  setup.dead_pixels = nullptr;
  setup.audit = nullptr;
  return setup;
}

class UploadRows final : public RowLoader {
public:
  UploadRows(const RowLoaderSetup& setup, UploadBuffers& buffers)
      : setup_(setup),
        device_(*setup.device),
        source_(*setup.frames->source),
        filtered_(filter_setup(setup)),
        buffers_(buffers) {
    if (setup.job->resampler) {
      on_host_.emplace(filtered_);
      filtered_ = without_resampling(filtered_);
    }
    if (!source_.in_memory(0, 0)) filtered_.audit = nullptr;  // they were looked at when they were read
    filter_ = device_.make_row_filter(filtered_);
    const void* lie_at = on_host_ ? nullptr : source_.in_memory(0, 0);
    as_they_lie_ = lie_at && device_.copies_fast(lie_at);
  }

  void load(const std::vector<RowRequest>& requests, ViewStore& store, Queue& work, WorkTimes& filtering,
            Context& context, bool threads_are_free) override {
    Upload& upload = buffers_.uploads[static_cast<std::size_t>(loads_++ % 2)];
    send(requests, upload, context, threads_are_free);
    work.after(*upload.arrived);
    filtering.around(work, [&] {
      const std::int64_t view_bytes = requests.front().rows.size() * row_bytes();
      std::vector<RowBlock> blocks;
      blocks.reserve(requests.size());
      for (const RowRequest& request : requests)
        blocks.push_back({request, upload.pixels.get() + static_cast<std::int64_t>(blocks.size()) * view_bytes});
      filter_->filter(blocks, store, work);
      upload.used->mark(work);
    });
  }

  void report_bad_pixels() override { filter_->report_bad_pixels(); }

private:
  using Upload = UploadBuffers::Upload;

  std::int64_t row_bytes() const { return filtered_.recorded_columns * bytes_per_pixel(filtered_.type); }

  // Rows that corrections left on this card, with those that the requested ones are made from.
  const SinogramBand* corrected_here(const std::vector<RowRequest>& requests) const {
    if (!setup_.frames->corrected) return nullptr;
    RowBand needed;
    for (const RowRequest& request : requests) needed = joined_rows(needed, request.recorded);
    return setup_.frames->corrected->on_device(needed, device_.info());
  }

  void send(const std::vector<RowRequest>& requests, Upload& upload, Context& context, bool threads_are_free) {
    if (const SinogramBand* there = corrected_here(requests)) {
      buffers_.up->after(*upload.used);
      filter_->take(*there, requests, upload.pixels.get(), *buffers_.up);
      upload.arrived->mark(*buffers_.up);
      return;
    }
    const std::int64_t view_bytes = requests.front().rows.size() * row_bytes();
    if (!as_they_lie_) {
      if (!upload.staged) upload.staged = device_.allocate(buffers_.bytes, Place::host);
      upload.arrived->wait();  // what this buffer held is on the device
    }
    buffers_.up->after(*upload.used);  // and what it was sent into has been filtered
    std::vector<const void*> views(requests.size());
    const auto read = [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i)
        views[static_cast<std::size_t>(i)] =
            stage(requests[static_cast<std::size_t>(i)], upload.staged.get() + i * view_bytes);
    };
    const auto count = static_cast<std::int64_t>(requests.size());
    if (!as_they_lie_ && threads_are_free)
      context.threads.parallel_for(0, count, 1, read);
    else
      read(0, count, 0);
    device_.copy_views(views, view_bytes, upload.pixels.get(), setup_.projector->view_block(), *buffers_.up);
    upload.arrived->mark(*buffers_.up);
  }

  // Where the rows of one view lie in host memory: where they are already, or read into `staged`.
  const void* stage(const RowRequest& request, std::byte* staged) {
    const RowBand rows = request.rows;
    if (as_they_lie_) return source_.in_memory(request.view, rows.first);
    if (on_host_) {
      make_line_integrals(request, reinterpret_cast<float*>(staged));
    } else {
      source_.read_native(request.view, rows.first, rows.last, staged);
      if (setup_.frames->audit && !source_.in_memory(request.view, rows.first)) record(request, staged);
    }
    return staged;
  }

  // Of the rows that were read, those that the volume needs: they are the same whatever the plan.
  void record(const RowRequest& request, const std::byte* pixels) const {
    const RowBand needed = setup_.bands->band(request.view, {0, setup_.job->grid.nz});
    const RowBand both = common_rows(request.rows, needed);
    if (both.size() == 0) return;
    setup_.frames->audit->record_native(request.view, both.first, both.last,
                                        pixels + (both.first - request.rows.first) * row_bytes());
  }

  // Where rows are resampled and do not lie on the device, the host makes them.
  void make_line_integrals(const RowRequest& request, float* out) const {
    const std::int64_t columns = setup_.job->columns;
    Buffer<float> scratch(on_host_->scratch_floats());
    for (std::int64_t row = request.rows.first; row < request.rows.last; row += host::rows_at_once) {
      RowRequest part = request;
      part.rows = {row, std::min(row + host::rows_at_once, request.rows.last)};
      part.recorded = setup_.job->resampler->recorded_rows(request.view, part.rows);
      Buffer<std::byte> pixels(part.recorded.size() * source_.columns() * bytes_per_pixel(source_.pixel_type()));
      source_.read_native(request.view, part.recorded.first, part.recorded.last, pixels.data());
      const float* lines = on_host_->line_integrals({part, pixels.data()}, scratch.data());
      std::copy_n(lines, part.rows.size() * columns, out + (row - request.rows.first) * columns);
    }
  }

  RowLoaderSetup setup_;
  Device& device_;
  const FrameSource& source_;
  RowFilterSetup filtered_;                   // as the device filters
  std::optional<host::BlockFilter> on_host_;  // makes line integrals where rows are resampled
  std::unique_ptr<RowFilter> filter_;
  UploadBuffers& buffers_;
  bool as_they_lie_ = false;  // frames go up from where they are in memory
  std::int64_t loads_ = 0;
};

}  // namespace

UploadBuffers::UploadBuffers(Device& device, std::int64_t bytes_each) : bytes(bytes_each), up(device.make_queue()) {
  for (Upload& upload : uploads) {
    upload.pixels = device.allocate(bytes);
    upload.arrived = device.make_event();
    upload.used = device.make_event();
  }
}

std::unique_ptr<RowLoader> upload_rows(const RowLoaderSetup& setup, UploadBuffers& buffers) {
  return std::make_unique<UploadRows>(setup, buffers);
}

}  // namespace lepus
