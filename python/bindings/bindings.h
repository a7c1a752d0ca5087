// SPDX-License-Identifier: Apache-2.0
// The parts of the extension module lepus._lepus, one file each. It is the plain layer below the package lepus: names
// and shapes as in C++, arrays of float32 alone. What people call is python/lepus/.
#pragma once

#include <pybind11/pybind11.h>

namespace lepus::python {

void bind_errors(pybind11::module_& module);
void bind_geometry(pybind11::module_& module);
void bind_reconstruct(pybind11::module_& module);
void bind_operator(pybind11::module_& module);
void bind_iteration(pybind11::module_& module);
void bind_corrections(pybind11::module_& module);
void bind_files(pybind11::module_& module);
void bind_align(pybind11::module_& module);
void bind_simulate(pybind11::module_& module);
void bind_compare(pybind11::module_& module);

}  // namespace lepus::python
