// SPDX-License-Identifier: Apache-2.0
// Backprojection on an OpenCL device: 496 views of 1248 x 960 pixels of 0.32 mm, whose matrices are all a little off,
// into 512^3 voxels of 0.5 mm. Times are the queue's own events around the kernels, the best of some runs; GUPS are
// voxel updates per second / 2^30. Each result is compared with the formulas in double precision on some thousand
// voxels before its time counts.
//   lepus_bench_opencl [--size 512] [--views 496] [--columns 1248] [--rows 960] [--device 0] [--repeats 3] [--sweep]
// --sweep tries other shapes of the kernel.
#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/measure/named_options.h"
#include "bench/suite/synthetic.h"
#include "core/format.h"
#include "device/opencl/backproject.h"
#include "device/opencl/device.h"
#include "device/precision_word.h"

namespace lepus::bench {
namespace {

using opencl::Backprojection;
using opencl::KernelShape;
using opencl::ViewTexels;

struct Options {
  std::int64_t size = 512, views = 496, columns = 1248, rows = 960, device = 0, repeats = 3, samples = 4000;
  bool sweep = false;
};

Options options_of(int argc, char** argv) {
  Options o;
  measure::read_named_options(argc, argv, "Backprojection by OpenCL, checked before it is timed.",
                              {{"--size", &o.size, "voxels along each axis"},
                               {"--views", &o.views},
                               {"--columns", &o.columns},
                               {"--rows", &o.rows},
                               {"--device", &o.device},
                               {"--repeats", &o.repeats},
                               {"--samples", &o.samples, "voxels that are checked"},
                               {"--sweep", &o.sweep, "other shapes of the kernel, too"}});
  return o;
}

std::string shape_name(const KernelShape& s) {
  return format("{}x{}x{}{}{}", s.tile_x, s.tile_y, s.slices, s.options.empty() ? "" : " ", s.options);
}

std::vector<KernelShape> shapes_to_try(const opencl::DeviceDescription& device) {
  std::vector<KernelShape> shapes;
  for (const int slices : {4, 8, 16})
    for (const auto& [x, y] : {std::pair{8, 8}, {16, 8}, {16, 16}, {32, 4}, {32, 8}, {32, 16}, {64, 4}}) {
      if (std::int64_t{x} * y > device.largest_group) continue;
      shapes.push_back({.tile_x = x, .tile_y = y, .slices = slices, .options = {}});
      if (device.name.find("NVIDIA") != std::string::npos)
        for (const int registers : {40, 64})
          shapes.push_back(
              {.tile_x = x, .tile_y = y, .slices = slices, .options = format("-cl-nv-maxrregcount={}", registers)});
    }
  return shapes;
}

// The store holds all views.
void send_views(ViewTexels& store, const Options& o, Device& device, Queue& queue) {
  std::vector<float> view(static_cast<std::size_t>(o.columns * o.rows));
  const Block sent = device.allocate(4 * o.columns * o.rows, Place::device);
  auto* const data = reinterpret_cast<float*>(sent.get());
  for (std::int64_t i = 0; i < o.views; ++i) {
    for (std::int64_t row = 0, at = 0; row < o.rows; ++row)
      for (std::int64_t column = 0; column < o.columns; ++column, ++at)
        view[static_cast<std::size_t>(at)] =
            synthetic_pixel(static_cast<unsigned>(i), static_cast<unsigned>(column), static_cast<unsigned>(row));
    device.copy(data, view.data(), 4 * o.columns * o.rows, queue);
    store.store({.data = data, .row_stride = o.columns, .view_stride = o.columns * o.rows}, i, 1, 0, o.rows, queue);
  }
}

// Whether all results were right.
bool run(const Options& o) {
  opencl::OpenclDevice device(opencl::library(), static_cast<int>(o.device));
  std::printf("%s\n%lld views of %lld x %lld into %lld^3, general matrices\n", device.info().name.c_str(),
              static_cast<long long>(o.views), static_cast<long long>(o.columns), static_cast<long long>(o.rows),
              static_cast<long long>(o.size));
  const VolumeGrid grid = cube_of_256_mm(o.size);
  const ScanGeometry geometry = build_scan(c_arm_scan(o.columns, o.rows, o.views, Orbit::general));
  ThreadPool threads;
  const auto samples = reference_samples(geometry, grid, Interpolation::linear, o.samples, threads);
  const auto queue = device.make_queue(QueueRank::usual);
  const Block volume = device.allocate(4 * grid.voxels(), Place::device);
  std::vector<float> result(static_cast<std::size_t>(grid.voxels()));
  bool right = true;
  for (const Precision precision : {Precision::exact, Precision::fast, Precision::half}) {
    Backprojection work(device.context(), geometry, grid, precision);
    ViewTexels store(device, device.context(), work.store_shape(o.views, o.rows), *queue);
    store.set_scale(4096.0f);  // of fp16: the views' values are below 2
    send_views(store, o, device, *queue);
    std::vector<KernelShape> shapes{usual_shape(device.context().device(), work.texel_kind())};
    if (o.sweep)
      for (const KernelShape& more : shapes_to_try(device.context().device())) shapes.push_back(more);
    const char* const name = precision_word(precision);
    for (const KernelShape& shape : shapes) {
      work.use_shape(shape);
      const Backprojection::Wedge wedge{&store, 0, 0, o.views};
      const Backprojection::Slab slab{reinterpret_cast<float*>(volume.get()), 0, grid.nz};
      device.clear(volume.get(), 4 * grid.voxels(), *queue);
      work.accumulate(wedge, slab, *queue);
      device.copy(result.data(), volume.get(), 4 * grid.voxels(), *queue);
      const SampleErrors errors = errors_of(samples, [&](const Sample& s) {
        return result[static_cast<std::size_t>((s.z * grid.ny + s.y) * grid.nx + s.x)];
      });
      const SampleErrors limits = precision == Precision::exact ? exact_limits : texture_limits;
      const bool good = errors.rms <= limits.rms && errors.largest <= limits.largest;
      right = right && good;
      double seconds = 1e30;
      for (std::int64_t i = 0; i < o.repeats && good; ++i) {
        const auto start = device.make_event(Timing::on), stop = device.make_event(Timing::on);
        start->mark(*queue);
        work.accumulate(wedge, slab, *queue);
        stop->mark(*queue);
        stop->wait();
        seconds = std::min(seconds, stop->seconds_since(*start));
      }
      const double gups = static_cast<double>(grid.voxels()) * static_cast<double>(o.views) / 1073741824.0 / seconds;
      std::printf("%-5s %-40s %9.2f ms %8.1f GUPS  rms %.1e largest %.1e%s\n", name, shape_name(shape).c_str(),
                  1e3 * seconds, gups, errors.rms, errors.largest, good ? "" : "  WRONG");
      std::fflush(stdout);
    }
    std::printf("      %s\n", work.description().c_str());
  }
  return right;
}

}  // namespace
}  // namespace lepus::bench

int main(int argc, char** argv) {
  try {
    return lepus::bench::run(lepus::bench::options_of(argc, argv)) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
