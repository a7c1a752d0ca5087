// SPDX-License-Identifier: Apache-2.0
#include "rtk_gate.h"

#include <cmath>

#include "measure.h"
#include "simulate/builtin_phantoms.h"
#include "simulate/voxelise.h"
#include <lepus/reconstruct.h>

namespace lepus::accuracy {
namespace {

constexpr std::int64_t size = 128;
constexpr int views = 180;

// RTK's x, y (up, along its rotation axis) and z (towards the source) are our u, -v and -depth; the detector stays on
// the axis' central ray.
CircularScan rtk_scan() {
  CircularScan s;
  s.source_axis_mm = 600;
  s.source_detector_mm = 1200;
  s.columns = s.rows = size;
  s.pixel_width_mm = s.pixel_height_mm = 4;
  ViewPerturbation moved;
  moved.source_mm = {20, -15, 0};
  for (int i = 0; i < views; ++i) s.angles_rad.push_back(2 * pi * i / views);
  s.perturbations.assign(views, moved);
  return s;
}

bool seen_by_all(const ScanGeometry& geometry, Vec3 x) {
  for (const Matrix34& matrix : geometry.matrices) {
    const Vec3 p = transform(matrix, x);
    const double u = p.x / p.z, v = p.y / p.z;
    if (!(u >= 0 && v >= 0 && u <= static_cast<double>(geometry.columns - 1) &&
          v <= static_cast<double>(geometry.rows - 1)))
      return false;
  }
  return true;
}

struct Errors {
  double absolute = 0, squared = 0, count = 0;
  void add(double difference) {
    absolute += std::abs(difference);
    squared += difference * difference;
    ++count;
  }
  double mean() const { return absolute / count; }
  double psnr() const { return 10 * std::log10(rtk_peak * rtk_peak * count / squared); }
};

}  // namespace

RtkGate measure_rtk_gate(ThreadPool& threads) {
  const ScanGeometry geometry = build_scan(rtk_scan());
  const Phantom phantom = shepp_logan(SheppLogan::rtk, 116);
  const std::vector<float> lines = projections(phantom, geometry, 1, threads);
  const VolumeGrid g = centred_grid(size, size, size, {2, 2, 2});
  std::vector<float> volume(static_cast<std::size_t>(g.voxels())), truth(volume.size());
  FdkOptions options;
  options.compute.backend = "cpu";
  options.compute.threads = threads.size();
  fdk(geometry, lines, g, volume, options);
  voxelise(phantom, g, 0, g.nz, 1, truth.data(), threads);

  std::vector<unsigned char> seen(volume.size());
  threads.parallel_for(0, g.nz, 1, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t k = begin; k < end; ++k)
      for (std::int64_t j = 0; j < g.ny; ++j)
        for (std::int64_t i = 0; i < g.nx; ++i)
          seen[static_cast<std::size_t>((k * g.ny + j) * g.nx + i)] =
              seen_by_all(geometry, g.centre(static_cast<double>(i), static_cast<double>(j), static_cast<double>(k)));
  });
  Errors inside, whole;
  for (std::size_t i = 0; i < volume.size(); ++i) {
    const double reference = static_cast<double>(truth[i]);
    if (seen[i] != 0) inside.add(static_cast<double>(volume[i]) - reference);
    whole.add((seen[i] != 0 ? static_cast<double>(volume[i]) : 0) - reference);
  }
  return {inside.mean(), inside.psnr(), whole.mean(), whole.psnr(), inside.count / whole.count};
}

}  // namespace lepus::accuracy
