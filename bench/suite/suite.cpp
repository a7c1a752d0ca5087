// SPDX-License-Identifier: Apache-2.0
#include "bench/suite/suite.h"

#include <algorithm>
#include <ctime>
#include <iterator>

#include "bench/suite/names.h"
#include "bench/suite/gpu.h"
#include "bench/suite/synthetic.h"
#include "device/projector.h"
#include "core/format.h"
#include "core/text.h"
#include "plot/text.h"
#include "bench/rabbitct/view_stream.h"
#include <lepus/version.h>

namespace lepus::bench {
namespace {

// In the order of part_names. Null: the machine itself, which the others need too.
constexpr void (*work_of_parts[])(Run&) = {
    nullptr, &bench_backprojection, &bench_filter, &bench_projector, &bench_corrections, &bench_io, &bench_fdk};
static_assert(std::size(work_of_parts) == std::size(part_names));

[[noreturn]] void refuse_bench(const std::string& option, const std::string& what, const std::string& hint) {
  throw Error(ErrorKind::usage, {.what = what, .where = "option " + option, .why = {}, .hint = hint});
}

void check_options(const BenchOptions& o) {
  const std::vector<std::string> names(std::begin(part_names), std::end(part_names));
  for (const std::string& name : o.only)
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      const std::string nearest = nearest_name(name, names);
      std::string all;
      for (const std::string& known : names) all += (all.empty() ? "" : ", ") + known;
      refuse_bench("--only", format("there is no part '{}'", name),
                   nearest.empty() ? "the parts are " + all : format("did you mean '{}'?", nearest));
    }
  for (const std::int64_t size : o.sizes)
    if (size < 16 || size > 4096)
      refuse_bench("--size", format("a volume of {}^3 voxels is not possible", size), "give 16 to 4096");
}

// The GPUs that can be used here, or the one device that was asked for; Error(usage) and Error(unsupported) as
// open_devices has them.
std::vector<MeasuredDevice> devices_to_measure(const BenchOptions& o, ThreadPool& threads) {
  std::vector<MeasuredDevice> all;
  if (o.backend == "cpu") return all;
  for (const auto& [kind, spoken] : {std::pair{"cuda", "CUDA"}, std::pair{"opencl", "OpenCL"}}) {
    if (o.backend == "auto" ? !why_unusable(kind).empty() : o.backend != kind) continue;
    const Devices devices = open_devices(compute_on(kind, format("{}", o.device)), threads);
    const ScanGeometry one_view = build_scan(c_arm_scan(16, 16, 1));
    const auto projector = devices.front()->make_projector({.geometry = &one_view, .grid = cube_of_256_mm(16)});
    constexpr double slowest_gpu = 1e10;  // updates a second, as devices say of themselves
    const bool gpu = projector->updates_per_second() >= slowest_gpu;
    if (gpu || o.backend == kind) all.push_back({kind, spoken, gpu});
  }
  if (all.empty() && o.backend != "auto") open_devices(compute_on(o.backend, format("{}", o.device)), threads);
  if (all.empty() && o.backend != "auto")
    refuse_bench("--backend", format("'{}' is not measured", o.backend), "give auto, cpu, cuda or opencl");
  return all;
}

std::string time_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

}  // namespace

measure::Report new_report(const std::string& title, int threads, int device) {
  measure::Report report;
  report.title = title;
  report.version = lepus::version;
  report.date = time_now();
  report.machine = measure::this_machine(threads, device);
  return report;
}

std::vector<std::int64_t> Run::cpu_sizes() const {
  if (!options.sizes.empty()) return options.sizes;
  return {options.quick ? 64 : 256};
}

std::vector<std::int64_t> Run::gpu_sizes() const {
  if (!options.sizes.empty()) return options.sizes;
  return options.quick ? std::vector<std::int64_t>{128} : std::vector<std::int64_t>{256, 512, 1024};
}

Run::Views Run::cpu_views(std::int64_t size) const {
  if (options.quick || size < 128) return {156, 120, 64};
  return size > 256 ? Views{1248, 960, 64} : Views{624, 480, 64};
}

Run::Views Run::gpu_views() const { return options.quick ? Views{312, 240, 128} : Views{1248, 960, 496}; }

std::string Run::Views::text() const { return format("{} views of {} x {}", views, columns, rows); }

Compute Run::compute_with(const std::string& kind, Precision precision) const {
  return compute_on(kind, format("{}", options.device), precision);
}

std::shared_ptr<float> Run::host_floats(std::int64_t count, const std::string& kind) const {
  const Devices opened = open_devices(compute_with(kind), context.threads);
  return rabbitct::host_floats(count, *opened.front());
}

void Run::add(measure::Figure figure) {
  std::string text = format("{}, {}: {}", figure.group, figure.name, plot::time_text(figure.seconds));
  if (figure.work > 0) text += ", " + plot::rate_text(figure.rate(), figure.unit);
  if (figure.limit_rate > 0)
    text += format(", {} of the limit ({})", plot::share_text(figure.share_of_limit()), figure.limit);
  if (figure.correct())
    context.progress.note(text);
  else
    context.progress.warning(text + format(": wrong, {} {}, at most {} is right", figure.error_of,
                                           plot::three_digits(figure.error), plot::three_digits(figure.error_limit)));
  report.figures.push_back(std::move(figure));
  context.cancel.check();
}

measure::Report run_bench(const BenchOptions& options, Context& context) {
  check_options(options);
  Run run{options, options.backend == "auto" || options.backend == "cpu", false, {}, {}, {}, context};
  run.devices = devices_to_measure(options, context.threads);
  run.gpu = std::ranges::count(run.devices, "cuda", &MeasuredDevice::kind) > 0;
  if (run.options.folder.empty()) run.options.folder = std::filesystem::temp_directory_path();
  run.report = new_report("lepus bench", context.threads.size(), options.device);
  const auto asked = [&](const std::string& name) {
    return options.only.empty() || std::find(options.only.begin(), options.only.end(), name) != options.only.end();
  };
  const auto parts = std::count_if(std::begin(part_names), std::end(part_names), asked);
  context.progress.begin("bench", parts + (asked("machine") ? 0 : 1));
  // Whatever is measured is held against the machine, so that is measured always.
  run.limits = measure::measure_limits(
      {.quick = options.quick, .folder = run.options.folder, .device = run.gpu ? options.device : -1}, context);
  for (const measure::Figure& figure : run.limits.figures) run.add(figure);
  context.progress.advance();
  for (std::size_t i = 0; i < std::size(part_names); ++i)
    if (work_of_parts[i] != nullptr && asked(part_names[i])) {
      work_of_parts[i](run);
      for (const GpuSuite& more : gpu_suite())
        if (run.gpu && more.part == part_names[i]) more.work(run);
      context.progress.advance();
    }
  context.progress.end();
  return run.report;
}

}  // namespace lepus::bench
