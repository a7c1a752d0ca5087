// SPDX-License-Identifier: Apache-2.0
// For the fault tests: a phantom's sinogram in a parallel beam, line integrals, with the noise of a number of photons.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/threads.h"
#include "project/planes.h"
#include "simulate/builtin_phantoms.h"
#include "simulate/random.h"
#include <lepus/math.h>

namespace lepus {

// Views x columns, views from top to bottom.
struct Sinogram {
  Sinogram(std::int64_t wide, std::int64_t high)
      : columns(wide), views(high), values(static_cast<std::size_t>(wide * high)) {}
  std::int64_t columns, views;
  std::vector<float> values;
  float& at(std::int64_t x, std::int64_t y) { return values[static_cast<std::size_t>(y * columns + x)]; }
  Planes planes() { return {values.data(), columns, views, columns, 1, columns * views}; }
};

struct ParallelBeam {
  std::int64_t columns = 0, views = 0;
  double field_mm = 100, turn_rad = 2 * pi;
  double photons = 1e5;     // in the open beam; 0: no noise
  std::uint32_t noise = 3;  // which noise
};

// Two samples to a pixel.
inline Sinogram parallel_scan(const Phantom& phantom, const ParallelBeam& beam, ThreadPool& threads) {
  Sinogram s(beam.columns, beam.views);
  threads.parallel_for(0, beam.views, 1, [&](std::int64_t begin, std::int64_t end, int) {
    Phantom::Scratch scratch;
    for (std::int64_t y = begin; y < end; ++y) {
      const double a = beam.turn_rad * static_cast<double>(y) / static_cast<double>(beam.views);
      for (std::int64_t x = 0; x < beam.columns; ++x) {
        double p = 0;
        for (const double part : {-0.25, 0.25}) {
          const double u = (static_cast<double>(x) + part - 0.5 * static_cast<double>(beam.columns - 1)) *
                           beam.field_mm / static_cast<double>(beam.columns);
          const Vec3 through{u * std::cos(a), u * std::sin(a), 0}, along{-std::sin(a), std::cos(a), 0};
          p += 0.5 * phantom.line_integral({through, along}, scratch);
        }
        if (beam.photons > 0) {
          Random random(beam.noise, 2, static_cast<std::uint32_t>(y), static_cast<std::uint64_t>(x));
          const std::uint64_t counted = random.poisson(beam.photons * std::exp(-p));
          p = -std::log(static_cast<double>(std::max<std::uint64_t>(counted, 1)) / beam.photons);
        }
        s.at(x, y) = static_cast<float>(p);
      }
    }
  });
  return s;
}

// A body off the axis with pores and grains.
inline Phantom porous_body() {
  std::vector<Shape> shapes{ellipsoid({7, 4, 0}, {36, 28, 50}, 0.04)};
  for (std::uint64_t i = 0; i < 14; ++i) {
    Random random(7, 1, 0, i);
    const double angle = 2 * pi * random.uniform(), distance = 20 * std::sqrt(random.uniform());
    const double size = 2 + 4 * random.uniform();
    shapes.push_back(sphere({7 + distance * std::cos(angle), 4 + distance * std::sin(angle), 0}, size,
                            random.uniform() < 0.5 ? -0.025 : 0.03));
  }
  return {"porous body", Combine::add, shapes};
}

}  // namespace lepus
