// SPDX-License-Identifier: Apache-2.0
// NumPy arrays as spans, and vectors as NumPy arrays, neither of them copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

namespace lepus::python {

namespace py = pybind11;

// Without py::array::forcecast, and as noconvert() arguments: another type or layout is a TypeError and never a silent
// copy, into which results would be written that nobody sees. lepus/_arrays.py converts on purpose.
using FloatArray = py::array_t<float, py::array::c_style>;

inline std::span<const float> values_of(const FloatArray& array) {
  return {array.data(), static_cast<std::size_t>(array.size())};
}
inline std::span<float> writable(FloatArray& array) {
  return {array.mutable_data(), static_cast<std::size_t>(array.size())};  // ValueError where it is read-only
}

template <class T>
py::array_t<T> owned_array(std::vector<T> values) {
  auto* kept = new std::vector<T>(std::move(values));
  const py::capsule owner(kept, [](void* memory) { delete static_cast<std::vector<T>*>(memory); });
  return py::array_t<T>(static_cast<py::ssize_t>(kept->size()), kept->data(), owner);
}

}  // namespace lepus::python
