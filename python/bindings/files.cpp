// SPDX-License-Identifier: Apache-2.0
// Volume files and frames, read in parts and written from arrays; scan files and their corrected line integrals.
#include <string>
#include <vector>

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "import/import_scan.h"
#include "io/volume_axes.h"
#include "io/volume_part.h"
#include "job/line_integrals.h"
#include "job/automatic_center.h"
#include "python/bindings/arrays.h"
#include "python/bindings/bindings.h"
#include "python/bindings/call.h"

namespace lepus::python {
namespace {

using Three = std::array<std::int64_t, 3>;

// In the order x, y, z.
FloatArray read_part_of(const VolumeReader& reader, const Three& first, const Three& end, const Three& step) {
  const VolumePart part{first, end, step};
  FloatArray out({part.along(2), part.along(1), part.along(0)});
  float* to = out.mutable_data();
  const py::gil_scoped_release others_may_run;
  read_part(reader, part, to);
  return out;
}

void write_volume(const std::filesystem::path& path, const FloatArray& volume, const VolumeGrid& grid,
                  const std::string& unit, PixelType type, const std::string& provenance, bool force) {
  const float* values = volume.data();
  const py::gil_scoped_release others_may_run;
  VolumeWriterOptions options;
  options.force = force;
  options.unit = unit;
  options.type = type;
  const auto writer = create_volume(path, grid, options);
  writer->write(0, grid.nz, values);
  writer->finish(provenance);
}

py::dtype dtype_of(PixelType type) { return py::dtype(name_of(type)); }

// Frames [first, end) as they are in the files.
py::array read_frames(const FrameSource& source, std::int64_t first, std::int64_t end) {
  py::array out(dtype_of(source.pixel_type()), std::vector<py::ssize_t>{end - first, source.rows(), source.columns()});
  auto* to = static_cast<std::byte*>(out.mutable_data());
  const std::int64_t bytes = source.rows() * source.columns() * bytes_per_pixel(source.pixel_type());
  const py::gil_scoped_release others_may_run;
  for (std::int64_t frame = first; frame < end; ++frame)
    source.read_native(frame, 0, source.rows(), to + (frame - first) * bytes);
  return out;
}

// A scan file, a scanner's header, or a folder that holds one of them; other folders may be volumes.
bool is_scan(const std::filesystem::path& place) {
  return place.extension() == ".toml" || std::filesystem::exists(place / "scan.toml") || !find_headers(place).empty();
}

py::tuple line_integrals_of(Scan scan, const std::filesystem::path& scratch, const Compute& compute,
                            const py::object& progress) {
  FloatArray out({scan.geometry.views(), scan.geometry.rows, scan.geometry.columns});
  float* to = out.mutable_data();
  ScanGeometry geometry;
  std::vector<std::string> notes;
  run_call(progress, compute.threads, [&](Context& context) {
    ReconstructOptions options;
    options.compute = compute;
    options.force = true;
    center_automatically(scan, context);
    LineIntegrals lines(scan, scratch, options, context);
    geometry = lines.geometry();
    const auto count = static_cast<std::size_t>(lines.values_per_view());
    context.progress.begin("reading views", geometry.views());
    for (std::int64_t view = 0; view < geometry.views(); ++view) {
      context.cancel.check();
      lines.view(view, {to + static_cast<std::size_t>(view) * count, count});
      context.progress.advance(1);
    }
    context.progress.end();
    notes = lines.finish();
    for (const auto& list : {scan.warnings, lines.pre_pass().warnings, lines.warnings()})
      for (const auto& warning : list) context.progress.warning(warning);
  });
  return py::make_tuple(out, geometry, notes);
}

}  // namespace

void bind_files(py::module_& module) {
  py::enum_<PixelType>(module, "PixelType")
      .value("uint8", PixelType::u8)
      .value("uint16", PixelType::u16)
      .value("int16", PixelType::i16)
      .value("float32", PixelType::f32);
  py::class_<VolumeReader>(module, "VolumeReader")
      .def_property_readonly("grid", &VolumeReader::grid)
      .def_property_readonly("format", &VolumeReader::format)
      .def_property_readonly("pixel_type", &VolumeReader::pixel_type)
      .def_property_readonly("provenance", &VolumeReader::provenance)
      .def_property_readonly("unit", &VolumeReader::unit)
      .def("read_part", &read_part_of);
  module.def("open_volume", &open_as_noted);
  module.def("write_volume", &write_volume, py::arg("path"), py::arg("volume").noconvert(), py::arg("grid"),
             py::arg("unit"), py::arg("type"), py::arg("provenance"), py::arg("force"));
  py::class_<FrameSource>(module, "FrameSource")
      .def_property_readonly("columns", &FrameSource::columns)
      .def_property_readonly("rows", &FrameSource::rows)
      .def_property_readonly("frames", &FrameSource::frames)
      .def_property_readonly("dtype", [](const FrameSource& source) { return dtype_of(source.pixel_type()); })
      .def("read", &read_frames);
  module.def("open_frames", [](const std::string& pattern, const std::string& dataset) {
    FrameFiles files;
    files.files = expand_pattern(std::filesystem::current_path(), pattern);
    files.dataset = dataset;
    return open_frames(files);
  });
  py::class_<Scan>(module, "Scan")
      .def_readonly("geometry", &Scan::geometry)
      .def_readonly("grid", &Scan::grid)
      .def_readonly("output", &Scan::output)
      .def_readonly("resolved", &Scan::resolved)
      .def_readonly("warnings", &Scan::warnings)
      .def_readwrite("method", &Scan::method);
  module.def("is_scan", &is_scan);
  module.def("read_scan", &read_scan_at, py::call_guard<py::gil_scoped_release>());
  module.def("line_integrals", &line_integrals_of);
}

}  // namespace lepus::python
