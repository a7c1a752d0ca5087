// SPDX-License-Identifier: Apache-2.0
// For tests: parts whose views a device traces, against the host's own projector.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "simulate/test_surfaces.h"
#include "simulate/traced_views.h"

namespace lepus::traced_views_test {

inline Shape part_of(const std::vector<Triangle>& triangles, double value, const std::string& material = {}) {
  Shape part;
  part.kind = ShapeKind::mesh;
  part.mesh = std::make_shared<ClosedMesh>(triangles, "part");
  part.value = value;
  part.material = material;
  return part;
}

inline CircularScan scan_of(Beam beam, bool arc = false) {
  CircularScan s;
  s.beam = beam;
  s.arc = arc;
  s.source_axis_mm = 60;
  s.source_detector_mm = 90;
  s.columns = 45;
  s.rows = 33;
  s.pixel_width_mm = beam == Beam::parallel ? 0.8 : 1.2;
  s.pixel_height_mm = beam == Beam::cone ? 1.2 : 0.8;
  s.angles_rad = {0, 0.7, pi / 2, 4};
  return s;
}

struct NamedPhantom {
  std::string name;
  Phantom phantom;
};

// Rays at 0 and 90 degrees run along faces, edges and the diagonals of boxes: those are moved.
inline std::vector<NamedPhantom> phantoms() {
  const auto cube = box_surface({-4, -4, -4}, {4, 4, 4}), cavity = box_surface({-1, -1, -1}, {1, 1, 1}, true);
  std::vector<Triangle> fence;  // sixteen walls: more crossings than a device takes at a time
  for (int i = 0; i < 16; ++i) {
    const auto x = static_cast<float>(i) - 8;
    fence = joined(fence, box_surface({x, -5, -5}, {x + 0.5F, 5, 5}));
  }
  Shape turned = part_of(box_surface({-1, -2, -3}, {1, 2, 3}), 0.05);
  turned.half_axes_mm = {2, 2, 2};
  turned.centre_mm = {1, -1, 2};
  turned.axes = rotation(0.3, -0.5, 1.1);
  turned.clips = {{{1, 0, 0.5}, 2}, {{0, 0, -1}, 3}};
  const Shape ball = part_of(ball_surface(5, 40), 0.02), hollow = part_of(joined(cube, cavity), 0.03);
  const Shape bars = part_of(fence, 0.1);
  const Shape iron = part_of(cube, 7.9, "iron"), water = part_of(ball_surface(6, 20), 1, "water");
  std::vector<NamedPhantom> all;
  all.push_back({"a ball", Phantom("ball", Combine::add, {ball})});
  all.push_back({"added", Phantom("added", Combine::add, {ball, hollow, turned})});
  all.push_back({"the last counts", Phantom("replaced", Combine::replace, {ball, hollow, turned})});
  all.push_back({"walls", Phantom("walls", Combine::replace, {bars, ball})});
  all.push_back({"materials", Phantom("materials", Combine::replace, {water, iron, turned})});
  return all;
}

inline std::vector<std::pair<PixelRays, Spectrum>> ways(Beam beam) {
  std::vector<std::pair<PixelRays, Spectrum>> all{
      {{}, {}},
      {{.subpixels = 2, .average = PixelAverage::intensity}, {}},
      {{.subpixels = 2}, {{.energy_kev = 40, .weight = 0.6}, {.energy_kev = 90, .weight = 0.4}}}};
  if (beam != Beam::parallel) all.push_back({{.subpixels = 1, .spot_diameter_mm = 0.5, .spot_samples = 3}, {}});
  return all;
}

// Operations and their order are the host's, each rounded alike: the same floats, in every bit.
inline void expect_views_of_the_host(Devices& devices, ThreadPool& threads) {
  for (const auto& [name, phantom] : phantoms())
    for (const auto& [beam, arc] :
         {std::pair{Beam::cone, false}, {Beam::cone, true}, {Beam::fan, false}, {Beam::parallel, false}}) {
      const ScanGeometry geometry = build_scan(scan_of(beam, arc));
      for (const auto& [options, spectrum] : ways(beam)) {
        const PhantomProjector projector(phantom, geometry, options, spectrum);
        ASSERT_EQ(TracedViews::why_not(phantom), "");
        const auto traced = TracedViews::make(projector, devices);
        ASSERT_TRUE(traced);
        const auto pixels = static_cast<std::size_t>(recorded_columns(geometry) * recorded_rows(geometry));
        for (std::int64_t view = 0; view < geometry.views(); ++view) {
          std::vector<float> expected(pixels), found(pixels, -1.0F);
          projector.project(view, expected.data(), threads);
          traced->project(view, found.data(), threads);
          ASSERT_GT(*std::max_element(expected.begin(), expected.end()), 0.05F);
          ASSERT_EQ(found, expected) << name << ", view " << view;
        }
      }
    }
}

}  // namespace lepus::traced_views_test
