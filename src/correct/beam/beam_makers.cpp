// SPDX-License-Identifier: Apache-2.0
// What the makers of this folder share.
#include "core/format.h"
#include "correct/beam/beam.h"
#include <lepus/error.h>

namespace lepus {

void no_device_here(const char* kind) {
  throw Error(ErrorKind::unsupported, {.what = format("correction \"{}\" cannot run on a device", kind),
                                       .where = {},
                                       .why = "this lepus was built without CUDA",
                                       .hint = "use --backend cpu, or build with nvcc"});
}

}  // namespace lepus
