// SPDX-License-Identifier: Apache-2.0
#include "core/folder.h"

#include <algorithm>
#include <new>
#include <system_error>

#include "core/text.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::error_code code;
  std::vector<fs::path> found;
  for (fs::directory_iterator entry(folder.empty() ? "." : folder, code), end; !code && entry != end;
       entry.increment(code))
    found.push_back(entry->path());
  if (code == std::errc::not_enough_memory) throw std::bad_alloc();
  if (code && code != std::errc::no_such_file_or_directory && code != std::errc::not_a_directory &&
      code != std::errc::permission_denied)
    throw Error(ErrorKind::input, {.what = "the folder cannot be read",
                                   .where = folder.string(),
                                   .why = code.message(),
                                   .hint = hint_for_errno(code.value(), "check the disk or the network")});
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace lepus
