// SPDX-License-Identifier: Apache-2.0
// Scans and grids of voxels: from numbers, matrices and the text of other tools' geometries.
#include <string>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "core/format.h"
#include "geometry/camera.h"
#include "geometry/exchange.h"
#include "geometry/helix.h"
#include "geometry/row_band.h"
#include "python/bindings/bindings.h"
#include "simulate/project.h"
#include <lepus/error.h>
#include <lepus/geometry.h>

namespace lepus::python {
namespace {

namespace py = pybind11;
using Doubles = py::array_t<double, py::array::c_style | py::array::forcecast>;

ScanGeometry from_matrices(const Doubles& matrices, std::int64_t columns, std::int64_t rows, Beam beam,
                           double source_detector_mm) {
  if (matrices.ndim() != 3 || matrices.shape(1) != 3 || matrices.shape(2) != 4)
    throw Error(ErrorKind::usage, {.what = format("an array of {} axes is no list of matrices", matrices.ndim()),
                                   .where = "from_matrices",
                                   .why = "matrices have the shape (views, 3, 4)",
                                   .hint = {}});
  if (matrices.shape(0) == 0 || columns < 1 || rows < 1)
    throw Error(ErrorKind::usage, {.what = format("{} views of {} x {} pixels", matrices.shape(0), columns, rows),
                                   .where = "from_matrices",
                                   .why = "there is nothing to measure with",
                                   .hint = "give one matrix per view, and at least one column and one row"});
  ScanGeometry geometry;
  geometry.beam = beam;
  geometry.columns = columns;
  geometry.rows = rows;
  geometry.source_detector_mm = source_detector_mm;
  for (py::ssize_t view = 0; view < matrices.shape(0); ++view) {
    Matrix34 matrix;
    std::copy_n(matrices.data(view, 0, 0), 12, matrix.m.begin());
    geometry.matrices.push_back(normalised(matrix, beam, view));
  }
  check_views(geometry);
  return geometry;
}

py::array_t<double> matrices_of(const ScanGeometry& geometry) {
  py::array_t<double> out({py::ssize_t{geometry.views()}, py::ssize_t{3}, py::ssize_t{4}});
  for (std::int64_t view = 0; view < geometry.views(); ++view)
    std::copy_n(geometry.matrices[static_cast<std::size_t>(view)].m.begin(), 12, out.mutable_data(view, 0, 0));
  return out;
}

ScanGeometry selected(const ScanGeometry& geometry, const std::vector<std::int64_t>& views) {
  ScanGeometry some = geometry;
  some.matrices.clear();
  for (const std::int64_t view : views) {
    if (view < 0 || view >= geometry.views()) throw py::index_error("there is no view " + std::to_string(view));
    some.matrices.push_back(geometry.matrices[static_cast<std::size_t>(view)]);
  }
  return some;
}

std::vector<double> angles_deg(const ScanGeometry& geometry) {
  std::vector<double> angles;
  for (std::int64_t view = 0; view < geometry.views(); ++view)
    angles.push_back(degrees(view_angle_rad(camera_of(geometry, view))));
  return angles;
}

py::tuple as_tuple(Vec3 v) { return py::make_tuple(v.x, v.y, v.z); }

py::tuple grid_state(const VolumeGrid& g) {
  return py::make_tuple(g.nx, g.ny, g.nz, as_tuple(g.origin_mm), as_tuple(g.step_mm));
}
Vec3 vector_of(const std::array<double, 3>& v) { return {v[0], v[1], v[2]}; }

void bind_circular(py::module_& module) {
  py::class_<ViewPerturbation>(module, "ViewPerturbation")
      .def(py::init([](std::array<double, 3> source, std::array<double, 3> detector, double in_plane, double pitch,
                       double yaw, double angle) {
             return ViewPerturbation{vector_of(source), vector_of(detector), radians(in_plane),
                                     radians(pitch),    radians(yaw),        radians(angle)};
           }),
           py::kw_only(), py::arg("source_mm"), py::arg("detector_mm"), py::arg("in_plane_deg"), py::arg("pitch_deg"),
           py::arg("yaw_deg"), py::arg("angle_deg"));
  py::class_<CircularScan>(module, "CircularScan")
      .def(py::init<>())
      .def_readwrite("beam", &CircularScan::beam)
      .def_readwrite("arc", &CircularScan::arc)
      .def_readwrite("source_axis_mm", &CircularScan::source_axis_mm)
      .def_readwrite("source_detector_mm", &CircularScan::source_detector_mm)
      .def_readwrite("columns", &CircularScan::columns)
      .def_readwrite("rows", &CircularScan::rows)
      .def_readwrite("pixel_width_mm", &CircularScan::pixel_width_mm)
      .def_readwrite("pixel_height_mm", &CircularScan::pixel_height_mm)
      .def_readwrite("detector_shift_u_mm", &CircularScan::detector_shift_u_mm)
      .def_readwrite("detector_shift_v_mm", &CircularScan::detector_shift_v_mm)
      .def_readwrite("axis_offset_mm", &CircularScan::axis_offset_mm)
      .def_readwrite("in_plane_rad", &CircularScan::in_plane_rad)
      .def_readwrite("pitch_rad", &CircularScan::pitch_rad)
      .def_readwrite("yaw_rad", &CircularScan::yaw_rad)
      .def_readwrite("mirror_columns", &CircularScan::mirror_columns)
      .def_readwrite("mirror_rows", &CircularScan::mirror_rows)
      .def_readwrite("angles_rad", &CircularScan::angles_rad)
      .def_readwrite("perturbations", &CircularScan::perturbations);
  module.def("build_scan", [](const CircularScan& scan, double helix_pitch_mm) {
    const ScanGeometry geometry = build_scan(helix_pitch_mm == 0 ? scan : with_helix(scan, helix_pitch_mm));
    check_views(geometry);
    return geometry;
  });
}

void bind_exchange(py::module_& module) {
  py::class_<GeometryFileOptions>(module, "GeometryFileOptions")
      .def(py::init<>())
      .def_readwrite("columns", &GeometryFileOptions::columns)
      .def_readwrite("rows", &GeometryFileOptions::rows)
      .def_readwrite("pixel_width_mm", &GeometryFileOptions::pixel_width_mm)
      .def_readwrite("pixel_height_mm", &GeometryFileOptions::pixel_height_mm)
      .def_readwrite("first_row_on_top", &GeometryFileOptions::first_row_on_top)
      .def_readwrite("beam", &GeometryFileOptions::beam)
      .def_readwrite("unit_mm", &GeometryFileOptions::unit_mm)
      .def_readwrite("source_detector_mm", &GeometryFileOptions::source_detector_mm);
  module.def("parse_geometry", &parse_geometry);
  module.def("geometry_text", &geometry_text);
}

}  // namespace

void bind_geometry(py::module_& module) {
  py::enum_<Beam>(module, "Beam").value("cone", Beam::cone).value("fan", Beam::fan).value("parallel", Beam::parallel);
  py::class_<VolumeGrid>(module, "VolumeGrid")
      .def(py::init([](std::int64_t nx, std::int64_t ny, std::int64_t nz, std::array<double, 3> origin,
                       std::array<double, 3> step) {
        return VolumeGrid{nx, ny, nz, vector_of(origin), vector_of(step)};
      }))
      .def_readonly("nx", &VolumeGrid::nx)
      .def_readonly("ny", &VolumeGrid::ny)
      .def_readonly("nz", &VolumeGrid::nz)
      .def_property_readonly("origin_mm", [](const VolumeGrid& g) { return as_tuple(g.origin_mm); })
      .def_property_readonly("step_mm", [](const VolumeGrid& g) { return as_tuple(g.step_mm); })
      .def_property_readonly("state", &grid_state);
  module.def("centred_grid", [](std::int64_t nx, std::int64_t ny, std::int64_t nz, std::array<double, 3> step) {
    return centred_grid(nx, ny, nz, vector_of(step));
  });
  py::class_<ScanGeometry>(module, "ScanGeometry")
      .def_readonly("beam", &ScanGeometry::beam)
      .def_readonly("columns", &ScanGeometry::columns)
      .def_readonly("rows", &ScanGeometry::rows)
      .def_readonly("source_detector_mm", &ScanGeometry::source_detector_mm)
      .def_property_readonly("views", &ScanGeometry::views)
      .def_property_readonly("on_arc", [](const ScanGeometry& g) { return g.recorded_on_arc.has_value(); })
      .def_property_readonly("recorded_columns", &recorded_columns)
      .def_property_readonly("recorded_rows", &recorded_rows)
      .def_property_readonly("matrices", &matrices_of)
      .def_property_readonly("angles_deg", &angles_deg)
      .def("selected", &selected)
      .def("automatic_grid", &automatic_grid)
      .def("field_of_view_radius_mm", &field_of_view_radius_mm);
  module.def("from_matrices", &from_matrices);
  bind_circular(module);
  bind_exchange(module);
}

}  // namespace lepus::python
