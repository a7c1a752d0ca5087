// SPDX-License-Identifier: Apache-2.0
// Where the rotation axis is seen, from line integrals in memory.
#include <string>

#include <pybind11/stl.h>

#include "align/center.h"
#include "python/bindings/arrays.h"
#include "python/bindings/bindings.h"
#include "python/bindings/call.h"

namespace lepus::python {
namespace {

// find_center wants [row][view][column].
CenterBand band_of(const ScanGeometry& geometry, const float* views, RowBand rows) {
  CenterBand band;
  band.first_row = static_cast<double>(rows.first);
  band.rows = rows.size();
  band.line_integrals.reserve(static_cast<std::size_t>(rows.size() * geometry.views() * geometry.columns));
  for (std::int64_t row = rows.first; row < rows.last; ++row)
    for (std::int64_t view = 0; view < geometry.views(); ++view) {
      const float* first = views + (view * geometry.rows + row) * geometry.columns;
      band.line_integrals.insert(band.line_integrals.end(), first, first + geometry.columns);
    }
  return band;
}

py::tuple find_center_of(const FloatArray& views, const ScanGeometry& geometry, const AxisSearch& options,
                         std::int64_t bands, int threads, const py::object& progress) {
  CenterInput input;
  input.geometry = geometry;
  input.options = options;
  CenterResult result;
  const float* values = views.data();
  run_call(progress, threads, [&](Context& context) {
    for (const RowBand& rows : center_bands(geometry, bands, options))
      input.bands.push_back(band_of(geometry, values, rows));
    result = find_center(input, context);
    for (const auto& warning : result.warnings) context.progress.warning(warning);
  });
  py::dict d;
  d["column"] = result.column;
  d["given_column"] = result.given_column;
  d["column_error"] = result.column_error;
  d["in_plane_deg"] = result.in_plane_deg;
  d["given_in_plane_deg"] = result.given_in_plane_deg;
  d["tilt_found"] = result.tilt_found;
  d["known"] = result.known;
  d["method"] = name_of(result.method);
  return py::make_tuple(d, centred(geometry, result, options.key));
}

}  // namespace

void bind_align(py::module_& module) {
  py::enum_<CenterMethod>(module, "CenterMethod")
      .value("auto", CenterMethod::automatic)
      .value("sharpness", CenterMethod::sharpness)
      .value("conjugate", CenterMethod::conjugate)
      .value("wedge", CenterMethod::wedge);
  py::class_<AxisSearch>(module, "CenterOptions")
      .def(py::init<>())
      .def_readwrite("method", &AxisSearch::method)
      .def_readwrite("first", &AxisSearch::first)
      .def_readwrite("last", &AxisSearch::last)
      .def_readwrite("step", &AxisSearch::step)
      .def_readwrite("tilt", &AxisSearch::tilt);
  module.def("find_center", &find_center_of);
}

}  // namespace lepus::python
