// SPDX-License-Identifier: Apache-2.0
#include "bench/rabbitct/run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "core/format.h"
#include "core/memory.h"
#include "bench/rabbitct/plain.h"
#include "bench/rabbitct/view_stream.h"
#include "bench/rabbitct/whole.h"
#include <lepus/error.h>

namespace lepus::rabbitct {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// fp16 texels hold values up to 1023 (device/cuda/view_textures.h); larger ones would be clipped.
constexpr float largest_half_value = 1000;

// After the device was chosen.
bool on_host(const RunOptions& options) { return options.backend == "cpu" || options.backend == "reference"; }

// The file's views in host memory, some at a time, and what is done with them that does not count.
class Views {
public:
  Views(const DataFile& file, const RunOptions& options, Context& context)
      : file_(file), options_(options), context_(context) {
    const Header& h = file.header();
    if (options.score && options.check_slices > 0)
      check_.emplace(options.size, spread_slices(options.size, options.check_slices));
    for (std::int64_t view = 0; view < h.views; ++view) matrices.push_back(file.matrix(view));
  }

  std::int64_t pixels() const { return file_.header().columns * file_.header().rows; }

  void load(std::int64_t first, std::int64_t last, float* out) {
    for (std::int64_t view = first; view < last; ++view) {
      context_.cancel.check();
      float* pixels_of_view = out + (view - first) * pixels();
      file_.read_view(view, pixels_of_view);
      if (!on_host(options_) && options_.precision == Precision::half) require_small(view, pixels_of_view);
      if (check_)
        check_->add(matrices[static_cast<std::size_t>(view)], file_.header().columns, file_.header().rows,
                    pixels_of_view, context_.threads);
      context_.progress.advance();
    }
  }

  std::vector<Matrix34> matrices;
  const std::optional<PlainSlices>& checked() const { return check_; }

private:
  void require_small(std::int64_t view, const float* values) const {
    float largest = 0;
    for (std::int64_t i = 0; i < pixels(); ++i) largest = std::max(largest, std::abs(values[i]));
    if (largest > largest_half_value)
      throw Error(ErrorKind::input, {.what = "the values of a view are too large for half precision",
                                     .where = format("{}, view {}", file_.path().string(), view),
                                     .why = format("{:.6g}, at most {:g} can be held", largest, largest_half_value),
                                     .hint = "use --precision fast"});
  }

  const DataFile& file_;
  const RunOptions& options_;
  Context& context_;
  std::optional<PlainSlices> check_;
};

// The sums of a host's stream lie beside the volume; a GPU's do not.
void check_memory(const RunOptions& options, std::int64_t views_bytes) {
  const std::int64_t volume = options.size * options.size * options.size * static_cast<std::int64_t>(sizeof(float));
  const std::int64_t checked = (options.score ? options.check_slices : 0) * options.size * options.size * 8;
  const std::int64_t needed = volume * (on_host(options) ? 2 : 1) + views_bytes + checked + resident_bytes();
  if (options.memory_bytes > 0 && needed > options.memory_bytes)
    throw Error(
        ErrorKind::memory,
        {.what = "the volume and the views do not fit into the memory limit",
         .where = {},
         .why = format("{} are needed, the limit is {}", format_bytes(needed), format_bytes(options.memory_bytes)),
         .hint = options.protocol == Protocol::whole ? "give a larger --memory, or leave out --protocol whole"
                                                     : "give a larger --memory, or a smaller --size"});
}

// As RabbitCT's runner: a quarter of the views is read, then each is handed over and its time taken.
std::shared_ptr<float> stream_views(Views& views, const RunOptions& options, Device& device, Context& context,
                                    RunReport& report) {
  const Header& h = report.header;
  const auto start = Clock::now();
  StreamSetup setup{.columns = h.columns,
                    .rows = h.rows,
                    .size = options.size,
                    .block = options.protocol == Protocol::views ? 1 : options.block};
  ViewStream stream(setup, device, context.threads);
  stream.expect(h.views);
  const std::int64_t subset = std::max<std::int64_t>(1, (h.views + 3) / 4);
  const auto held = host_floats(subset * views.pixels(), device);
  auto volume = host_floats(options.size * options.size * options.size, device);
  std::fill_n(volume.get(), options.size * options.size * options.size, 0.0F);  // its pages are there before the clock
  report.prepare_seconds = seconds_since(start);
  for (std::int64_t first = 0; first < h.views; first += subset) {
    const std::int64_t last = std::min(first + subset, h.views);
    views.load(first, last, held.get());
    for (std::int64_t view = first; view < last; ++view) {
      context.cancel.check();
      const auto arrival = Clock::now();
      stream.add(views.matrices[static_cast<std::size_t>(view)], held.get() + (view - first) * views.pixels());
      if (view + 1 == last) stream.release_views();
      if (view + 1 == h.views) stream.finish(volume.get());
      const double seconds = seconds_since(arrival);
      report.microseconds.push_back(static_cast<std::uint64_t>(std::llround(1e6 * seconds)));
      report.seconds += seconds;
      report.last_view_seconds = seconds;
    }
  }
  report.device = stream.device();
  report.kernel = stream.description();
  return volume;
}

std::shared_ptr<float> whole_sweep(Views& views, const RunOptions& options, const Devices& devices, Context& context,
                                   RunReport& report) {
  const Header& h = report.header;
  const auto start = Clock::now();
  WholeSweep sweep(h, views.matrices, options, devices, context);
  report.prepare_seconds = seconds_since(start);
  views.load(0, h.views, sweep.views());
  for (int i = 0; i < std::max(1, options.repeats); ++i) {
    const double seconds = sweep.run();
    report.seconds = i == 0 ? seconds : std::min(report.seconds, seconds);
  }
  report.last_view_seconds = report.seconds;
  report.microseconds.assign(static_cast<std::size_t>(h.views),
                             static_cast<std::uint64_t>(1e6 * report.seconds / static_cast<double>(h.views)));
  report.device = sweep.device();
  report.kernel = sweep.description();
  return sweep.volume();
}

void score_volume(const DataFile& file, const float* volume, const Views& views, RunReport& report, Context& context) {
  const std::int64_t slice = report.size * report.size;
  const HuScale scale = report.header.hu_scale;
  std::vector<Score> scores(static_cast<std::size_t>(report.size));
  std::vector<std::vector<std::uint16_t>> reference(static_cast<std::size_t>(context.threads.size()));
  context.threads.parallel_for(0, report.size, 1, [&](std::int64_t z, std::int64_t, int worker) {
    auto& own = reference[static_cast<std::size_t>(worker)];
    own.resize(static_cast<std::size_t>(slice));
    file.read_reference(report.size, z, z + 1, own.data());
    scores[static_cast<std::size_t>(z)].add(volume + z * slice, own.data(), slice, scale);
  });
  Score whole;
  for (const Score& s : scores) {
    whole.voxels += s.voxels;
    whole.not_finite += s.not_finite;
    whole.squares += s.squares;
    whole.largest = std::max(whole.largest, s.largest);
    for (std::size_t i = 0; i < whole.histogram.size(); ++i) whole.histogram[i] += s.histogram[i];
  }
  if (whole.voxels == 0)
    throw Error(ErrorKind::input,
                {.what = format("no voxel of the reference of {0} x {0} x {0} was computed", report.size),
                 .where = file.path().string(),
                 .why = "all of them hold 65535",
                 .hint = "give another --size, or --no-score to measure time alone"});
  if (whole.not_finite > 0)
    context.progress.warning(format("{} voxels of the volume are not finite; they are scored as 0", whole.not_finite));
  report.score = whole;
  if (const auto& checked = views.checked()) {
    UnroundedScore unrounded;
    for (std::size_t i = 0; i < checked->slices().size(); ++i)
      unrounded.add(volume + checked->slices()[i] * slice, checked->values(i), slice, scale);
    report.unrounded = unrounded;
  }
}

}  // namespace

double RunReport::updates() const {
  return static_cast<double>(size) * static_cast<double>(size) * static_cast<double>(size) *
         static_cast<double>(header.views);
}

Result RunReport::result(int version) const {
  Result r;
  r.version = version;
  r.size = size;
  r.microseconds = microseconds;
  r.centre_slice = centre_slice;
  if (score) {
    r.mean_squared_error = score->mean_squared_error();
    r.largest_error = score->largest;
    for (std::size_t i = 0; i < r.histogram.size(); ++i)
      r.histogram[i] = static_cast<std::uint32_t>(score->histogram[i]);
  }
  return r;
}

RunReport run(const DataFile& file, const RunOptions& given, Context& context) {
  check_size(given.size);
  RunOptions options = given;
  const Devices devices =
      open_devices(compute_on(given.backend, format("{}", given.device), given.precision), context.threads);
  options.backend = devices.front()->info().kind;
  if (options.score) file.require_reference(options.size);
  RunReport report;
  report.header = file.header();
  report.size = options.size;
  report.backend = options.backend;
  const std::int64_t held = options.protocol == Protocol::whole ? report.header.views : (report.header.views + 3) / 4;
  check_memory(options, held * report.header.columns * report.header.rows * static_cast<std::int64_t>(sizeof(float)));

  context.progress.begin("views", report.header.views);
  Views views(file, options, context);
  const auto volume = options.protocol == Protocol::whole
                          ? whole_sweep(views, options, devices, context, report)
                          : stream_views(views, options, *devices.front(), context, report);
  context.progress.end();
  const std::int64_t slice = options.size * options.size;
  if (options.score) score_volume(file, volume.get(), views, report, context);
  const float* centre = volume.get() + (options.size / 2 - 1) * slice;
  for (std::int64_t i = 0; i < slice; ++i) report.centre_slice.push_back(scored_hu(centre[i], report.header.hu_scale));
  return report;
}

}  // namespace lepus::rabbitct
