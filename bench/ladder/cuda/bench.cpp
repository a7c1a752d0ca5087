// SPDX-License-Identifier: Apache-2.0
#include "bench/ladder/cuda/bench.h"

#include <algorithm>

#include "device/cuda/cuda_check.h"
#include "core/format.h"

namespace lepus::ladder {

int runs_after(double first_seconds, int repeats) {
  constexpr double enough = 0.4;
  if (first_seconds > enough) return 0;
  return first_seconds * repeats <= enough ? repeats : static_cast<int>(enough / first_seconds);
}

double best_of_runs(double first_seconds, int repeats, const std::function<double()>& run) {
  double best = first_seconds;
  for (int i = runs_after(first_seconds, repeats); i > 0; --i) best = std::min(best, run());
  return best;
}

DeviceBench::DeviceBench(const Problem& problem, const Truth& truth, const measure::Limits& limits)
    : problem_(problem),
      truth_(truth),
      limits_(limits),
      volume_(problem.grid.voxels()),
      terms_(problem.size * problem.size),
      sampled_(static_cast<std::int64_t>(truth.offsets.size())) {}

DeviceBench::Timed DeviceBench::time(int repeats, const Work& work) const {
  const cuda::Event from(cuda::Event::Timing::on), to(cuda::Event::Timing::on);
  const auto run = [&] {
    from.record(stream_.get());
    work(volume_.data(), stream_.get());
    to.record(stream_.get());
    to.synchronize();
    return 1e-3 * static_cast<double>(cuda::Event::milliseconds(from, to));
  };
  cuda::check(cudaMemsetAsync(volume_.data(), 0, static_cast<std::size_t>(volume_.bytes()), stream_.get()),
              "clear the volume");
  const double first = run();
  for (std::size_t i = 0; i < truth_.offsets.size(); ++i)
    cuda::check(cudaMemcpyAsync(sampled_.data() + i, volume_.data() + truth_.offsets[i], sizeof(float),
                                cudaMemcpyDeviceToHost, stream_.get()),
                "read a voxel");
  stream_.synchronize();
  Timed timed;
  timed.sampled.assign(sampled_.data(), sampled_.data() + sampled_.size());
  timed.seconds = best_of_runs(first, repeats, run);
  return timed;
}

DeviceBench::Timed DeviceBench::time(int repeats, Held held, bool turns,
                                     const std::function<void(const Launch&)>& launcher, const Problem& problem) {
  const Scene& scene = *problem.scene;
  if (!views_ || held != held_) {
    views_.reset();
    views_ = std::make_unique<DeviceViews>(held, scene.geometry.columns, scene.geometry.rows, scene.views());
    views_->send(scene.pixels.data(), problem.matrices.data(), 0, scene.views(), stream_.get());
    stream_.synchronize();
    held_ = held;
  }
  bool turned = false;
  Launch launch;
  launch.pictures = views_->pictures();
  launch.matrices = problem.matrices.data();
  launch.views = static_cast<int>(scene.views());
  launch.size = static_cast<int>(problem.size);
  launch.terms = terms_.data();
  launch.turned = &turned;
  return time(repeats, [&](float* volume, cudaStream_t stream) {
    launch.volume = volume;
    launch.stream = stream;
    launcher(launch);
    if (turns) turn_back(launch);
  });
}

void DeviceBench::set_limit(measure::Figure& figure, double fetches_per_update, int views_per_launch) const {
  const auto launches = static_cast<double>((problem_.scene->views() + views_per_launch - 1) / views_per_launch);
  const double volume = 2.0 * static_cast<double>(volume_.bytes()) * launches / (1e9 * limits_.device_copy_gb_s);
  const double fetches = fetches_per_update * problem_.updates() / (1e9 * limits_.texture_samples);
  const bool memory = volume > fetches;
  figure.limit = memory ? "copy bandwidth" : "texture rate";
  figure.limit_rate = figure.work / std::max(volume, fetches);
  const double share = std::max(volume, fetches) / figure.seconds;
  figure.note = format("{}: traffic {:.0f} %, fetches {:.0f} % of the time",
                       share < 0.6 ? "instructions, latency, cache misses"
                       : memory    ? "the volume's traffic"
                                   : "the texture units",
                       100 * volume / figure.seconds, 100 * fetches / figure.seconds);
}

void set_host_note(measure::Figure& figure, const Problem& problem, const measure::Limits& limits,
                   double kernel_seconds) {
  const double up = static_cast<double>(problem.scene->pixels.bytes()) / (1e9 * limits.link_up_gb_s);
  const double down = static_cast<double>(problem.grid.voxels()) * sizeof(float) / (1e9 * limits.link_down_gb_s);
  figure.limit = "host link, views up and volume down";
  figure.limit_rate = figure.work / (up + down);
  figure.note = format("the link needs {:.1f} ms for the views and {:.1f} ms for the volume", 1e3 * up, 1e3 * down);
  if (kernel_seconds > 0) figure.note += format("; the kernel alone {:.1f} ms", 1e3 * kernel_seconds);
}

}  // namespace lepus::ladder
