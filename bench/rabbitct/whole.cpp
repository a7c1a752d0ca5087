// SPDX-License-Identifier: Apache-2.0
#include "bench/rabbitct/whole.h"

#include <algorithm>
#include <chrono>

#include "core/memory.h"
#include "run/memory_io.h"
#include "bench/rabbitct/view_stream.h"

namespace lepus::rabbitct {

struct WholeSweep::State {
  Header header;
  RunOptions options;
  const Devices& devices;
  Context& context;
  std::vector<Matrix34> given;
  bool on_host;
  VolumeGrid grid;
  std::shared_ptr<float> views, volume;
  // On a device with memory of its own.
  MatrixScale scale;
  ScanGeometry geometry;
  std::unique_ptr<Sweep> sweep;
  std::string kernel;

  State(const Header& h, const std::vector<Matrix34>& matrices, const RunOptions& o, const Devices& d, Context& c)
      : header(h),
        options(o),
        devices(d),
        context(c),
        given(matrices),
        on_host(d.front()->info().host),
        grid(grid_of(o.size)) {
    const std::int64_t pixels = h.views * h.columns * h.rows;
    if (!on_host) plan_on_device();
    views = host_floats(pixels, *devices.front());
    volume = host_floats(grid.voxels(), *devices.front());
    std::fill_n(volume.get(), grid.voxels(), 0.0F);  // its pages are there before the clock starts
  }

  void plan_on_device() {
    geometry.columns = header.columns;
    geometry.rows = header.rows;
    for (std::size_t i = 0; i < given.size(); ++i)
      geometry.matrices.push_back(scale.scaled(given[i], static_cast<std::int64_t>(i)));
    constexpr double everything_mm = 1e6;
    SweepJob job;
    job.wide = &geometry;
    job.grid = grid;
    job.cylinder_mm = everything_mm;
    job.from_memory = true;
    job.columns = header.columns;
    job.frame_pixel_bytes = sizeof(float);
    job.memory_bytes = options.memory_bytes > 0 ? options.memory_bytes : available_memory_bytes();
    sweep = std::make_unique<Sweep>(job, devices, context.threads);
    kernel = sweep->kernel();
  }

  void run_on_device() {
    const MemoryFrames frames(geometry, views.get());
    MemoryVolume sink(grid, volume.get());
    Progress silent;  // a sweep has steps of its own
    Context quiet{context.threads, context.cancel, silent};
    sweep->run({.source = &frames}, sink, quiet);
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
    kernel = stream.description();
  }
};

WholeSweep::WholeSweep(const Header& header, const std::vector<Matrix34>& matrices, const RunOptions& options,
                       const Devices& devices, Context& context)
    : state_(std::make_unique<State>(header, matrices, options, devices, context)) {}
WholeSweep::~WholeSweep() = default;

float* WholeSweep::views() { return state_->views.get(); }
std::shared_ptr<float> WholeSweep::volume() const { return state_->volume; }
std::string WholeSweep::device() const { return lepus::description(state_->devices); }
std::string WholeSweep::description() const { return state_->kernel; }

double WholeSweep::run() {
  State& s = *state_;
  std::unique_ptr<ViewStream> stream;
  if (s.on_host)
    stream = std::make_unique<ViewStream>(StreamSetup{s.header.columns, s.header.rows, s.options.size, s.options.block},
                                          *s.devices.front(), s.context.threads);
  const auto start = std::chrono::steady_clock::now();
  if (stream)
    s.run_on_host(*stream);
  else
    s.run_on_device();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace lepus::rabbitct
