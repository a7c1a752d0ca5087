// SPDX-License-Identifier: Apache-2.0
// Rows on their way from the frames, through the row filter, into a store of views.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "device/projector.h"
#include "device/row_filter.h"
#include "run/sweep.h"
#include "run/work_times.h"

namespace lepus {

// Where rows lie on their way to a device with memory of its own; kept from run to run, because taking memory makes a
// whole card wait.
struct UploadBuffers {
  struct Upload {
    Block staged, pixels;  // staged: taken when frames turn out to be read
    std::unique_ptr<Event> arrived, used;
  };
  UploadBuffers(Device& device, std::int64_t bytes_each);
  std::int64_t bytes;
  std::array<Upload, 2> uploads;
  std::unique_ptr<Queue> up;
};

struct RowLoaderSetup {
  const SweepJob* job = nullptr;
  const Plan* plan = nullptr;
  const BandTable* bands = nullptr;
  const Projector* projector = nullptr;
  Device* device = nullptr;
  const SweepFrames* frames = nullptr;
};

class RowLoader {
public:
  virtual ~RowLoader() = default;
  // Work given to the queue from now on finds the rows in the store. threads_are_free: frames may be read with the
  // context's threads.
  virtual void load(const std::vector<RowRequest>& requests, ViewStore& store, Queue& work, WorkTimes& filtering,
                    Context& context, bool threads_are_free) = 0;
  virtual void report_bad_pixels() = 0;  // to the audit, when all work is done
};

// The batches that will be loaded, in order; none after the last. Asked for when there is memory to read them into.
using Batches = std::function<std::optional<std::vector<RowRequest>>(std::int64_t batch)>;

// Where the device works in the host's memory: a thread reads ahead, and rows are filtered where they lie.
// batches_ahead: that it may read before they are loaded.
std::unique_ptr<RowLoader> read_ahead(const RowLoaderSetup& setup, Batches ahead, std::int64_t batches_ahead);
// Where it has memory of its own: frames go up in wedges, two at a time on their way.
std::unique_ptr<RowLoader> upload_rows(const RowLoaderSetup& setup, UploadBuffers& buffers);

// What a device's row filter is told of the frames.
RowFilterSetup filter_setup(const RowLoaderSetup& setup);

}  // namespace lepus
