// SPDX-License-Identifier: Apache-2.0
// How long the device's row filter takes for whole scans of 16-bit frames: every frame is checked against the CPU in a
// few rows first. Views are timed in batches that fit the memory, frames rotate so that the cache cannot hold them.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "device/cuda/cuda_check.h"
#include "device/cuda/devices.h"
#include "../tests/gpu/row_filter_cases.h"
#include <lepus/error.h>

namespace lepus::gpu_test {
namespace {

struct Problem {
  const char* name;
  std::int64_t views, columns, rows;
  double range_deg, shift_mm, bar_ms;
  bool flats;
  std::int64_t transform;  // 0: the fused kernel's
};

ScanGeometry scan_of(const Problem& p) {
  CircularScan s;
  s.source_axis_mm = 750;
  s.source_detector_mm = 1200;
  s.columns = p.columns;
  s.rows = p.rows;
  s.pixel_width_mm = s.pixel_height_mm = 400.0 / static_cast<double>(p.columns);
  s.detector_shift_u_mm = p.shift_mm;
  for (std::int64_t i = 0; i < p.views; ++i)
    s.angles_rad.push_back(radians(p.range_deg * static_cast<double>(i) / static_cast<double>(p.views)));
  return build_scan(s);
}

void run(const Problem& p) {
  CaseOptions options;
  options.flats = p.flats;
  options.transform = p.transform;
  const RowCase c(scan_of(p), options);
  cuda::RowFilter filter = c.device_filter();
  constexpr std::int64_t different = 4;  // frames
  const std::int64_t frame = p.columns * p.rows, views = std::min<std::int64_t>(p.views, 496);
  cuda::DeviceBuffer<std::uint16_t> raw(views * frame);
  std::vector<std::vector<std::uint16_t>> frames;
  for (std::int64_t k = 0; k < different; ++k) frames.push_back(random_frame(k, frame));
  for (std::int64_t view = 0; view < views; ++view)
    cuda::copy_to_device(raw.data() + view * frame, frames[static_cast<std::size_t>(view % different)].data(),
                         static_cast<std::size_t>(frame) * 2, "upload");
  cuda::DeviceBuffer<float> out(views * p.rows * c.wide());
  const cuda::Stream stream;
  const auto filter_all = [&] {
    for (std::int64_t first = 0; first < p.views; first += views) {
      RowBatch batch;
      batch.first_view = first;
      batch.views = std::min(views, p.views - first);
      batch.row1 = batch.counted_row1 = p.rows;
      batch.pixels = raw.data();
      batch.view_pixels = frame;
      batch.out = out.data();
      batch.out_row = c.wide();
      batch.out_view = p.rows * c.wide();
      filter.filter(stream.get(), batch);
    }
  };
  filter_all();
  stream.synchronize();
  double rms = 0;
  const std::int64_t last = (p.views - 1) / views * views;  // the batch that lies in `out`
  for (const std::int64_t index : {std::int64_t{0}, (p.views - last) / 2, p.views - last - 1}) {
    const std::int64_t row0 = p.rows / 2 - 4, row1 = row0 + 6;
    const std::vector<float> expected = c.on_cpu(
        last + index, row0, row1, frames[static_cast<std::size_t>(index % different)].data() + row0 * p.columns);
    std::vector<float> got(expected.size());
    cuda::check(cudaMemcpy(got.data(), out.data() + (index * p.rows + row0) * c.wide(), got.size() * sizeof(float),
                           cudaMemcpyDeviceToHost),
                "download");
    rms = std::max(rms, difference(expected.data(), got.data(), static_cast<std::int64_t>(got.size())).rms);
  }
  std::vector<float> times;
  for (int repeat = 0; repeat < 15; ++repeat) {
    const cuda::Event from(cuda::Event::Timing::on), to(cuda::Event::Timing::on);
    from.record(stream.get());
    filter_all();
    to.record(stream.get());
    to.synchronize();
    times.push_back(cuda::Event::milliseconds(from, to));
  }
  std::sort(times.begin(), times.end());
  const double ms = static_cast<double>(times[times.size() / 2]);
  const double bytes = static_cast<double>(p.views * p.rows) * static_cast<double>(2 * p.columns + 4 * c.wide());
  std::printf("%-34s %8.2f ms (best %.2f; bar %g)  %6.2f Grows/s  %5.2f TB/s in and out  rms %.1e %s%s\n", p.name, ms,
              static_cast<double>(times[0]), p.bar_ms, static_cast<double>(p.views * p.rows) / ms * 1e-6,
              bytes / ms * 1e-9, rms, rms < 1e-6 ? "" : "WRONG ", filter.uses_cufft() ? "(cuFFT)" : "");
}

}  // namespace
}  // namespace lepus::gpu_test

// lepus_bench_cuda_row_filter [part of a problem's name]
int main(int count, char** arguments) {
  using lepus::gpu_test::Problem;
  if (const std::string why = lepus::cuda::why_unusable(); !why.empty()) {
    std::printf("skipped: no GPU can be used (%s)\n", why.c_str());
    return 0;
  }
  try {
    for (const Problem& p : {Problem{"496 x 1248x960 full", 496, 1248, 960, 360, 0, 8, true, 0},
                             Problem{"496 x 1248x960 full, one I0", 496, 1248, 960, 360, 0, 8, false, 0},
                             Problem{"496 x 1248x960 short scan", 496, 1248, 960, 220, 0, 8, true, 0},
                             Problem{"496 x 1248x960 half fan", 496, 1248, 960, 360, 120, 8, true, 0},
                             Problem{"496 x 1248x960 full, cuFFT", 496, 1248, 960, 360, 0, 8, true, 2592},
                             Problem{"1440 x 2048x2048 full", 1440, 2048, 2048, 360, 0, 60, true, 0},
                             Problem{"1440 x 2048x2048 full, one I0", 1440, 2048, 2048, 360, 0, 60, false, 0},
                             Problem{"1440 x 2048x2048 short scan", 1440, 2048, 2048, 220, 0, 60, true, 0},
                             Problem{"100 x 4096x4096 full", 100, 4096, 4096, 360, 0, 0, true, 0},
                             Problem{"20 x 8192x8192 full", 20, 8192, 8192, 360, 0, 0, true, 0}})
      if (count < 2 || std::strstr(p.name, arguments[1])) lepus::gpu_test::run(p);
  } catch (const lepus::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
