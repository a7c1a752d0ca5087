// SPDX-License-Identifier: Apache-2.0
// lepus::Error as the exceptions of lepus/errors.py, with its parts.
#include <filesystem>

#include "python/bindings/bindings.h"
#include <lepus/error.h>

namespace lepus::python {
namespace {

namespace py = pybind11;

// As the program calls the kinds in its JSON.
const char* kind_word(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return "usage";
    case ErrorKind::input:
      return "input";
    case ErrorKind::geometry:
      return "geometry";
    case ErrorKind::memory:
      return "memory";
    case ErrorKind::disk:
      return "disk";
    case ErrorKind::unsupported:
      return "unsupported";
    case ErrorKind::cancelled:
      return "cancelled";
    case ErrorKind::internal:
      break;
  }
  return "internal";
}

void raise(const Error& error) {
  const py::object made = py::module_::import("lepus.errors")
                              .attr("make")(kind_word(error.kind()), error.parts().what, error.parts().where,
                                            error.parts().why, error.parts().hint);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
}

}  // namespace

void bind_errors(py::module_&) {
  // The parameter is as pybind11 declares it. NOLINTNEXTLINE(performance-unnecessary-value-param)
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Error& error) {
      raise(error);
    } catch (const std::filesystem::filesystem_error& error) {
      raise(Error(ErrorKind::disk, {.what = error.code().message(),
                                    .where = error.path1().string(),
                                    .why = {},
                                    .hint = "check that the path exists and is permitted"}));
    }
  });
}

}  // namespace lepus::python
