// SPDX-License-Identifier: Apache-2.0
// The backends this build has, by name.
#include "backend/backend.h"
#include "backend/cpu/cpu_backend.h"
#include "backend/reference/reference_backend.h"
#include "core/format.h"
#include "core/text.h"
#include <lepus/error.h>

namespace lepus {

std::vector<std::string> backend_names() { return {"cpu", "reference"}; }

std::unique_ptr<Backend> make_backend(const std::string& name) {
  if (name == "cpu") return make_cpu_backend();
  if (name == "reference") return make_reference_backend();
  const std::string nearest = nearest_name(name, backend_names());
  throw Error(ErrorKind::usage, {.what = format("unknown backend '{}'", name),
                                 .where = {},
                                 .why = "this build has cpu and reference",
                                 .hint = nearest.empty() ? "use cpu" : format("did you mean '{}'?", nearest)});
}

}  // namespace lepus
