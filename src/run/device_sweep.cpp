// SPDX-License-Identifier: Apache-2.0
#include "run/device_sweep.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "device/cuda/devices.h"
#include "core/format.h"
#include "run/device_worker.h"

namespace lepus {
namespace {

// Tables of the filter and what the driver takes for kernels and arrays beside them.
constexpr std::int64_t tables_bytes = std::int64_t{64} << 20;

constexpr double disk_bytes_per_second = 2e9;  // of a fast one

// Measured on one H200 (docs/results/cuda.md), between 512^3 and 1024^3.
double updates_per_second(cuda::TexelKind kind) {
  switch (cuda::views_per_texel(kind)) {
    case 4:
      return 3.5e12;
    case 2:
      return 1.9e12;
    default:
      return kind == cuda::TexelKind::gather || kind == cuda::TexelKind::linear ? 6e11 : 1e12;
  }
}

// No filtered value exceeds the largest weight times the largest line integral: the ramp kernel's magnitudes sum to
// 1/2.
double largest_weight(const FdkWeights& weights, const ScanGeometry& geometry, std::int64_t columns) {
  double largest = 0;
  for (std::int64_t view = 0; view < geometry.views(); ++view)
    for (const double u : {0.0, 0.5, 1.0})
      for (const double v : {0.0, 0.5, 1.0}) {
        const double column = u * static_cast<double>(columns - 1), row = v * static_cast<double>(geometry.rows - 1);
        const double shared = weights.redundancy(view, column, row);
        if (shared > 0) largest = std::max(largest, std::abs(weights.at(view, column, row)) / shared);
      }
  return largest;
}

std::vector<int> usable_devices(const std::string& names) {
  const std::vector<int> devices = cuda::parse_devices(names);
  for (const int device : devices) cuda::require_device(device);
  cuda::use_device(devices.front());
  return devices;
}

}  // namespace

std::string why_no_device() { return cuda::why_unusable(); }
bool this_build_has_cuda() { return true; }

struct DeviceSweep::State {
  DeviceJob job;
  DeviceChoice choice;
  std::vector<int> devices;
  cuda::Backprojection backprojection;
  DevicePlan plan;
  double largest_weight;
  std::vector<std::unique_ptr<DeviceViews>> views;  // one per card, or one per worker
  std::vector<std::unique_ptr<DeviceWorker>> workers;

  State(const DeviceJob& j, const DeviceChoice& c)
      : job(j),
        choice(c),
        devices(usable_devices(c.devices)),
        backprojection(*j.wide, j.grid, c.precision, j.interpolation),
        largest_weight(j.views_are_filtered ? 1.0 : lepus::largest_weight(*j.weights, *j.wide, j.columns)) {}

  std::set<int> cards() const { return {devices.begin(), devices.end()}; }

  // What may be taken on each card.
  std::int64_t memory_each() const {
    if (choice.memory_bytes > 0) return choice.memory_bytes;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const int card : cards()) least = std::min(least, cuda::free_memory_bytes(card) * 9 / 10);
    return least;
  }

  DevicePlan plan_within(std::int64_t bytes) const {
    DevicePlanRequest request;
    request.grid = job.grid;
    request.wide_columns = job.wide->columns;
    request.recorded_columns = job.sent_columns;
    request.detector_rows = job.wide->rows;
    request.view_block = backprojection.view_block();
    request.texel_bytes = cuda::bytes_per_pixel(backprojection.texel_kind());
    request.frame_pixel_bytes = job.sent_pixel_bytes;
    request.memory_bytes = bytes;
    request.host_bytes = job.host_bytes;
    request.fixed_bytes =
        tables_bytes + 2 * job.sent_rows * job.sent_columns * static_cast<std::int64_t>(sizeof(float));
    request.devices = static_cast<int>(devices.size());
    request.cards = static_cast<int>(cards().size());
    for (const int card : cards())
      request.workers_on_card =
          std::max(request.workers_on_card, static_cast<int>(std::count(devices.begin(), devices.end(), card)));
    if (!job.from_memory) request.source_bytes = disk_bytes_per_second;
    request.by_bands = job.by_bands;
    request.updates = updates_in_cylinder(job.grid, std::numeric_limits<double>::max(), job.wide->views());
    request.updates_per_second = updates_per_second(backprojection.texel_kind());
    return make_device_plan(request, *job.bands);
  }

  void forget() {
    workers.clear();
    views.clear();
  }

  // An allocation that fails, because others use the card too, makes the plan smaller.
  void make_workers() {
    if (!workers.empty()) return;
    for (std::int64_t allowed = plan.memory_limit;;) {
      try {
        std::map<int, DeviceViews*> on_card;
        for (const int device : devices) {
          DeviceViews*& shared = on_card[device];
          if (!shared || !plan.resident)
            shared = views.emplace_back(std::make_unique<DeviceViews>(job, plan, backprojection, device)).get();
          workers.push_back(std::make_unique<DeviceWorker>(job, plan, backprojection, *shared,
                                                           static_cast<int>(workers.size()), device));
        }
        return;
      } catch (const Error& error) {
        forget();
        if (error.kind() != ErrorKind::memory) throw;
        const std::int64_t buffers = std::min(allowed, plan.memory_bytes()) - plan.fixed_bytes;
        allowed = plan.fixed_bytes + buffers * 3 / 4;
        plan = plan_within(allowed);  // throws where nothing fits any more
      }
    }
  }
};

DeviceSweep::DeviceSweep(const DeviceJob& job, const DeviceChoice& choice)
    : state_(std::make_unique<State>(job, choice)) {
  state_->plan = state_->plan_within(state_->memory_each());
}

DeviceSweep::~DeviceSweep() = default;

const DevicePlan& DeviceSweep::plan() const { return state_->plan; }
std::string DeviceSweep::description() const { return state_->backprojection.description(); }
std::string DeviceSweep::device() const {
  const std::string name = cuda::device_name(state_->devices.front());
  const auto workers = state_->devices.size();
  return workers == 1 ? name : format("{} x {}", workers, name);
}

SweepTimes DeviceSweep::run(const Frames& frames, VolumeWriter& writer, Context& context) {
  State& s = *state_;
  s.make_workers();
  float largest_line = 64;  // nothing measures an attenuation of exp(-64)
  if (frames.normalisation && !frames.prepare) largest_line = largest_line_integral(*frames.normalisation);
  const float largest_value = 0.5F * static_cast<float>(s.largest_weight) * largest_line;
  for (const auto& views : s.views) views->prepare(frames, largest_value);
  SlabTickets tickets(s.job.grid.nz, s.plan.sizes, static_cast<int>(s.workers.size()));
  OrderedWriter ordered(writer);
  context.progress.begin("reconstruct", s.job.grid.nz * s.job.wide->views());

  SweepTimes times;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&](DeviceWorker& worker) {
    try {
      const SweepTimes mine = worker.run(tickets, ordered, context, s.workers.size() == 1);
      const std::lock_guard lock(mutex);
      times.filter_s = std::max(times.filter_s, mine.filter_s);
      times.backproject_s = std::max(times.backproject_s, mine.backproject_s);
      times.write_wait_s = std::max(times.write_wait_s, mine.write_wait_s);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      tickets.stop();
      ordered.stop();
    }
  };
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < s.workers.size(); ++i) others.emplace_back([&, i] { work(*s.workers[i]); });
  work(*s.workers.front());
  for (std::thread& thread : others) thread.join();
  if (failure) {
    s.forget();  // a device that failed may hold work that never ends well
    std::rethrow_exception(failure);
  }
  for (const auto& views : s.views) views->report_bad_pixels();
  context.progress.end();
  return times;
}

}  // namespace lepus
