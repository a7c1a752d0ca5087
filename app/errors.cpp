// SPDX-License-Identifier: Apache-2.0
#include "app/errors.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <nlohmann/json.hpp>

#include "app/interrupt.h"
#include "app/terminal.h"
#include "core/format.h"

namespace lepus::app {

const std::vector<ExitCodeEntry>& exit_codes() {
  static const std::vector<ExitCodeEntry> entries{
      {exit_ok, "ok", "success"},
      {exit_usage, "usage", "the command line cannot be understood, or its options contradict each other"},
      {exit_input, "input", "a file is missing, damaged, of another size, or holds values that cannot be used"},
      {exit_geometry, "geometry", "the geometry of the scan cannot give the volume that was asked for"},
      {exit_memory, "memory", "the work does not fit into the memory limit, or the machine has no memory left"},
      {exit_disk, "disk",
       "a file cannot be written: the disk is full, it is not permitted, it exists already, another run writes it"},
      {exit_unsupported, "unsupported", "this build of lepus was made without the format or feature"},
      {exit_comparison_failed, "comparison", "compare found a metric beyond the limit it was given"},
      {exit_internal, "internal", "an error in lepus itself; please report it"},
      {exit_stopped, "stopped",
       "asked to end (SIGTERM, as queues send it before a time limit); what was finished is kept, and the same command "
       "goes on where it can"},
      {exit_interrupted, "cancelled", "interrupted by Ctrl-C or a lost connection (SIGINT, SIGHUP)"},
      {exit_closed_pipe, "pipe", "whoever read standard output left before the end"}};
  return entries;
}

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return exit_usage;
    case ErrorKind::input:
      return exit_input;
    case ErrorKind::geometry:
      return exit_geometry;
    case ErrorKind::memory:
      return exit_memory;
    case ErrorKind::disk:
      return exit_disk;
    case ErrorKind::unsupported:
      return exit_unsupported;
    case ErrorKind::cancelled:
      return was_stopped() ? exit_stopped : exit_interrupted;
    case ErrorKind::internal:
      break;
  }
  return exit_internal;
}

const char* name_of(ErrorKind kind) {
  const int code = exit_code(kind);
  for (const auto& entry : exit_codes())
    if (entry.code == code) return entry.kind;
  return "internal";
}

int report(const Error& error, bool json) {
  const ErrorParts& parts = error.parts();
  std::string text = styled("lepus: error:", Style::red) + " ";
  if (!parts.where.empty()) text += parts.where + ": ";
  text += parts.what;
  if (!parts.why.empty()) text += "\n  why: " + parts.why;
  if (!parts.hint.empty()) text += "\n  hint: " + parts.hint;
  write_stderr(text + "\n");
  if (json) {
    const nlohmann::json object{{"error",
                                 {{"kind", name_of(error.kind())},
                                  {"what", parts.what},
                                  {"where", parts.where},
                                  {"why", parts.why},
                                  {"hint", parts.hint}}}};
    // A file name need not be UTF-8; what is not becomes U+FFFD rather than a second error.
    const auto dumped = object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
    std::fprintf(stdout, "%s\n", dumped.c_str());
  }
  return exit_code(error.kind());
}

int finish_output(int code) {
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (!failed) return code;
  const int error_number = errno;
  if (error_number == EPIPE) return code == exit_ok ? exit_closed_pipe : code;
  if (code != exit_ok) return code;
  // Standard output is what failed, so that the words go to standard error alone, with --json too.
  return report(Error(ErrorKind::disk, {.what = "cannot write",
                                        .where = "standard output",
                                        .why = std::strerror(error_number),
                                        .hint = "free some space, or send the output somewhere else"}),
                false);
}

}  // namespace lepus::app
