// SPDX-License-Identifier: Apache-2.0
// The backends this build has, by name.
#include "device/backend.h"
#include "device/host/cpu_backend.h"
#include "device/reference/reference_backend.h"
#include "core/format.h"
#include "core/text.h"
#include <lepus/error.h>
#ifdef LEPUS_HAVE_CUDA
#include "device/cuda/cuda_backend.h"
#endif

namespace lepus {

std::vector<std::string> backend_names() { return {"cpu", "cuda", "reference"}; }

std::unique_ptr<Backend> make_backend(const std::string& name) {
  if (name == "cpu") return make_cpu_backend();
  if (name == "reference") return make_reference_backend();
  if (name == "cuda") {
#ifdef LEPUS_HAVE_CUDA
    return make_cuda_backend();
#else
    throw Error(ErrorKind::unsupported, {.what = "no CUDA device can be used",
                                         .where = "backend cuda",
                                         .why = "this build of lepus has no CUDA",
                                         .hint = "use the backend cpu, or build lepus where nvcc 13 is installed"});
#endif
  }
  const std::string nearest = nearest_name(name, backend_names());
  throw Error(ErrorKind::usage, {.what = format("unknown backend '{}'", name),
                                 .where = {},
                                 .why = "there are cpu, cuda and reference",
                                 .hint = nearest.empty() ? "use cpu" : format("did you mean '{}'?", nearest)});
}

}  // namespace lepus
