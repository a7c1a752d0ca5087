// SPDX-License-Identifier: Apache-2.0
// FDK of arrays, and scan files to volume files by any method.
#include <lepus/reconstruct.h>

#include <string>

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "job/run_scan.h"
#include "python/bindings/arrays.h"
#include "python/bindings/bindings.h"
#include "python/bindings/call.h"

namespace lepus::python {
namespace {

void fdk_of_arrays(const ScanGeometry& geometry, const FloatArray& views, const VolumeGrid& grid, FloatArray& volume,
                   FdkOptions options, const py::object& progress) {
  const std::span<const float> from = values_of(views);
  const std::span<float> to = writable(volume);
  run_call(progress, [&](const CallTools& tools) {
    options.progress = &tools.progress;
    options.cancel = &tools.cancel;
    fdk(geometry, from, grid, to, options);
  });
}

py::dict report_of(const ReconstructReport& report) {
  py::dict d;
  d["output"] = report.output.string();
  d["plan"] = report.plan;
  d["backend"] = report.backend;
  d["device"] = report.device;
  d["kernel"] = report.kernel;
  d["corrections"] = report.corrections;
  d["post"] = report.post;
  d["warnings"] = report.warnings;
  d["seconds"] = report.seconds;
  d["peak_memory_bytes"] = report.peak_memory_bytes;
  d["provenance"] = report.provenance;
  return d;
}

py::dict reconstruct_file(Scan scan, const std::filesystem::path& output, const Compute& compute, bool force,
                          const py::object& progress) {
  ReconstructReport report;
  run_call(progress, compute.threads, [&](Context& context) {
    ReconstructOptions options;
    options.compute = compute;
    options.force = force;
    report = run_scan(std::move(scan), output, options, context);
  });
  return report_of(report);
}

void bind_options(py::module_& module) {
  py::enum_<Window>(module, "Window")
      .value("ram_lak", Window::ram_lak)
      .value("shepp_logan", Window::shepp_logan)
      .value("cosine", Window::cosine)
      .value("hamming", Window::hamming)
      .value("hann", Window::hann);
  py::enum_<Interpolation>(module, "Interpolation")
      .value("nearest", Interpolation::nearest)
      .value("linear", Interpolation::linear)
      .value("cubic", Interpolation::cubic);
  py::enum_<Precision>(module, "Precision")
      .value("exact", Precision::exact)
      .value("fast", Precision::fast)
      .value("half", Precision::half);
  py::class_<Compute>(module, "Compute")
      .def(py::init<>())
      .def_readwrite("backend", &Compute::backend)
      .def_readwrite("devices", &Compute::devices)
      .def_readwrite("precision", &Compute::precision)
      .def_readwrite("device_memory_bytes", &Compute::device_memory_bytes)
      .def_readwrite("threads", &Compute::threads)
      .def_readwrite("memory_bytes", &Compute::memory_bytes);
  py::class_<RampOptions>(module, "RampOptions")
      .def_readwrite("window", &RampOptions::window)
      .def_readwrite("cutoff", &RampOptions::cutoff)
      .def_readwrite("spatial_hamming_samples", &RampOptions::spatial_hamming_samples)
      .def_readwrite("extrapolate", &RampOptions::extrapolate);
  py::class_<FdkOptions>(module, "FdkOptions")
      .def(py::init<>())
      .def_readwrite("filter", &FdkOptions::filter)
      .def_readwrite("interpolation", &FdkOptions::interpolation)
      .def_readwrite("field_of_view_mask", &FdkOptions::field_of_view_mask)
      .def_readwrite("compute", &FdkOptions::compute);
}

}  // namespace

void bind_reconstruct(py::module_& module) {
  bind_options(module);
  module.def("fdk", &fdk_of_arrays, py::arg("geometry"), py::arg("views").noconvert(), py::arg("grid"),
             py::arg("volume").noconvert(), py::arg("options"), py::arg("progress"));
  module.def("reconstruct", &reconstruct_file);
  module.def("list_devices", [] {
    py::list devices;
    for (const DeviceInfo& device : list_devices()) {
      py::dict d;
      d["kind"] = device.kind;
      d["number"] = device.number;
      d["name"] = device.name;
      d["why_not"] = device.why_not;
      d["free_bytes"] = device.free_bytes;
      devices.append(d);
    }
    return devices;
  });
}

}  // namespace lepus::python
