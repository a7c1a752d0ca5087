// SPDX-License-Identifier: Apache-2.0
#include "bench/rabbitct/whole.h"

#include <algorithm>
#include <chrono>

#include "core/format.h"
#include "core/memory.h"
#include "run/device_sweep.h"
#include "run/memory_io.h"
#include "bench/rabbitct/host_memory.h"
#include "bench/rabbitct/view_stream.h"

namespace lepus::rabbitct {

struct WholeSweep::State {
  Header header;
  RunOptions options;
  Context& context;
  std::vector<Matrix34> given;
  bool on_device;
  VolumeGrid grid;
  std::shared_ptr<float> views, volume;
  // On a device.
  MatrixScale scale;
  ScanGeometry geometry;
  std::optional<BandTable> bands;
  std::unique_ptr<DeviceSweep> sweep;
  // Of the host's last run.
  std::string device, description;

  State(const Header& h, const std::vector<Matrix34>& matrices, const RunOptions& o, Context& c)
      : header(h), options(o), context(c), given(matrices), on_device(o.backend == "cuda"), grid(grid_of(o.size)) {
    const std::int64_t pixels = h.views * h.columns * h.rows;
    if (on_device) plan_on_device();
    views = on_device ? page_locked(pixels, o.device) : aligned_floats(pixels);
    volume = on_device ? page_locked(grid.voxels(), o.device) : aligned_floats(grid.voxels());
    std::fill_n(volume.get(), grid.voxels(), 0.0F);  // its pages are there before the clock starts
  }

  void plan_on_device() {
    geometry.columns = header.columns;
    geometry.rows = header.rows;
    for (std::size_t i = 0; i < given.size(); ++i)
      geometry.matrices.push_back(scale.scaled(given[i], static_cast<std::int64_t>(i)));
    constexpr double everything_mm = 1e6;
    PlanRequest request;
    request.geometry = &geometry;
    request.grid = grid;
    request.cylinder_mm = everything_mm;
    bands.emplace(request);
    DeviceJob job;
    job.wide = &geometry;
    job.bands = &*bands;
    job.grid = grid;
    job.cylinder_mm = everything_mm;
    job.views_are_filtered = true;
    job.from_memory = true;
    job.columns = job.sent_columns = header.columns;
    job.sent_rows = header.rows;
    job.sent_pixel_bytes = sizeof(float);
    job.host_bytes = options.memory_bytes > 0 ? options.memory_bytes : available_memory_bytes();
    sweep = std::make_unique<DeviceSweep>(
        job, DeviceChoice{.devices = format("{}", options.device), .memory_bytes = 0, .precision = options.precision});
  }

  void run_on_device() {
    const MemoryFrames frames(geometry, views.get());
    MemoryVolume sink(grid, volume.get());
    Progress silent;  // a sweep has steps of its own
    Context quiet{context.threads, context.cancel, silent};
    DeviceSweep::Frames from;
    from.source = &frames;
    sweep->run(from, sink, quiet);
    if (const auto factor = static_cast<float>(scale.volume_factor()); factor != 1.0F)
      for (std::int64_t i = 0; i < grid.voxels(); ++i) volume.get()[i] *= factor;
  }

  void run_on_host(ViewStream& stream) {
    const std::int64_t pixels = header.columns * header.rows;
    for (std::int64_t view = 0; view < header.views; ++view) {
      context.cancel.check();
      stream.add(given[static_cast<std::size_t>(view)], views.get() + view * pixels);
    }
    stream.finish(volume.get());
    device = stream.device();
    description = stream.description();
  }
};

WholeSweep::WholeSweep(const Header& header, const std::vector<Matrix34>& matrices, const RunOptions& options,
                       Context& context)
    : state_(std::make_unique<State>(header, matrices, options, context)) {}
WholeSweep::~WholeSweep() = default;

float* WholeSweep::views() { return state_->views.get(); }
std::shared_ptr<float> WholeSweep::volume() const { return state_->volume; }
std::string WholeSweep::device() const { return state_->on_device ? state_->sweep->device() : state_->device; }
std::string WholeSweep::description() const {
  return state_->on_device ? state_->sweep->description() : state_->description;
}

double WholeSweep::run() {
  State& s = *state_;
  std::unique_ptr<ViewStream> stream;
  if (!s.on_device) {
    StreamSetup setup;
    setup.columns = s.header.columns;
    setup.rows = s.header.rows;
    setup.size = s.options.size;
    setup.block = s.options.block;
    stream = make_host_stream(make_backend(s.options.backend), setup, s.context.threads);
  }
  const auto start = std::chrono::steady_clock::now();
  if (s.on_device)
    s.run_on_device();
  else
    s.run_on_host(*stream);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace lepus::rabbitct
