// SPDX-License-Identifier: Apache-2.0
// Phantoms: exact line integrals of any geometry, and voxels.
#include "simulate/simulate.h"

#include <string>

#include <pybind11/stl.h>

#include "python/bindings/arrays.h"
#include "python/bindings/bindings.h"
#include "python/bindings/call.h"
#include "simulate/voxelise.h"

namespace lepus::python {
namespace {

void project_phantom(const Phantom& phantom, const ScanGeometry& geometry, int subpixels, FloatArray& views,
                     int threads, const py::object& progress) {
  const std::span<float> out = writable(views);
  const auto pixels = static_cast<std::size_t>(recorded_columns(geometry) * recorded_rows(geometry));
  run_call(progress, threads, [&](Context& context) {
    PixelRays options;
    options.subpixels = subpixels;
    const PhantomProjector projector(phantom, geometry, options);
    context.progress.begin("projecting", geometry.views());
    for (std::int64_t view = 0; view < geometry.views(); ++view) {
      projector.project(view, out.data() + static_cast<std::size_t>(view) * pixels, context.threads, &context.cancel);
      context.progress.advance(1);
    }
    context.progress.end();
  });
}

void voxelise_phantom(const Phantom& phantom, const VolumeGrid& grid, int samples, FloatArray& volume, int threads,
                      const py::object& progress) {
  const std::span<float> out = writable(volume);
  run_call(progress, threads,
           [&](Context& context) { voxelise(phantom, grid, 0, grid.nz, samples, out.data(), context.threads); });
}

}  // namespace

void bind_simulate(py::module_& module) {
  py::class_<Phantom>(module, "Phantom").def_property_readonly("name", &Phantom::name);
  module.def("phantom_names", &builtin_phantom_names);
  module.def("make_phantom", [](const std::string& name, double size_mm, double value_per_mm, std::uint64_t seed) {
    PhantomChoice choice;
    choice.name = name;
    choice.size_mm = size_mm;
    choice.value_per_mm = value_per_mm;
    return make_phantom(choice, size_mm, seed).phantom;
  });
  module.def("project_phantom", &project_phantom, py::arg("phantom"), py::arg("geometry"), py::arg("subpixels"),
             py::arg("views").noconvert(), py::arg("threads"), py::arg("progress"));
  module.def("voxelise_phantom", &voxelise_phantom, py::arg("phantom"), py::arg("grid"), py::arg("samples"),
             py::arg("volume").noconvert(), py::arg("threads"), py::arg("progress"));
}

}  // namespace lepus::python
