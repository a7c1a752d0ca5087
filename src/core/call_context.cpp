// SPDX-License-Identifier: Apache-2.0
#include "core/call_context.h"

#include "core/check_numbers.h"
#include "core/format.h"
#include "core/memory.h"
#include <lepus/error.h>

namespace lepus {

CallContext::CallContext(const Call& call)
    : memory_bytes_(call.memory_bytes),
      threads_(call.threads, call.cancel ? call.cancel : &never_),
      context_{threads_, call.cancel ? *call.cancel : never_, call.progress ? *call.progress : silent_} {
  check_memory_limit(call.memory_bytes, "option --memory");
}

std::int64_t CallContext::memory_bytes() const {
  return memory_bytes_ > 0 ? memory_bytes_ : available_memory_bytes() / 10 * 6;
}

std::int64_t CallContext::buffer_bytes(std::int64_t needed) const {
  constexpr std::int64_t slack = std::int64_t{12} << 20;  // stacks of threads, buffers of libraries
  const std::int64_t limit = memory_bytes(), itself = resident_bytes() + slack;
  if (limit - itself >= needed) return limit - itself;
  throw Error(ErrorKind::memory,
              {.what = "the work does not fit into the memory limit",
               .where = {},
               .why = format("it needs {} at least, beside {} for the program itself; the limit is {}",
                             format_bytes(needed), format_bytes(itself), format_bytes(limit)),
               .hint = format("allow more: --memory {}MiB", enough_mebibytes(itself + needed))});
}

}  // namespace lepus
