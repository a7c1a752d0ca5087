// SPDX-License-Identifier: Apache-2.0
#include "app/start_program.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <unistd.h>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus::app {

void start_program(const std::string& name, const std::vector<std::string>& words) {
  std::error_code unknown;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  const std::string beside = (self.parent_path() / name).string();

  std::vector<std::string> all{name};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  pointers.reserve(all.size() + 1);
  for (std::string& word : all) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  if (!unknown) execv(beside.c_str(), pointers.data());
  if (unknown || errno == ENOENT) execvp(name.c_str(), pointers.data());
  throw Error(ErrorKind::unsupported, {.what = format("the program {} cannot be started", name),
                                       .where = unknown ? name : beside,
                                       .why = std::strerror(errno),
                                       .hint = "'make build' builds it beside lepus"});
}

}  // namespace lepus::app
