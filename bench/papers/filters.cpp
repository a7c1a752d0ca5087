// SPDX-License-Identifier: Apache-2.0
// The Iowa State scan's sinograms (450 of 1400 columns x 360 views) through its filters of radius 30 along the rows,
// ring removal and hot pixels; time per sinogram. One sinogram is held against the double-precision reference of each
// step.
#include "bench/papers/filters.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/format.h"
#include "correct/filters/filter_reference.h"
#include "correct/pixels/hot_reference.h"
#include "correct/pixels/hot_weights.h"
#include "correct/pixels/pixels.h"
#include "correct/rings/rings_reference.h"
#include "device/band_kernels.h"
#include "device/device.h"

namespace lepus::bench {
namespace {

using measure::Figure;

// An object that moves with the view, a slope, noise, some columns with a gain of their own and some that stand out.
std::vector<float> sinogram_of(std::int64_t columns, std::int64_t views) {
  std::vector<float> values(static_cast<std::size_t>(columns * views));
  std::uint32_t state = 1;
  for (std::int64_t view = 0; view < views; ++view)
    for (std::int64_t u = 0; u < columns; ++u) {
      state = state * 1664525u + 1013904223u;
      const float noise = static_cast<float>(state >> 8) * 0x1p-24F - 0.5F;
      const auto x = static_cast<float>(u) / static_cast<float>(columns);
      const float shift = 0.1F * std::sin(6.2831853F * static_cast<float>(view) / static_cast<float>(views));
      float value = (x > 0.3F + shift && x < 0.6F + shift ? 0.4F : 1.0F) - 0.1F * x + 0.02F * noise;
      if (u % 97 == 13) value *= 1.01F;
      if (u % 211 == 50) value += 0.3F;
      values[static_cast<std::size_t>(view * columns + u)] = value;
    }
  return values;
}

SinogramStep filter_step(const char* name, FilterKind kind, double published, std::int64_t radius) {
  FilterOptions options;
  options.kind = kind;
  options.radius = radius;
  options.sigma = static_cast<double>(radius) / 3;
  SinogramStep step;
  step.name = name;
  step.published_seconds = published;
  step.error_limit = kind == FilterKind::median ? 0 : 1e-5;  // sums of 61 grey levels of 1 in another order; it selects
  step.work = [options](const SinogramStack& s, float* in, float* out, Queue& queue) {
    queue.device().band_kernels().filter(s.planes(in), s.planes(out), options, uncut(s.planes(in)), queue);
  };
  step.reference = [options](const SinogramStack& one, float* in, float* out) {
    reference::filter(one.planes(in), one.planes(out), options);
  };
  return step;
}

SinogramStep rings_step(double published, std::int64_t radius) {
  RingOptions options;
  options.relative = true;
  options.radius = radius;
  options.sigma = static_cast<double>(radius) / 3;
  SinogramStep step;
  step.name = "rings";
  step.published_seconds = published;
  step.in_place = true;
  step.error_limit = 1e-5;
  step.work = [options](const SinogramStack& s, float* in, float*, Queue& queue) {
    queue.device().band_kernels().remove_rings(s.planes(in), options, queue);
  };
  step.reference = [options](const SinogramStack& one, float* in, float*) {
    reference::remove_rings(one.planes(in), options);
  };
  return step;
}

SinogramStep hot_pixels_step(double published) {
  SinogramStep step;
  step.name = "hot pixels";
  step.published_seconds = published;
  step.in_place = true;
  step.error_limit = 1e-6;  // the same columns, and the line between their neighbours to single precision
  const auto correction = [](const SinogramStack& s) {
    ScanFacts facts;
    facts.columns = s.columns;
    facts.rows = s.count;
    facts.views = s.views;
    return make_hot_pixels({}, facts);
  };
  step.work = [correction](const SinogramStack& s, float* in, float*, Queue& queue) {
    correction(s)->apply(s.band(in), {0, s.count}, queue);
  };
  step.reference = [](const SinogramStack& one, float* in, float*) {
    const auto [window, gap] = pixels::usual_hot_windows(one.columns);
    const HotPixelOptions options{.window = window, .gap = gap};
    pixels::reference_hot_pixels(pixels::hot_rules(options, one.views), options.iterations, one.planes(in), 0);
  };
  return step;
}

// Fills a stack in the device's memory, runs the step and returns the seconds of the best run; the last sinogram as it
// came out goes to `last`.
double time_of(const PaperRun& run, const SinogramStack& stack, const SinogramStep& step, std::vector<float>& last) {
  const auto devices =
      open_devices({.backend = run.kind, .devices = format("{}", run.gpu ? run.device : 0)}, run.context.threads);
  Device& device = *devices.front();
  const auto queue = device.make_queue();
  const auto bytes = stack.pixels() * static_cast<std::int64_t>(sizeof(float));
  const Block in = device.allocate(bytes * stack.count),
              out = step.in_place ? in : device.allocate(bytes * stack.count);
  const auto floats = [](const Block& memory) { return reinterpret_cast<float*>(memory.get()); };
  double best = 1e300;
  for (int i = run.gpu ? -1 : 0; i < run.repeats; ++i) {  // the first on a GPU takes its scratch memory
    run.context.cancel.check();
    // Work in place starts from the same sinograms every time.
    for (std::int64_t s = 0; s < stack.count; ++s)
      device.copy(in.get() + s * bytes, stack.sinogram.data(), bytes, *queue);
    queue->wait();
    const double start = measure::seconds();
    step.work(stack, floats(in), floats(out), *queue);
    queue->wait();
    if (i >= 0) best = std::min(best, measure::seconds() - start);
  }
  last.resize(stack.sinogram.size());
  device.copy(last.data(), out.get() + (stack.count - 1) * bytes, bytes, *queue);
  queue->wait();
  return best;
}

// The largest difference; NaN where a value is. A step that changes nothing is wrong.
double step_error(const SinogramStack& stack, const SinogramStep& step, const std::vector<float>& found) {
  SinogramStack one = stack;
  one.count = 1;
  std::vector<float> in = stack.sinogram, out(in.size());
  step.reference(one, in.data(), out.data());
  const std::vector<float>& truth = step.in_place ? in : out;
  double worst = 0;
  bool changed = false;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    keep_worst(worst, std::abs(static_cast<double>(found[i]) - static_cast<double>(truth[i])));
    changed = changed || truth[i] != stack.sinogram[i];
  }
  return changed ? worst : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

std::vector<Figure> filters_paper(const PaperRun& run) {
  const Devices devices = open_devices({.backend = run.kind, .devices = format("{}", run.device)}, run.context.threads);
  if (!devices.front()->band_kernels().has(BandOperation::filter)) return {};  // OpenCL has none
  constexpr std::int64_t full_columns = 1400, full_views = 360;
  SinogramStack stack;
  // A sinogram is small: at the CPU's usual scale it is the paper's own.
  const double scale = run.gpu ? run.scale : std::min(1.0, 4 * run.scale);
  stack.columns = scaled(full_columns, scale, 240);
  stack.views = scaled(full_views, scale, 40);
  stack.count = run.gpu ? scaled(450, run.scale, 8) : 8;
  stack.sinogram = sinogram_of(stack.columns, stack.views);
  constexpr std::int64_t radius = 30;
  using enum FilterKind;
  const double ratio = static_cast<double>(stack.pixels()) / static_cast<double>(full_columns * full_views);
  std::vector<Figure> figures;
  for (const SinogramStep& step :
       {filter_step("box", box, 4e-3, radius), filter_step("Gaussian", gaussian, 8.8e-3, radius),
        filter_step("bilateral", bilateral, 16e-3, radius), filter_step("median", median, 203e-3, radius),
        rings_step(18e-3, radius), hot_pixels_step(8e-3)}) {
    std::vector<float> last;
    const double seconds = time_of(run, stack, step, last);
    Figure f;
    f.group = "Iowa State filters";
    f.name = step.name;
    f.seconds = seconds / static_cast<double>(stack.count);
    f.work = 2e-9 * 4 * static_cast<double>(stack.pixels());  // once read, once written
    f.unit = "GB/s";
    f.error = step_error(stack, step, last);
    f.error_limit = step.error_limit;
    f.error_of = "largest of one sinogram against double precision, in grey levels of 1";
    f.note = format("per sinogram of {}x{}, {} of them at once in {} memory; {}", stack.columns, stack.views,
                    stack.count, run.gpu ? "device" : "host", run.kind);
    if (step.name != "hot pixels") add_note(f, format("1-D, radius {}", radius));
    put_published(f, step.published_seconds, "Iowa State, Tesla C1060", ratio);
    figures.push_back(std::move(f));
  }
  return figures;
}

}  // namespace lepus::bench
