// SPDX-License-Identifier: Apache-2.0
// A and its transpose on arrays of the host, or on addresses in the memory of the operator's GPU; A as a matrix.
#include <lepus/operator.h>

#include <string>
#include <utility>
#include <vector>

#include <pybind11/stl.h>

#include "operators/sparse_matrix.h"
#include "python/bindings/arrays.h"
#include "python/bindings/bindings.h"

namespace lepus::python {
namespace {

void forward(const Operator& a, const FloatArray& volume, FloatArray& lines) {
  const std::span<const float> from = values_of(volume);
  const std::span<float> to = writable(lines);
  const py::gil_scoped_release others_may_run;
  a.forward(from, to);
}

void adjoint(const Operator& a, const FloatArray& lines, FloatArray& volume) {
  const std::span<const float> from = values_of(lines);
  const std::span<float> to = writable(volume);
  const py::gil_scoped_release others_may_run;
  a.adjoint(from, to);
}

// Addresses come from __cuda_array_interface__, whose sizes lepus/_device.py has checked. Done when they return: the
// operator works on a queue of its own, so that the caller's stream may go on then and not earlier.
void forward_on_device(const Operator& a, std::uintptr_t volume, std::uintptr_t lines) {
  const py::gil_scoped_release others_may_run;
  a.forward({reinterpret_cast<const float*>(volume), static_cast<std::size_t>(a.voxels())},
            {reinterpret_cast<float*>(lines), static_cast<std::size_t>(a.values())}, ArrayPlace::device);
  a.wait();
}

void adjoint_on_device(const Operator& a, std::uintptr_t lines, std::uintptr_t volume) {
  const py::gil_scoped_release others_may_run;
  a.adjoint({reinterpret_cast<const float*>(lines), static_cast<std::size_t>(a.values())},
            {reinterpret_cast<float*>(volume), static_cast<std::size_t>(a.voxels())}, ArrayPlace::device);
  a.wait();
}

py::tuple matrix(const ScanGeometry& geometry, const VolumeGrid& grid, RayModel model, std::int64_t maximum_bytes) {
  SparseMatrix made;
  {
    const py::gil_scoped_release others_may_run;
    ThreadPool threads;
    made = sparse_matrix(geometry, grid, model, maximum_bytes, threads);
  }
  return py::make_tuple(owned_array(std::move(made.values)), owned_array(std::move(made.indices)),
                        owned_array(std::move(made.starts)), py::make_tuple(made.rows, made.columns));
}

}  // namespace

void bind_operator(py::module_& module) {
  py::enum_<RayModel>(module, "RayModel")
      .value("joseph", RayModel::joseph)
      .value("siddon", RayModel::siddon)
      .value("footprint", RayModel::footprint)
      .value("voxel", RayModel::voxel);
  py::class_<Operator>(module, "Operator")
      .def(py::init([](const ScanGeometry& geometry, const VolumeGrid& grid, RayModel model, const Compute& compute) {
             return Operator(geometry, grid, {.model = model, .compute = compute});
           }),
           py::call_guard<py::gil_scoped_release>())
      .def("forward", &forward, py::arg("volume").noconvert(), py::arg("lines").noconvert())
      .def("adjoint", &adjoint, py::arg("lines").noconvert(), py::arg("volume").noconvert())
      .def("forward_on_device", &forward_on_device)
      .def("adjoint_on_device", &adjoint_on_device)
      .def("subset", [](const Operator& a, const std::vector<std::int64_t>& views) { return a.subset(views); })
      .def("norm", &Operator::norm, py::call_guard<py::gil_scoped_release>())
      .def_property_readonly("devices",
                             [](const Operator& a) {
                               std::vector<std::pair<std::string, int>> devices;
                               for (const DeviceInfo& device : a.devices())
                                 devices.emplace_back(device.kind, device.number);
                               return devices;
                             })
      .def_property_readonly("description", &Operator::description);
  module.def("matrix", &matrix);
}

}  // namespace lepus::python
