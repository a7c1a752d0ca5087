// SPDX-License-Identifier: Apache-2.0
// Operators and their transposes: random voxels and pixels, seen from every side, from inside the volume, by cones,
// fans and parallel rays.
#include <cmath>

#include "core/threads.h"
#include "device/ray_projector.h"
#include "device/ray_projector_cases_test.h"
#include "device/test_values.h"
#include "operations.h"
#include "project/visit_voxels.h"

namespace lepus::parity {
namespace {

// Joseph's rays are counted in what single precision can do to each at worst (single_precision_limit), and where a
// sampler weighs with 8 bits, in what weights that are off by 1/512 on both axes of every plane can do, with neighbours
// that differ by up to 1. Errors of the weights have any sign: their rms was 0.04 of that in 20 planes of random voxels
// (H200).
constexpr double weight_error = 1.0 / 512;

VolumeGrid grid_of(const ray_cases::Case& c) { return centred_grid(c.nx, c.ny, c.nz, c.step); }

double line_integral(const JosephLine& line, const JosephGrid& grid, const std::vector<float>& volume) {
  const IndexBox box = whole_grid(grid);
  double sum = 0;
  visit_joseph(line, box, [&](int x, int y, int z, double weight) {
    const std::int64_t row = (std::int64_t{z} - box.first[2]) * grid.size[1] + y - box.first[1];
    sum += weight * static_cast<double>(volume[static_cast<std::size_t>(row * grid.size[0] + x - box.first[0])]);
  });
  return sum;
}

Truth truth_of_rays(const ray_cases::Case& c, Precision precision) {
  const RayViews rays = ray_views(ray_cases::scan_of(c), grid_of(c));
  const std::vector<float> volume = ray_cases::random_volume(grid_of(c));
  Truth truth;
  for (const JosephView& view : rays.views)
    for (std::int64_t v = 0; v < rays.rows; ++v)
      for (std::int64_t u = 0; u < rays.columns; ++u) {
        const JosephLine line = joseph_line(view, rays.grid, static_cast<double>(u), static_cast<double>(v));
        const double eight_bits =
            precision == Precision::exact ? 0 : line.way_mm * (line.last - line.first + 1) * 2 * weight_error;
        truth.add(line_integral(line, rays.grid, volume),
                  ray_cases::single_precision_limit(line, rays.grid) + eight_bits);
      }
  return truth;
}

// A projector of a case, and how it is asked for pieces.
class Rays {
public:
  Rays(Machine& machine, const ray_cases::Case& c, RayModel model, Precision precision, const Way& way)
      : machine_(machine), geometry_(ray_cases::scan_of(c)), grid_(grid_of(c)), cut_(way.cut) {
    if (way.wrong)
      for (Matrix34& m : geometry_.matrices)
        for (int j = 0; j < 4; ++j) m(1, j) += 0.5 * m(2, j);  // half a row
    projector_ = machine.device().make_ray_projector({&geometry_, grid_, model, precision});
    machine.ran = projector_->description();
  }

  // At once; some rows of a view after the other; some views after the other.
  std::vector<float> project() {
    const Guarded<float> volume(machine_, ray_cases::random_volume(grid_));
    const Guarded<float> lines(machine_, std::vector<float>(static_cast<std::size_t>(values()), NAN));
    const std::int64_t at_once = cut_ == 0 ? geometry_.views() : cut_ == 1 ? 1 : 3;
    const std::int64_t height = cut_ == 1 ? 7 : geometry_.rows;
    machine_.work([&] {
      for (std::int64_t view = 0; view < geometry_.views(); view += at_once)
        for (std::int64_t row = 0; row < geometry_.rows; row += height) {
          float* const to = lines.data() + (view * geometry_.rows + row) * geometry_.columns;
          projector_->forward(
              {volume.data(), {0, grid_.nz}},
              {to, view, std::min(at_once, geometry_.views() - view), {row, std::min(row + height, geometry_.rows)}},
              machine_.queue());
        }
    });
    return lines.values();
  }

  // At once; in slabs of one slice, of five.
  std::vector<float> transpose() {
    const Guarded<float> lines(machine_, random_values(values(), 3));
    const Guarded<float> volume(machine_, std::vector<float>(static_cast<std::size_t>(grid_.voxels())));
    const std::int64_t thickness = cut_ == 0 ? grid_.nz : cut_ == 1 ? 1 : 5;
    machine_.work([&] {
      for (std::int64_t z = 0; z < grid_.nz; z += thickness)
        projector_->adjoint({lines.data(), 0, geometry_.views(), {0, geometry_.rows}},
                            {volume.data() + z * grid_.nx * grid_.ny, {z, std::min(z + thickness, grid_.nz)}},
                            machine_.queue());
    });
    return volume.values();
  }

private:
  std::int64_t values() const { return geometry_.views() * geometry_.rows * geometry_.columns; }
  Machine& machine_;
  ScanGeometry geometry_;
  VolumeGrid grid_;
  int cut_;
  std::unique_ptr<RayProjector> projector_;
};

// By the reference: the same model in double precision.
Truth truth_of(const ray_cases::Case& c, RayModel model, std::vector<float> (Rays::*operation)()) {
  ThreadPool threads(2);
  Machine reference(open_devices(compute_on("reference"), threads));
  const std::vector<float> values = (Rays(reference, c, model, Precision::exact, {}).*operation)();
  return {{values.begin(), values.end()}, {}};
}

}  // namespace

std::vector<Case> projection_cases(Precision precision) {
  const auto kernel = [=](const Machine& m) -> std::string {
    return m.is_host()                     ? ""
           : precision == Precision::exact ? "fp32 weights"
           : m.kind() == "cuda"            ? "texture weights"
                                           : "sampler's weights";
  };
  std::vector<Case> cases;
  const auto add = [&](const ray_cases::Case& c, bool timed = false) {
    cases.push_back(
        {.name = c.name,
         .truth = {},
         .run = [=](Machine& m, const Way& way) { return Rays(m, c, RayModel::joseph, precision, way).project(); },
         .cuts = 2,
         .has = [=](const Machine& m) { return precision == Precision::exact || !m.is_host(); },
         .kernel = kernel});
    if (!timed) cases.back().truth = [=] { return truth_of_rays(c, precision); };
  };
  for (const ray_cases::Case& c : ray_cases::cases) add(c);
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

std::vector<Case> model_cases(RayModel model, bool transposed) {
  const auto operation = transposed ? &Rays::transpose : &Rays::project;
  std::vector<Case> cases;
  for (const ray_cases::Case& c : ray_cases::cases)
    cases.push_back(
        {.name = c.name,
         .truth = [=] { return truth_of(c, model, operation); },
         .run = [=](Machine& m, const Way& way) { return (Rays(m, c, model, Precision::exact, way).*operation)(); },
         .cuts = 2,
         .has = {}});
  return cases;
}

}  // namespace lepus::parity
