// SPDX-License-Identifier: Apache-2.0
// How the program says that something went wrong: words on standard error, a JSON object with --json, an exit code.
#pragma once

#include <string>
#include <vector>

#include "app/command.h"
#include <lepus/error.h>

namespace lepus::app {

struct ExitCodeEntry {
  int code;
  const char* kind;  // "input", as the JSON object says it
  const char* meaning;
};
const std::vector<ExitCodeEntry>& exit_codes();

int exit_code(ErrorKind kind);
const char* name_of(ErrorKind kind);

// Prints the error and returns its exit code.
int report(const Error& error, bool json);

// Flushes standard output. Returns `code`, or the code of a failed write: a disk that is full, a reader that left.
int finish_output(int code);

}  // namespace lepus::app
