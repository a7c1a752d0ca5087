// SPDX-License-Identifier: Apache-2.0
#include "run/sweep.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "core/format.h"
#include "core/memory.h"
#include "device/host/row_filter.h"
#include "run/speed.h"
#include "run/sweep_worker.h"
#include <lepus/error.h>

namespace lepus {
namespace {

constexpr double fast_disk_bytes_per_second = 2e9;
// Tables of the filter and what a driver takes for kernels and arrays beside them.
constexpr std::int64_t tables_bytes = std::int64_t{64} << 20;
constexpr double start_of_device_seconds = 0.8;  // until a card takes work: measured on an H200, driver 580
constexpr std::int64_t host_slack_bytes = std::int64_t{12} << 20;  // stacks, libraries' buffers, the allocator's own

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

// What counts can give at most: one count where the flat is brightest.
float largest_line_integral(const Normalisation& normalisation) {
  float brightest = normalisation.log_i0_everywhere;
  for (std::int64_t i = 0; i < normalisation.log_i0.size(); ++i)
    brightest = std::max(brightest, normalisation.log_i0[i]);
  return std::max(1.0F, brightest - std::log(normalisation.clip));
}

ProjectorSetup projector_setup(const SweepJob& job) {
  return {.geometry = job.wide,
          .grid = job.grid,
          .cylinder_mm = job.cylinder_mm,
          .interpolation = job.interpolation,
          .views_share_texels = true};
}

VolumeParts one_part(SlabRange slices) {
  return [slices, left = true]() mutable { return std::exchange(left, false) ? std::optional(slices) : std::nullopt; };
}

PlanRequest band_request(const SweepJob& job) {
  PlanRequest request;
  request.geometry = job.wide;
  request.grid = job.grid;
  request.cylinder_mm = job.cylinder_mm;
  request.interpolation = job.interpolation;
  return request;
}

}  // namespace

struct Sweep::State {
  SweepJob job;
  const Devices& devices;
  // One per card; workers on one card share it.
  std::map<int, std::unique_ptr<Projector>> projectors;
  BandTable bands;
  Plan plan;
  double largest_weight;
  std::vector<std::unique_ptr<HeldViews>> views;  // one per card, or one per worker
  std::vector<std::unique_ptr<SweepWorker>> workers;

  State(const SweepJob& j, const Devices& d, ThreadPool& threads)
      : job(j),
        devices(d),
        bands(band_request(j)),
        largest_weight(j.weights ? lepus::largest_weight(*j.weights, *j.wide, j.columns) : 1.0) {
    for (const auto& device : devices)
      if (auto& there = projectors[device->info().number]; !there) there = device->make_projector(projector_setup(job));
    plan = make_plan(request(threads), bands);
    if (!plan.on_host()) plan.seconds += start_of_device_seconds + opening_seconds(job.wide->views());
  }

  const Projector& projector() const { return *projectors.begin()->second; }

  std::int64_t memory_of_cards() const {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const auto& device : devices) least = std::min(least, device->memory_limit_bytes());
    return job.device_memory_bytes > 0 ? std::min(least, job.device_memory_bytes) : least;
  }

  PlanRequest request(ThreadPool& threads) const {
    PlanRequest request = band_request(job);
    request.view_block = projector().view_block();
    request.largest_slab = job.largest_slab;
    request.memory_bytes = job.memory_bytes > 0 ? job.memory_bytes : available_memory_bytes() * 6 / 10;
    request.fixed_bytes = resident_bytes() + job.still_to_come_bytes;
    request.frame_pixel_bytes = job.uploaded_row_bytes() / job.columns;
    if (devices.front()->info().host)
      fill_for_host(request, threads);
    else
      fill_for_devices(request);
    return request;
  }

  void fill_for_host(PlanRequest& request, ThreadPool& threads) const {
    request.frame_pixel_bytes = job.frame_pixel_bytes;
    const RampFilter ramp(job.wide->columns, job.ramp);
    const std::int64_t block_floats =
        host::rows_at_once * job.wide->columns * (job.resampler ? 3 : 1) + ramp.scratch_floats();
    request.fixed_bytes += host_slack_bytes + block_floats * static_cast<std::int64_t>(sizeof(float)) * threads.size();
    if (job.measure_speed) {
      request.speed = measured_speed(job, *devices.front(), threads);
    } else {  // the ratios choose the plan, and they are much the same everywhere
      request.speed.updates *= threads.size();
      request.speed.filtered_pixels *= threads.size();
    }
  }

  void fill_for_devices(PlanRequest& request) const {
    PlanDevices& on = request.devices.emplace();
    on.workers = static_cast<int>(devices.size());
    on.cards = static_cast<int>(projectors.size());
    std::map<int, int> on_card;
    for (const auto& device : devices)
      on.workers_on_card = std::max(on.workers_on_card, ++on_card[device->info().number]);
    on.memory_bytes = memory_of_cards();
    on.fixed_bytes = tables_bytes + 2 * job.wide->rows * job.columns * static_cast<std::int64_t>(sizeof(float));
    on.bytes_per_value = projector().bytes_per_value();
    on.recorded_columns = job.columns;
    on.by_bands = job.by_bands;
    if (!job.from_memory) on.source_bytes = fast_disk_bytes_per_second;
    on.updates_per_second = projector().updates_per_second();
  }

  void forget() {
    workers.clear();
    views.clear();
  }

  void try_to_make_workers() {
    std::map<int, HeldViews*> on_card;
    for (const auto& device : devices) {
      const int card = device->info().number;
      const Projector& kernel = *projectors.at(card);
      HeldViews*& shared = on_card[card];
      if (!shared || plan.kind != PlanKind::resident_views)
        shared = views.emplace_back(std::make_unique<HeldViews>(job, plan, bands, *device, kernel)).get();
      workers.push_back(
          std::make_unique<SweepWorker>(job, plan, *device, kernel, *shared, static_cast<int>(workers.size())));
    }
  }

  SweepTimes sweep(SlabTickets& tickets, VolumeWriter& writer, Context& context, const SlabAccount& account);

  // An allocation that fails on a card, because others use it too, makes the plan smaller.
  void make_workers(ThreadPool& threads) {
    if (!workers.empty()) return;
    for (std::int64_t allowed = plan.device.limit;;) try {
        return try_to_make_workers();
      } catch (const Error& error) {
        forget();
        if (error.kind() != ErrorKind::memory || plan.on_host()) throw;
        const std::int64_t buffers = std::min(allowed, plan.device.total()) - plan.device.fixed;
        allowed = plan.device.fixed + buffers * 3 / 4;
        PlanRequest smaller = request(threads);
        smaller.devices->memory_bytes = allowed;
        plan = make_plan(smaller, bands);  // throws where nothing fits any more
      }
  }
};

Sweep::Sweep(const SweepJob& job, const Devices& devices, ThreadPool& threads)
    : state_(std::make_unique<State>(job, devices, threads)) {}
Sweep::~Sweep() = default;

const Plan& Sweep::plan() const { return state_->plan; }
const BandTable& Sweep::bands() const { return state_->bands; }
std::string Sweep::kernel() const { return state_->projector().description(); }

std::int64_t Sweep::wedges() const {
  const std::int64_t block = state_->projector().view_block();
  return (state_->job.wide->views() + block - 1) / block;
}

SweepTimes Sweep::run(const SweepFrames& frames, VolumeWriter& writer, Context& context, const SlabAccount& account,
                      const SweepWork& work) {
  State& s = *state_;
  s.make_workers(context.threads);
  float largest_line = 64;  // nothing measures an attenuation of exp(-64)
  if (frames.normalisation && !s.job.resampler) largest_line = largest_line_integral(*frames.normalisation);
  const float largest_value = 0.5F * static_cast<float>(s.largest_weight) * largest_line;
  const std::int64_t views = s.job.wide->views(), block = s.projector().view_block();
  const auto first_view = [&](std::int64_t wedge) { return std::min(views, wedges() * wedge / work.wedges * block); };
  const std::int64_t first = first_view(work.wedge), last = first_view(work.wedge + 1);
  if (work.wedge < 0 || work.wedge >= work.wedges || first == last)
    throw Error(ErrorKind::internal, {.what = format("wedge {} of {}", work.wedge, work.wedges),
                                      .where = "sweep",
                                      .why = format("the views can be cut into {} parts", wedges()),
                                      .hint = {}});
  context.progress.begin("reconstruct", (work.slices > 0 ? work.slices : s.job.grid.nz) * (last - first));

  const VolumeParts parts = work.parts ? work.parts : one_part({0, s.job.grid.nz});
  SweepTimes times;
  const auto sweep = [&](SlabRange slices, const VolumeParts& in_parts) {
    SlabTickets tickets(in_parts, s.plan.sizes, static_cast<int>(s.workers.size()));
    for (const auto& held : s.views) held->prepare(frames, largest_value, {slices, first, last}, tickets);
    const SweepTimes part = s.sweep(tickets, writer, context, account);
    times.filter_s += part.filter_s;
    times.backproject_s += part.backproject_s;
    times.write_wait_s += part.write_wait_s;
    for (const auto& held : s.views) held->forget_frames();
  };
  // On the host rows roll on from part to part; a card's memory is laid out for a part at a time.
  if (s.plan.on_host())
    sweep({0, s.job.grid.nz}, parts);
  else
    while (const auto slices = parts()) sweep(*slices, one_part(*slices));
  context.progress.end();
  return times;
}

// All devices, on slabs for which the views are prepared.
SweepTimes Sweep::State::sweep(SlabTickets& tickets, VolumeWriter& writer, Context& context,
                               const SlabAccount& account) {
  SweepTimes times;
  std::mutex mutex;
  std::exception_ptr failure;
  const bool threads_are_free = workers.size() == 1 && !plan.on_host();
  const auto work = [&](SweepWorker& worker) {
    try {
      const SweepTimes mine = worker.run(tickets, writer, account, context, threads_are_free);
      const std::lock_guard lock(mutex);
      times.filter_s = std::max(times.filter_s, mine.filter_s);
      times.backproject_s = std::max(times.backproject_s, mine.backproject_s);
      times.write_wait_s = std::max(times.write_wait_s, mine.write_wait_s);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      tickets.stop();
    }
  };
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < workers.size(); ++i) others.emplace_back([&, i] { work(*workers[i]); });
  work(*workers.front());
  for (std::thread& thread : others) thread.join();
  if (failure) {
    forget();  // a device that failed may hold work that never ends well
    std::rethrow_exception(failure);
  }
  for (const auto& held : views) held->report_bad_pixels();
  return times;
}

std::string description(const Devices& devices) {
  const std::string name = devices.front()->info().name;
  return devices.size() == 1 ? name : format("{} x {}", devices.size(), name);
}

}  // namespace lepus
