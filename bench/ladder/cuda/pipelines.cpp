// SPDX-License-Identifier: Apache-2.0
#include "bench/ladder/cuda/pipelines.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <thread>

#include "device/cuda/cuda_check.h"
#include "bench/measure/clock.h"

namespace lepus::ladder {

Pipeline::Pipeline(const Problem& problem, const Step& step, HostMemory& memory)
    : problem_(problem),
      step_(step),
      blocks_((problem.scene->views() + step.views_at_once - 1) / step.views_at_once),
      volume_(problem.grid.voxels()) {
  const ScanGeometry& g = problem.scene->geometry;
  const bool overlapped = step.way != Way::in_order;
  for (std::size_t i = 0; i < (overlapped ? buffers_.size() : 1); ++i) {
    buffers_[i].views = std::make_unique<DeviceViews>(step.held, g.columns, g.rows, step.views_at_once);
  }
  host_ = overlapped ? memory.locked_volume() : memory.ordinary_volume();
  if (!overlapped) return;
  const std::int64_t pixels = step.views_at_once * problem.scene->view_pixels();
  buffers_[0].pinned = memory.locked_views(2 * pixels);
  buffers_[1].pinned = buffers_[0].pinned + pixels;
}

std::int64_t Pipeline::views_of(std::int64_t block) const {
  return std::min(step_.views_at_once, problem_.scene->views() - first_view(block));
}

void Pipeline::add(std::int64_t buffer, std::int64_t block) {
  Launch launch;
  launch.pictures = buffers_[static_cast<std::size_t>(buffer)].views->pictures();
  launch.matrices = problem_.matrices.data() + first_view(block);
  launch.views = static_cast<int>(views_of(block));
  launch.volume = volume_.data();
  launch.size = static_cast<int>(problem_.size);
  launch.turned = &turned_;
  launch.stream = work_.get();
  step_.launcher(launch);
  if (block + 1 == blocks_ && step_.turns) turn_back(launch);
}

void Pipeline::send(std::int64_t buffer, std::int64_t block, const float* pixels, cudaStream_t stream) {
  buffers_[static_cast<std::size_t>(buffer)].views->send(pixels, problem_.matrices.data() + first_view(block), 0,
                                                         views_of(block), stream);
}

void Pipeline::stage(std::int64_t block) {
  Buffer& buffer = buffers_[static_cast<std::size_t>(block % 2)];
  if (block >= 2) buffer.arrived.synchronize();  // what was sent from here before
  const float* const from = problem_.scene->view(first_view(block));
  std::copy_n(from, views_of(block) * problem_.scene->view_pixels(), buffer.pinned);
  if (block >= 2) up_.wait_for(buffer.used.get());
  send(block % 2, block, buffer.pinned, up_.get());
  buffer.arrived.record(up_.get());
}

void Pipeline::run_in_order() {
  for (std::int64_t block = 0; block < blocks_; ++block) {
    send(0, block, problem_.scene->view(first_view(block)), work_.get());
    add(0, block);
  }
}

void Pipeline::run_overlapped() {
  const auto sum = [&](std::int64_t block) {
    Buffer& buffer = buffers_[static_cast<std::size_t>(block % 2)];
    work_.wait_for(buffer.arrived.get());
    add(block % 2, block);
    buffer.used.record(work_.get());
  };
  if (step_.way == Way::prefetch) {
    for (std::int64_t block = 0; block < blocks_; ++block) {
      stage(block);
      sum(block);
    }
    return;
  }
  // Blocks that are on their way up, and blocks whose sum has been asked for: the thread may run two ahead.
  std::atomic<std::int64_t> staged{0}, asked{0};
  std::exception_ptr failure;
  constexpr std::int64_t over = std::numeric_limits<std::int64_t>::max();
  int device = 0;
  cuda::check(cudaGetDevice(&device), "ask for the device");
  std::thread copier([&] {
    try {
      cuda::check(cudaSetDevice(device), "use the device");
      for (std::int64_t block = 0; block < blocks_; ++block) {
        for (std::int64_t seen = asked.load(); block >= seen + 2; seen = asked.load()) asked.wait(seen);
        stage(block);
        staged.store(block + 1);
        staged.notify_one();
      }
    } catch (...) {
      failure = std::current_exception();
      staged.store(over);
      staged.notify_one();
    }
  });
  try {
    for (std::int64_t block = 0; block < blocks_; ++block) {
      for (std::int64_t seen = staged.load(); seen <= block; seen = staged.load()) staged.wait(seen);
      if (staged.load() == over) break;
      sum(block);
      asked.store(block + 1);
      asked.notify_one();
    }
  } catch (...) {
    asked.store(over - 2);  // lets the thread come to its end
    asked.notify_one();
    copier.join();
    throw;
  }
  copier.join();
  if (failure) std::rethrow_exception(failure);
}

double Pipeline::run() {
  cuda::check(cudaDeviceSynchronize(), "wait for the device");
  turned_ = false;
  const double start = measure::seconds();
  cuda::check(cudaMemsetAsync(volume_.data(), 0, static_cast<std::size_t>(volume_.bytes()), work_.get()),
              "clear the volume");
  if (step_.way == Way::in_order)
    run_in_order();
  else
    run_overlapped();
  cuda::check(cudaMemcpyAsync(host_, volume_.data(), static_cast<std::size_t>(volume_.bytes()), cudaMemcpyDeviceToHost,
                              work_.get()),
              "download the volume");
  work_.synchronize();
  return measure::seconds() - start;
}

}  // namespace lepus::ladder
