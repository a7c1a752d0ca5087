// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <new>
#include <system_error>

#include "core/format.h"
#include <lepus/error.h>
#include <lepus/memory.h>

namespace lepus {
namespace {

Error no_memory() {
  return Error(ErrorKind::memory, {.what = "the machine has no memory left",
                                   .where = {},
                                   .why = format("{} are in use", format_bytes(resident_bytes())),
                                   .hint = "close other programs, or give a lower limit with --memory"});
}

}  // namespace

Error as_error(const std::exception& exception) {
  if (const auto* error = dynamic_cast<const Error*>(&exception)) return *error;
  if (dynamic_cast<const std::bad_alloc*>(&exception) != nullptr) return no_memory();
  if (const auto* error = dynamic_cast<const std::filesystem::filesystem_error*>(&exception))
    return Error(ErrorKind::disk, {.what = error->code().message(),
                                   .where = error->path1().string(),
                                   .why = {},
                                   .hint = "check that the path exists and is permitted"});
  if (const auto* error = dynamic_cast<const std::system_error*>(&exception))
    // Threads that cannot be started: their stacks do not fit.
    if (error->code() == std::errc::resource_unavailable_try_again || error->code() == std::errc::not_enough_memory)
      return no_memory();
  return Error(ErrorKind::internal, {.what = exception.what(),
                                     .where = {},
                                     .why = "this should not happen, whatever the input",
                                     .hint = "please report it with the command line and the scan file"});
}

}  // namespace lepus
