// SPDX-License-Identifier: Apache-2.0
// Joseph's projector: random voxels, seen from every side, from inside the volume, by cones, fans and parallel rays.
#include <cmath>

#include "device/forward_project_cases_test.h"
#include "operations.h"

namespace lepus::parity {
namespace {

// Rays are counted in what single precision can do to each at worst (single_precision_limit), and where a sampler
// weighs with 8 bits, in what weights that are off by 1/512 on both axes of every plane can do, with neighbours that
// differ by up to 1. Errors of the weights have any sign: their rms was 0.04 of that in 20 planes of random voxels
// (H200).
constexpr double weight_error = 1.0 / 512;

Truth truth_of(const ForwardJob& job, Precision precision) {
  Truth truth;
  for (const JosephView& view : job.views)
    for (std::int64_t v = 0; v < job.rows; ++v)
      for (std::int64_t u = 0; u < job.columns; ++u) {
        const JosephLine line = joseph_line(view, job.grid, static_cast<double>(u), static_cast<double>(v));
        const double eight_bits =
            precision == Precision::exact ? 0 : line.way_mm * (line.last - line.first + 1) * 2 * weight_error;
        truth.add(reference_line_integral(job, line),
                  forward_cases::single_precision_limit(line, job.grid) + eight_bits);
      }
  return truth;
}

std::vector<float> project(Machine& machine, const forward_cases::Case& c, Precision precision, const Way& way) {
  ScanGeometry geometry = forward_cases::scan_of(c);
  if (way.wrong)
    for (Matrix34& m : geometry.matrices)
      for (int j = 0; j < 4; ++j) m(1, j) += 0.5 * m(2, j);  // half a row
  const VolumeGrid grid = centred_grid(c.nx, c.ny, c.nz, c.step);
  const std::vector<float> volume = forward_cases::random_volume(grid);
  constexpr std::size_t around = 64;
  std::vector<float> all(static_cast<std::size_t>(geometry.views() * geometry.rows * geometry.columns) + 2 * around,
                         NAN);
  ForwardJob job = forward_job(geometry, grid, volume.data(), all.data() + around);
  ForwardReport report;
  ThreadPool alone(1);
  machine.work([&] {
    if (way.cut == 0)
      machine.device().forward_project(job, machine.devices(), report);
    else if (machine.is_host())  // slabs of two and of seven slices, on one thread
      forward_project_cpu(job, alone, report, (way.cut == 1 ? 2 : 7) * job.slice_voxels());
    else  // two and three workers share the views
      report = forward_project(geometry, grid, volume.data(), job.line_integrals,
                               compute_on(machine.kind(), way.cut == 1 ? "0,0" : "0,0,0", precision), alone);
  });
  machine.ran = report.kernel;
  for (std::size_t i = 0; i < around; ++i)
    if (!std::isnan(all[i]) || !std::isnan(all[all.size() - 1 - i])) return {};  // written beside what was asked for
  return {all.begin() + around, all.end() - around};
}

}  // namespace

std::vector<Case> projection_cases(Precision precision) {
  const auto kernel = [=](const Machine& m) -> std::string {
    return m.is_host()                     ? "pixels side by side"
           : precision == Precision::exact ? "fp32 weights"
           : m.kind() == "cuda"            ? "texture weights"
                                           : "sampler's weights";
  };
  std::vector<Case> cases;
  const auto add = [&](const forward_cases::Case& c, bool timed = false) {
    cases.push_back({.name = c.name,
                     .truth = {},
                     .run = [=](Machine& m, const Way& way) { return project(m, c, precision, way); },
                     .cuts = 2,
                     .has = [=](const Machine& m) { return precision == Precision::exact || !m.is_host(); },
                     .kernel = kernel});
    if (timed) return;
    cases.back().truth = [=] {
      const VolumeGrid grid = centred_grid(c.nx, c.ny, c.nz, c.step);
      const std::vector<float> volume = forward_cases::random_volume(grid);
      return truth_of(forward_job(forward_cases::scan_of(c), grid, volume.data(), nullptr), precision);
    };
  };
  for (const forward_cases::Case& c : forward_cases::cases) add(c);
  // More planes than an array of textures has layers.
  add({.name = "long", .nx = 4100, .ny = 3, .nz = 5, .columns = 40, .rows = 12, .step = {0.01, 1, 1}});
  if (precision == Precision::fast)  // images of OpenCL end before, which is an error that says so
    cases.back().has = [](const Machine& m) { return m.kind() == "cuda"; };
  if (timing())
    add({.name = "7 views of 250^2, 128^3",
         .nx = 128,
         .ny = 128,
         .nz = 128,
         .columns = 250,
         .rows = 250,
         .step = {0.16, 0.16, 0.16},
         .pixel = 0.16},
        true);
  return cases;
}

}  // namespace lepus::parity
