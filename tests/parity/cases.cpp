// SPDX-License-Identifier: Apache-2.0
#include "cases.h"

#include <cmath>

namespace lepus::parity {
namespace {

CircularScan scan_of(std::int64_t columns, std::int64_t rows, std::int64_t views, double arc_degrees = 360) {
  CircularScan scan;
  scan.source_axis_mm = 300;
  scan.source_detector_mm = 500;
  scan.columns = columns;
  scan.rows = rows;
  scan.pixel_width_mm = scan.pixel_height_mm = 1.6;
  for (std::int64_t i = 0; i < views; ++i)
    scan.angles_rad.push_back(radians(arc_degrees * static_cast<double>(i) / static_cast<double>(views)));
  return scan;
}

CircularScan swaying(CircularScan scan) {
  for (std::size_t i = 0; i < scan.angles_rad.size(); ++i) {
    const double t = static_cast<double>(i);
    scan.perturbations.push_back({{std::sin(2 * t), std::cos(t), std::sin(5 * t)},
                                  {std::cos(3 * t), std::sin(t), 0},
                                  0.01 * std::sin(t),
                                  0.01 * std::cos(2 * t),
                                  0.01 * std::sin(3 * t),
                                  0.001 * std::cos(t)});
  }
  return scan;
}

template <class Change>
ScanGeometry changed(CircularScan scan, Change change) {
  change(scan);
  return build_scan(scan);
}

}  // namespace

std::vector<Scan> all_scans() {
  const VolumeGrid cube = centred_grid(33, 33, 37, {1.7, 1.7, 1.7});
  const std::string four = "upright orbit, 4", two = "upright orbit, 2", one = "upright orbit,", general = "general";
  std::vector<Scan> cases;
  const auto add = [&](std::string name, ScanGeometry geometry, VolumeGrid grid, std::string kernel) {
    cases.push_back({std::move(name), std::move(geometry), grid, std::move(kernel)});
  };
  add("circular, views divisible by 4", build_scan(scan_of(70, 60, 16)), cube, four);
  add("circular, an even grid", build_scan(scan_of(70, 60, 12)), centred_grid(32, 32, 48, {1.7, 1.7, 1.7}), four);
  add("circular, views divisible by 2", build_scan(scan_of(70, 60, 14)), cube, two);
  add("circular, odd number of views", build_scan(scan_of(71, 59, 13)), cube, one);
  add("four views", build_scan(scan_of(32, 24, 4, 60)), centred_grid(40, 40, 40, {0.3, 0.3, 0.3}), one);
  add("short scan", build_scan(scan_of(70, 60, 17, 205)), cube, one);
  add("shifted detector",
      changed(scan_of(70, 60, 16), [](auto& s) { s.detector_shift_u_mm = 21, s.detector_shift_v_mm = -7; }), cube,
      four);
  add("displaced axis", changed(scan_of(70, 60, 16), [](auto& s) { s.axis_offset_mm = 4.3; }), cube, four);
  add("mirrored detector", changed(scan_of(70, 60, 16), [](auto& s) { s.mirror_columns = s.mirror_rows = true; }), cube,
      four);
  add("wide pixels", changed(scan_of(70, 60, 16), [](auto& s) { s.pixel_width_mm = 2.5; }), cube, four);
  add("tilted detector",
      changed(scan_of(70, 60, 16), [](auto& s) { s.pitch_rad = 0.05, s.yaw_rad = 0.03, s.in_plane_rad = 0.04; }), cube,
      general);
  add("swaying C-arm", build_scan(swaying(scan_of(70, 60, 19, 200))), cube, general);
  add("parallel beam", changed(scan_of(70, 60, 16, 180), [](auto& s) { s.beam = Beam::parallel; }), cube, one);
  add("fan beams", changed(scan_of(70, 60, 16), [](auto& s) { s.beam = Beam::fan; }), cube, four);
  add("swaying fan",
      changed(swaying(scan_of(70, 60, 11)),
              [](auto& s) {
                s.beam = Beam::fan;
                for (auto& p : s.perturbations) p.in_plane_rad = p.pitch_rad = 0;
              }),
      cube, one);
  add("slices closer than rows", build_scan(scan_of(70, 60, 16)), centred_grid(33, 33, 64, {1.7, 1.7, 0.1}), four);
  add("slices far apart", build_scan(scan_of(70, 120, 16)), centred_grid(17, 17, 40, {3, 3, 4.4}), four);
  add("general, slices far apart", build_scan(swaying(scan_of(70, 120, 10))), centred_grid(17, 17, 40, {3, 3, 4.4}),
      general);
  add("voxels that are not cubes", build_scan(scan_of(70, 60, 16)), centred_grid(29, 21, 35, {1.1, 2.3, 1.9}),
      "upright orbit");
  add("off-centre region", build_scan(scan_of(70, 60, 16)), VolumeGrid{19, 13, 31, {5, -18, -9}, {0.9, 0.9, 0.9}}, one);
  add("mirrored steps", build_scan(swaying(scan_of(70, 60, 12))),
      VolumeGrid{19, 13, 31, {15, -8, 19}, {-0.9, 0.9, -1.1}}, general);
  add("mirrored steps of a circular orbit", build_scan(scan_of(70, 60, 12)),
      VolumeGrid{20, 20, 18, {9.5, -9.5, 9.5}, {-1, 1, -1}}, "upright orbit");
  add("one voxel", build_scan(scan_of(70, 60, 16)), VolumeGrid{1, 1, 1, {0.3, 0.2, 0.1}, {1, 1, 1}}, one);
  add("one column of voxels", build_scan(scan_of(70, 60, 16)), centred_grid(1, 1, 50, {1, 1, 1}), "upright orbit");
  add("volume larger than the detector", build_scan(scan_of(40, 30, 16)), centred_grid(40, 40, 40, {4, 4, 4}), four);
  add("volume around the source", build_scan(swaying(scan_of(40, 30, 9))), centred_grid(30, 30, 10, {30, 30, 10}),
      general);
  add("one row, one fan", changed(scan_of(90, 1, 16), [](auto& s) { s.beam = Beam::fan; }),
      centred_grid(41, 41, 1, {1, 1, 1}), four);
  // More views than a block of them holds, so that wedges are cut.
  add("many views, four alike", build_scan(scan_of(70, 60, 72)), centred_grid(19, 19, 70, {1.7, 1.7, 0.9}), four);
  add("many views, two alike", build_scan(scan_of(70, 60, 70)), centred_grid(19, 17, 70, {1.7, 1.7, 0.9}), two);
  add("many views, none alike", build_scan(scan_of(70, 60, 71)), centred_grid(19, 17, 70, {1.7, 1.7, 0.9}), one);
  add("many swaying views", build_scan(swaying(scan_of(70, 60, 70))), centred_grid(19, 17, 70, {1.7, 1.7, 0.9}),
      general);
  // More voxel columns than a tile holds on a side, and more slices than a chunk, on a grid that is not centred.
  add("several tiles", build_scan(scan_of(90, 80, 9, 205)), VolumeGrid{71, 37, 81, {-40, -15, -42}, {1.1, 1.1, 1.1}},
      one);
  add("several tiles, four alike", build_scan(scan_of(90, 80, 8)), centred_grid(71, 71, 81, {1.1, 1.1, 1.1}), four);
  // w changes along a voxel column so little that a polynomial serves, too much for it, and too much for a series.
  for (const double degrees : {0.05, 0.5, 20.0})
    add("detector tilted by " + std::to_string(degrees) + " degrees",
        changed(scan_of(90, 80, 8), [degrees](auto& s) { s.pitch_rad = radians(degrees); }),
        centred_grid(35, 33, 81, {1.1, 1.1, 1.1}), general);
  return cases;
}

Scan large_scan() {
  return {"128 views of 400 x 300, 128^3", build_scan(scan_of(400, 300, 128)), centred_grid(128, 128, 128, {1, 1, 1}),
          "upright orbit, 4"};
}

}  // namespace lepus::parity
