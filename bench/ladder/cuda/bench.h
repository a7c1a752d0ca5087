// SPDX-License-Identifier: Apache-2.0
// Timing of kernels whose views and volume lie on the device, and what the device could do at most.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/ladder/cuda/table.h"
#include "bench/ladder/figures.h"
#include "bench/measure/limits.h"

namespace lepus::ladder {

// How often something is run again after a first, checked run of so many seconds: a run of half a second needs no
// second one to be known to a hundredth, and the whole ladder at 1024^3 should not take minutes.
int runs_after(double first_seconds, int repeats);
// The best of a first run and those after it.
double best_of_runs(double first_seconds, int repeats, const std::function<double()>& run);

class DeviceBench {
public:
  DeviceBench(const Problem& problem, const Truth& truth, const measure::Limits& limits);

  const measure::Limits& limits() const { return limits_; }

  struct Timed {
    double seconds = 0;
    std::vector<float> sampled;
  };
  // Calls `work` on a volume of zeros and reads the sampled voxels, then calls it again where it was quick, at most
  // `repeats` times: the best time counts.
  using Work = std::function<void(float* volume, cudaStream_t stream)>;
  Timed time(int repeats, const Work& work) const;
  // A launcher on all views; `problem` may be another one of the same scene and size.
  Timed time(int repeats, Held held, bool turns, const std::function<void(const Launch&)>& launcher,
             const Problem& problem);

  // The most that kernels with so many fetches per update and views per launch could do, and what sets it.
  void set_limit(measure::Figure& figure, double fetches_per_update, int views_per_launch) const;

private:
  const Problem& problem_;
  const Truth& truth_;
  const measure::Limits& limits_;
  cuda::Stream stream_;
  cuda::DeviceBuffer<float> volume_;
  cuda::DeviceBuffer<float4> terms_;
  cuda::PinnedBuffer<float> sampled_;
  std::unique_ptr<DeviceViews> views_;
  Held held_ = Held::texture;
};

// The groups of figures; each asks options.only.
void run_steps(const LadderOptions& options, const Problem& problem, const Truth& truth, DeviceBench& bench,
               Context& context, std::vector<measure::Figure>& figures);
void run_ours(const LadderOptions& options, const Problem& problem, const Truth& truth, DeviceBench& bench,
              Context& context, std::vector<measure::Figure>& figures);
inline bool is_first(const LadderOptions& options, const Problem& problem) {
  return problem.size == options.sizes.front();
}
// Adds what it found to the notes of the steps that were taken apart.
std::size_t apart_stages();  // figures it makes
void run_ablation(const LadderOptions& options, const Problem& problem, const Truth& truth, DeviceBench& bench,
                  Context& context, std::vector<measure::Figure>& figures);
std::vector<BShape> sweep_shapes();
void run_sweep(const Problem& problem, const Truth& truth, DeviceBench& bench, Context& context,
               std::vector<measure::Figure>& figures);

// What a way from host to host is made of, for the note: the kernel's part and the least the link needs.
void set_host_note(measure::Figure& figure, const Problem& problem, const measure::Limits& limits,
                   double kernel_seconds);

}  // namespace lepus::ladder
