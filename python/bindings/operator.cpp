// SPDX-License-Identifier: Apache-2.0
// A and its transpose on arrays of the host, or on addresses in the memory of the operator's GPU; A as a matrix.
#include <lepus/operator.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/stl.h>

#include "operators/sparse_matrix.h"
#include "python/bindings/arrays.h"
#include "python/bindings/bindings.h"
#include "python/bindings/call.h"

namespace lepus::python {
namespace {

// Python calls from several threads at a time; the devices, which subsets share, take one piece of work after another.
class SharedOperator {
public:
  SharedOperator(const ScanGeometry& geometry, const VolumeGrid& grid, const OperatorOptions& options)
      : operator_(geometry, grid, options), one_at_a_time_(std::make_shared<std::mutex>()) {}

  const Operator& get() const { return operator_; }
  SharedOperator subset(const std::vector<std::int64_t>& views) const {
    return {operator_.subset(views), one_at_a_time_};
  }
  // Without the interpreter's lock, so that whoever waits here keeps nobody else waiting.
  template <class Work>
  auto work(const Work& work) const {
    const py::gil_scoped_release others_may_run;
    const std::lock_guard lock(*one_at_a_time_);
    return work(operator_);
  }

private:
  SharedOperator(Operator made, std::shared_ptr<std::mutex> lock)
      : operator_(std::move(made)), one_at_a_time_(std::move(lock)) {}
  Operator operator_;
  std::shared_ptr<std::mutex> one_at_a_time_;
};

void forward(const SharedOperator& shared, const FloatArray& volume, FloatArray& lines) {
  const std::span<const float> from = values_of(volume);
  const std::span<float> to = writable(lines);
  shared.work([&](const Operator& a) { a.forward(from, to); });
}

void adjoint(const SharedOperator& shared, const FloatArray& lines, FloatArray& volume) {
  const std::span<const float> from = values_of(lines);
  const std::span<float> to = writable(volume);
  shared.work([&](const Operator& a) { a.adjoint(from, to); });
}

// Addresses come from __cuda_array_interface__, whose sizes lepus/_device.py has checked. Done when they return: the
// operator works on a queue of its own, so that the caller's stream may go on then and not earlier.
std::span<const float> values_at(std::uintptr_t address, std::int64_t count) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): Python has addresses as integers
  return {reinterpret_cast<const float*>(address), static_cast<std::size_t>(count)};
}
std::span<float> place_at(std::uintptr_t address, std::int64_t count) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return {reinterpret_cast<float*>(address), static_cast<std::size_t>(count)};
}

void forward_on_device(const SharedOperator& shared, std::uintptr_t volume, std::uintptr_t lines) {
  shared.work([&](const Operator& a) {
    a.forward(values_at(volume, a.voxels()), place_at(lines, a.values()), ArrayPlace::device);
    a.wait();
  });
}

void adjoint_on_device(const SharedOperator& shared, std::uintptr_t lines, std::uintptr_t volume) {
  shared.work([&](const Operator& a) {
    a.adjoint(values_at(lines, a.values()), place_at(volume, a.voxels()), ArrayPlace::device);
    a.wait();
  });
}

std::vector<std::pair<std::string, int>> devices_of(const SharedOperator& shared) {
  std::vector<std::pair<std::string, int>> devices;
  for (const DeviceInfo& device : shared.get().devices()) devices.emplace_back(device.kind, device.number);
  return devices;
}

py::tuple matrix(const ScanGeometry& geometry, const VolumeGrid& grid, RayModel model, std::int64_t maximum_bytes) {
  SparseMatrix made;
  run_call(py::none(), 0,
           [&](Context& context) { made = sparse_matrix(geometry, grid, model, maximum_bytes, context.threads); });
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
  py::class_<SharedOperator>(module, "Operator")
      .def(py::init([](const ScanGeometry& geometry, const VolumeGrid& grid, RayModel model, const Compute& compute) {
             return SharedOperator(geometry, grid, {.model = model, .compute = compute});
           }),
           py::call_guard<py::gil_scoped_release>())
      .def("forward", &forward, py::arg("volume").noconvert(), py::arg("lines").noconvert())
      .def("adjoint", &adjoint, py::arg("lines").noconvert(), py::arg("volume").noconvert())
      .def("forward_on_device", &forward_on_device)
      .def("adjoint_on_device", &adjoint_on_device)
      .def("subset", &SharedOperator::subset)
      .def("norm", [](const SharedOperator& shared,
                      double tolerance) { return shared.work([&](const Operator& a) { return a.norm(tolerance); }); })
      .def_property_readonly("devices", &devices_of)
      .def_property_readonly("description", [](const SharedOperator& shared) { return shared.get().description(); });
  module.def("matrix", &matrix);
}

}  // namespace lepus::python
