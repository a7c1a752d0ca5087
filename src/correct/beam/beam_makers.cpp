// SPDX-License-Identifier: Apache-2.0
// What the makers of this folder share.
#include "core/format.h"
#include "correct/beam/beam.h"
#include <lepus/error.h>

namespace lepus {

void require_stage(const CorrectionSpec& spec, const ScanFacts& facts, Stage wanted) {
  if (facts.stage == wanted) return;
  if (wanted == Stage::grey_levels)
    refuse(spec, "it works on grey levels, before the log", "the chain has placed it after the log",
           format("put \"{}\" before the corrections that work on line integrals, and set no stage for it", spec.kind));
  refuse(spec, "it works on line integrals, after the log", "the chain has placed it before the log",
         format("put \"{}\" after the corrections that work on grey levels, and set no stage for it", spec.kind));
}

void no_device_here(const char* kind) {
  throw Error(ErrorKind::unsupported, {.what = format("correction \"{}\" cannot run on a device", kind),
                                       .where = {},
                                       .why = "this lepus was built without CUDA",
                                       .hint = "use --backend cpu, or build with nvcc"});
}

}  // namespace lepus
