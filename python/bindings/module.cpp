// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "python/bindings/bindings.h"
#include <lepus/version.h>

namespace {

// Before 2.12 pybind11 reads NumPy's descriptors of types as NumPy 1 lays them out, which crashes with another one.
void refuse_numpy_that_pybind11_does_not_know() {
#if PYBIND11_VERSION_HEX < 0x020C0000
  const auto version = pybind11::module_::import("numpy").attr("__version__").cast<std::string>();
  if (std::stoi(version) >= 2)
    throw pybind11::import_error(
        "lepus was built with pybind11 " PYBIND11_TOSTRING(PYBIND11_VERSION_MAJOR) "." PYBIND11_TOSTRING(
            PYBIND11_VERSION_MINOR) ", which does not know NumPy " +
        version + ": build it with pybind11 2.12 or newer, or use NumPy 1");
#endif
}

}  // namespace

PYBIND11_MODULE(_lepus, module) {
  using namespace lepus::python;
  refuse_numpy_that_pybind11_does_not_know();
  module.doc() = "The library below the package lepus.";
  module.attr("version") = lepus::version;
  bind_errors(module);
  bind_geometry(module);
  bind_reconstruct(module);
  bind_operator(module);
  bind_iteration(module);
  bind_corrections(module);
  bind_files(module);
  bind_align(module);
  bind_simulate(module);
  bind_compare(module);
}
