// SPDX-License-Identifier: Apache-2.0
#include "python/bindings/bindings.h"
#include <lepus/version.h>

PYBIND11_MODULE(_lepus, module) {
  using namespace lepus::python;
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
