// SPDX-License-Identifier: Apache-2.0
// For tests: the rows that find_center needs, of a simulated scan whose detector is not where the scan file says, with
// photon noise.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "align/center.h"
#include "simulate/builtin_phantoms.h"
#include "simulate/project.h"
#include "simulate/random.h"

namespace lepus::align_test {

inline CircularScan cone_scan(std::int64_t columns, std::int64_t rows, std::int64_t views, double arc_deg = 360) {
  CircularScan s;
  s.source_axis_mm = 300;
  s.source_detector_mm = 600;
  s.columns = columns;
  s.rows = rows;
  s.pixel_width_mm = s.pixel_height_mm = 200.0 / static_cast<double>(columns);  // field of view: about 98 mm
  for (std::int64_t i = 0; i < views; ++i)
    s.angles_rad.push_back(radians(arc_deg) * static_cast<double>(i) / static_cast<double>(views));
  return s;
}

inline CircularScan parallel_scan(std::int64_t columns, std::int64_t rows, std::int64_t views, double arc_deg = 180) {
  CircularScan s = cone_scan(columns, rows, views, arc_deg);
  s.beam = Beam::parallel;
  s.pixel_width_mm = s.pixel_height_mm = 100.0 / static_cast<double>(columns);
  return s;
}

// Shepp-Logan's head, a block with pores, FORBILD's head scaled down: 60 to 80 mm across, line integrals up to about 2.
inline Phantom phantom_of(const std::string& name) {
  if (name == "shepp-logan") return shepp_logan(SheppLogan::modified, 36, 0.06);
  if (name == "porous")
    return porous_block({.size_mm = {50, 44, 60},
                         .value_per_mm = 0.03,
                         .pores = 300,
                         .smallest_radius_mm = 0.8,
                         .largest_radius_mm = 3,
                         .overlap = false,
                         .seed = 3})
        .phantom;
  Phantom head = forbild_head(true, 0.06);
  std::vector<Shape> shapes = head.shapes();
  const double scale = 0.3;
  for (Shape& shape : shapes) {
    shape.centre_mm = scale * shape.centre_mm;
    shape.half_axes_mm = scale * shape.half_axes_mm;
    for (ClipPlane& clip : shape.clips) clip.offset_mm *= scale;
  }
  return Phantom(head.name(), head.combine(), shapes);
}

// `truth` is how the frames were taken, `stated` what the scan file says. photons = 0: no noise.
inline CenterInput noisy_rows(const Phantom& phantom, const CircularScan& truth, const CircularScan& stated,
                              std::int64_t bands, double photons, std::uint64_t seed, const AxisSearch& options,
                              ThreadPool& threads) {
  const ScanGeometry real = build_scan(truth);
  CenterInput input{build_scan(stated), {}, {}, options};
  const PhantomProjector projector(phantom, real, {.subpixels = 2});
  std::vector<Camera> cameras;
  for (std::int64_t view = 0; view < real.views(); ++view) cameras.push_back(camera_of(real, view));
  for (const RowBand& request : center_bands(input.geometry, bands, options)) {
    CenterBand band{static_cast<double>(request.first), request.size(), {}};
    band.line_integrals.resize(static_cast<std::size_t>(band.rows * real.views() * real.columns));
    threads.parallel_for(0, band.rows * real.views(), 8, [&](std::int64_t begin, std::int64_t end, int) {
      Phantom::Scratch scratch;
      for (std::int64_t item = begin; item < end; ++item) {
        const std::int64_t view = item % real.views();
        const double row = band.first_row + static_cast<double>(item / real.views());
        for (std::int64_t u = 0; u < real.columns; ++u) {
          double p = projector.at(cameras[static_cast<std::size_t>(view)], static_cast<double>(u), row, scratch);
          if (photons > 0) {
            Random random(seed, static_cast<std::uint32_t>(row + 0.5), static_cast<std::uint32_t>(view),
                          static_cast<std::uint64_t>(u));
            p = -std::log(std::max(1.0, static_cast<double>(random.poisson(photons * std::exp(-p)))) / photons);
          }
          band.line_integrals[static_cast<std::size_t>(item * real.columns + u)] = static_cast<float>(p);
        }
      }
    });
    input.bands.push_back(std::move(band));
  }
  return input;
}

}  // namespace lepus::align_test
