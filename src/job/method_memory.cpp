// SPDX-License-Identifier: Apache-2.0
#include "job/method_memory.h"

#include <algorithm>

#include "core/format.h"
#include "core/memory.h"
#include "run/float_bytes.h"
#include <lepus/error.h>

namespace lepus {

std::int64_t method_bytes(const MethodKind& kind, std::int64_t values, std::int64_t voxels) {
  return (kind.data * values + kind.volumes * voxels) * float_bytes;
}

void require_host_memory(std::int64_t bytes, const Compute& compute) {
  const std::int64_t limit = host_memory_limit(compute), left = limit - resident_bytes();
  if (bytes <= left) return;
  throw Error(ErrorKind::memory, {.what = "the method's vectors do not fit into the memory",
                                  .where = {},
                                  .why = format("they need {}, {} of {} are left", format_bytes(bytes),
                                                format_bytes(std::max<std::int64_t>(0, left)), format_bytes(limit)),
                                  .hint = "allow more with --memory, use fewer views or voxels, or take fdk"});
}

std::int64_t spare_bytes(std::int64_t method_bytes, const Device& home, const Compute& compute) {
  const std::int64_t left =
      home.info().host ? host_memory_limit(compute) - resident_bytes() : home.memory_limit_bytes();
  return std::max<std::int64_t>(0, (left - method_bytes) / 2);
}

}  // namespace lepus
