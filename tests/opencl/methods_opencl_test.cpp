// SPDX-License-Identifier: Apache-2.0
// Iterative methods whose vectors lie in an OpenCL device's memory give what they give on the host.
#include <cmath>

#include "iterative/iterate.h"
#include "iterative/method.h"
#include "opencl_fixture.h"
#include "operators/scan_map.h"
#include "operators/test_scans.h"

namespace lepus::opencl {
namespace {

using namespace operator_cases;
using methods_opencl = DoublesTest;

// Twenty views of a box with a hole, by the host's operator.
struct Measured {
  ScanGeometry geometry;
  VolumeGrid grid = centred_grid(18, 18, 16, {1, 1, 1});
  std::vector<float> volume, lines;

  Measured() : volume(static_cast<std::size_t>(grid.voxels())) {
    CircularScan scan = circle(Beam::cone);
    scan.angles_rad.clear();
    for (int i = 0; i < 20; ++i) scan.angles_rad.push_back(2 * pi * i / 20);
    geometry = build_scan(scan);
    for (std::int64_t z = 4; z < 12; ++z)
      for (std::int64_t y = 4; y < 13; ++y)
        for (std::int64_t x = 3; x < 14; ++x)
          volume[static_cast<std::size_t>((z * grid.ny + y) * grid.nx + x)] = x == 8 && y == 8 ? 0.0F : 0.02F;
    const Operator a(geometry, grid, on("cpu", RayModel::joseph));
    lines.resize(static_cast<std::size_t>(a.values()));
    a.forward(volume, lines);
  }
};

std::vector<float> reconstructed(const Measured& scan, const char* backend, const MethodOptions& options) {
  const auto map = make_scan_map(scan.geometry, scan.grid, on(backend, RayModel::joseph), {});
  EXPECT_EQ(map->home().info().kind, backend);
  Problem problem;
  problem.map = map.get();
  problem.data = Vector::of_line_integrals(*map);
  map->home().copy(problem.data.data(), scan.lines.data(), problem.data.bytes(), map->queue());
  const auto method = make_method(problem, options);
  iterate(*method, problem, options);
  std::vector<float> volume(scan.volume.size());
  method->download(volume.data(), method->volume().data(), std::ssize(volume));
  map->queue().wait();
  return volume;
}

TEST_F(methods_opencl, give_what_the_host_gives) {
  const Measured scan;
  MethodOptions cgls, sart, tv;
  cgls.method = "cgls";
  sart.method = "os-sart";
  sart.subsets = 4;
  tv.method = "fista-tv";
  tv.strength = 0.02;
  tv.low = 0;
  for (MethodOptions options : {cgls, sart, tv}) {
    options.iterations = 5;
    const std::vector<float> host = reconstructed(scan, "cpu", options), found = reconstructed(scan, "opencl", options);
    double off = 0, size = 0, change = 0;
    for (std::size_t i = 0; i < host.size(); ++i) {
      off += std::pow(static_cast<double>(found[i]) - static_cast<double>(host[i]), 2);
      change += std::pow(static_cast<double>(scan.volume[i]) - static_cast<double>(host[i]), 2);
      size += std::pow(static_cast<double>(host[i]), 2);
    }
    // Operators differ by some 1e-6, sums of a method's own by less; five steps add up a few of them.
    EXPECT_LT(std::sqrt(off / size), 2e-5) << options.method;
    EXPECT_LT(std::sqrt(change / size), 0.5) << options.method;  // it is a reconstruction
  }
}

}  // namespace
}  // namespace lepus::opencl
