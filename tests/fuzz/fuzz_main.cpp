// SPDX-License-Identifier: Apache-2.0
// libFuzzer's entry. The program's name says which target it runs: tiff_fuzz, a link to reader_fuzz, runs "tiff".
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/io_threads.h"
#include "fuzz_targets.h"

namespace {
const lepus::fuzz::Target* chosen = nullptr;
}

extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** arguments) {
  lepus::limit_io_threads(1);  // a reader must be the same at every run, and other fuzzers use the other cores
  const std::string program = std::filesystem::path((*arguments)[0]).filename().string();
  for (const lepus::fuzz::Target& target : lepus::fuzz::targets())
    if (program == std::string(target.name) + "_fuzz") chosen = &target;
  if (chosen) return 0;
  std::fprintf(stderr, "%s: start it by a link that has the name of a target:", program.c_str());
  for (const lepus::fuzz::Target& target : lepus::fuzz::targets()) std::fprintf(stderr, " %s_fuzz", target.name);
  std::fputc('\n', stderr);
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chosen->read(data, size);
  return 0;
}
