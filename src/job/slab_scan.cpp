// SPDX-License-Identifier: Apache-2.0
#include "job/slab_scan.h"

#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "geometry/camera.h"
#include "geometry/helix.h"
#include "geometry/row_band.h"
#include "scan/document.h"
#include "scan/edit_scan.h"
#include <lepus/error.h>

namespace lepus {
namespace {

constexpr std::int64_t fewest_slices = 9;

struct Part {
  std::int64_t first = 0, last = -1;  // both included
  std::int64_t size() const { return last - first + 1; }
};

// Rows whose rays stay between z0 and z1 while they are within the field of view.
Part rows_within(const ScanGeometry& geometry, double z0, double z1) {
  const Camera camera = camera_of(geometry, 0);
  const double radius = field_of_view_radius_mm(geometry);
  const double spread = geometry.beam == Beam::cone ? radius / source_axis_mm(camera) : 0;
  Part rows;
  for (std::int64_t row = 0; row < geometry.rows; ++row) {
    const double z = camera.pixel_mm(camera.principal_column, static_cast<double>(row)).z;
    if (std::min(z * (1 - spread), z * (1 + spread)) < z0 || std::max(z * (1 - spread), z * (1 + spread)) > z1)
      continue;
    if (rows.size() == 0) rows.first = row;
    rows.last = row;
  }
  return rows;
}

}  // namespace

SlabScan middle_slab(const Scan& scan) {
  const VolumeGrid& grid = scan.grid;
  const double step = grid.step_mm.z;
  const auto nearest = std::clamp<std::int64_t>(std::llround(-grid.origin_mm.z / step), 0, grid.nz - 1);
  Part slices, rows;
  for (std::int64_t n = fewest_slices; rows.size() == 0; n *= 2) {
    slices = {std::max<std::int64_t>(0, nearest - n / 2), std::min(grid.nz - 1, nearest + n / 2)};
    const double a = grid.origin_mm.z + (static_cast<double>(slices.first) - 0.5) * step;
    const double b = grid.origin_mm.z + (static_cast<double>(slices.last) + 0.5) * step;
    if (!is_helical(scan.geometry)) rows = rows_within(scan.geometry, std::min(a, b), std::max(a, b));
    if (rows.size() == 0 && (slices.size() == grid.nz || is_helical(scan.geometry)))
      throw Error(ErrorKind::geometry, {.what = "no slab can be reconstructed by itself",
                                        .where = scan.file.string(),
                                        .why = "no detector row looks along a part of the volume in all views",
                                        .hint = "reconstruct the whole volume with one method after the other"});
  }
  const ScanDocument document(scan.resolved, scan.file);
  const auto first = document.get<std::int64_t>("volume.first_slice"),
             every = document.get<std::int64_t>("volume.slice_step");
  const FrameSelection& selected = scan.selection;
  const auto row_number = [&](std::int64_t row) {
    return static_cast<double>(selected.first_row + row * selected.row_step);
  };
  const auto slice_number = [&](std::int64_t slice) { return static_cast<double>(first + slice * every); };
  std::string text =
      with_numbers(scan.resolved, "frames",
                   {{"first_row", row_number(rows.first)}, {"last_row", row_number(rows.last)}}, scan.file.string());
  text = with_numbers(text, "volume",
                      {{"first_slice", slice_number(slices.first)}, {"last_slice", slice_number(slices.last)}},
                      scan.file.string());
  SlabScan slab{read_scan_text(text, scan.file), nearest - slices.first};
  slab.scan.method = scan.method;
  return slab;
}

}  // namespace lepus
