// SPDX-License-Identifier: Apache-2.0
// The filtered views on a card and their way there: frames are sent up in wedges, two at a time on their way, filtered,
// and held as texels. Workers on one card share them where all views stay there; where views pass by for each slab
// (streamed views), each worker has its own. Corrected frames that stay come by bands: what a slab needs of all views
// and no slab before did, so that bands are corrected while slabs are summed.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "device/cuda/backproject.h"
#include "device/cuda/device_memory.h"
#include "device/cuda/row_filter.h"
#include "run/device_spans.h"
#include "run/device_sweep.h"

namespace lepus {

// The largest line integral that counts can give: one count where the flat is brightest.
float largest_line_integral(const Normalisation& normalisation);

class DeviceViews {
public:
  struct Wedge {
    std::int64_t first, views;
    RowBand rows;     // to be filtered and held
    RowBand counted;  // among them, those that no earlier slab has had
  };

  DeviceViews(const DeviceJob& job, const DevicePlan& plan, const cuda::Backprojection& backprojection, int device);

  // What the frames need on the device; nothing is held afterwards. Before any worker runs: taking memory makes the
  // whole card wait.
  void prepare(const DeviceSweep::Frames& frames, float largest_value);

  std::int64_t wedges() const;
  Wedge wedge(SlabRange slab, std::int64_t index) const;
  // Work given to the stream from now on finds the wedge's views held.
  // threads_are_free: frames may be read with the context's threads.
  void load(std::int64_t index, const Wedge& wedge, const cuda::Stream& work, DeviceSpans& filtering, Context& context,
            bool threads_are_free);
  bool by_bands() const { return plan_.resident && frames_->corrected; }
  // The same for what a slab needs of all views, where they come by bands.
  void load_band(SlabRange slab, const cuda::Stream& work, DeviceSpans& filtering, Context& context,
                 bool threads_are_free);
  cuda::ViewTextures& store() { return *store_; }

  void report_bad_pixels();  // to the audit, when all is done

private:
  struct Upload {  // one of two buffers on the way up
    cuda::PinnedBuffer<unsigned char> staged;
    cuda::DeviceBuffer<unsigned char> pixels;
    cuda::Event arrived, used;
  };

  void make_row_filter();
  std::int64_t views() const { return static_cast<std::int64_t>(backprojection_.view_order().size()); }
  RowBand rows_of_all_views(SlabRange slab) const;
  void bring(const Wedge& wedge, const cuda::Stream& work, DeviceSpans& filtering, Context& context,
             bool threads_are_free);
  void filter(const Wedge& wedge, const Upload& upload, const cuda::Stream& work);
  const SinogramBand* corrected_here(const Wedge& wedge) const;
  void send_up(const Wedge& wedge, Upload& upload, Context& context, bool threads_are_free);
  const void* stage(const Wedge& wedge, std::int64_t slot, Upload& upload);
  void record(std::int64_t view, RowBand rows, const unsigned char* pixels) const;
  void prepare_on_host(const Wedge& wedge, std::int64_t slot, unsigned char* out);

  const DeviceJob& job_;
  const DevicePlan& plan_;
  const cuda::Backprojection& backprojection_;
  int device_;
  const DeviceSweep::Frames* frames_ = nullptr;
  bool as_they_lie_ = false;  // frames go up from where they are in memory, which is page-locked

  std::mutex mutex_;
  cuda::Stream up_;
  std::vector<Upload> uploads_;
  cuda::DeviceBuffer<float> filtered_;
  cuda::Event filtered_used_;
  std::unique_ptr<cuda::ViewTextures> store_;
  std::unique_ptr<cuda::RowFilter> filter_;
  // Where corrected rows lie on the card: the views' order, and how rows are made from them.
  cuda::DeviceBuffer<std::int64_t> order_;
  struct {
    RowMap map;
    std::vector<cuda::DeviceBuffer<double>> tables;
  } map_;
  std::vector<std::optional<cuda::Event>> held_;  // per wedge, where all views stay
  RowBand held_rows_;                             // of all views, where they come by bands
  cuda::Event rows_held_;
  std::int64_t loads_ = 0;
};

}  // namespace lepus
