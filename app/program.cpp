// SPDX-License-Identifier: Apache-2.0
#include "app/program.h"

#include <algorithm>
#include <cstdio>

#include <CLI/CLI.hpp>

#include "app/commands.h"
#include "app/errors.h"
#include "app/interrupt.h"
#include "app/progress.h"
#include "app/rank_program.h"
#include "app/start_program.h"
#include "app/terminal.h"
#include "core/format.h"
#include <lepus/call.h>
#include <lepus/memory.h>
#include <lepus/text.h>
#include <lepus/version.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace lepus::app {
namespace {

// Hands a table to CLI11. What it parses goes straight into the variables that the table names.
void add_to(CLI::App& parser, const OptionTable& table) {
  for (const Option& option : table.options()) {
    if (option.name == "--help") {  // CLI11 has its own way: it wins over arguments that are missing
      parser.set_help_flag(option.short_name + "," + option.name);
      continue;
    }
    const std::string names = option.short_name.empty() ? option.name : option.short_name + "," + option.name;
    if (option.value.empty()) {
      parser.add_flag_function(names, [&option](std::int64_t) { option.assign({}); });
      continue;
    }
    auto* added = parser.add_option(names, [&option](const std::vector<std::string>& texts) {
      option.assign(texts);
      return true;
    });
    added->required(option.required);
    if (option.repeated) added->expected(1, CLI::detail::expected_max_vector_size)->allow_extra_args(false);
  }
}

[[noreturn]] void refuse_word(const std::string& word, const std::vector<std::string>& known, const std::string& help) {
  const bool option = word.size() > 1 && word.starts_with('-');
  const std::string name = word.substr(0, word.find('='));
  const std::string nearest = option ? nearest_name(name, known) : "";
  throw Error(ErrorKind::usage,
              {.what = option ? format("there is no option '{}'", shown(name))
                              : format("'{}' is one argument too many", shown(word)),
               .where = {},
               .why = {},
               .hint = nearest.empty() ? format("'{}' lists what there is", help)
                                       : format("did you mean '{}'? '{}' lists what there is", nearest, help)});
}

// "--output: At Most 1 required but received 2" -> "--output is given more than once"
std::string in_our_words(const CLI::ParseError& error) {
  std::string text = error.what();
  const std::string name = text.substr(0, text.find(':'));
  if (text.find("but received") != std::string::npos) return name + " is given more than once";
  if (text.find("required") != std::string::npos && text.find("missing") != std::string::npos)
    return name + " has no value";
  return text;
}

// Parses `words`; returns true where --help was asked for. An unknown word is named even where something else is
// wrong too: it is usually the cause.
bool parse(CLI::App& parser, std::vector<std::string> words, const std::vector<std::string>& known,
           const std::string& help) {
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    parser.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    return true;
  } catch (const CLI::ParseError& error) {
    const auto unknown = parser.remaining();
    if (!unknown.empty()) refuse_word(unknown.front(), known, help);
    throw Error(ErrorKind::usage,
                {.what = in_our_words(error), .where = {}, .why = {}, .hint = format("see '{}'", help)});
  }
  return false;
}

void check(CommonOptions& common) {
  if (!common.memory.empty()) try {
      common.memory_bytes = parse_bytes(common.memory);
    } catch (const Error& error) {
      ErrorParts parts = error.parts();
      parts.where = "option --memory";
      throw Error(error.kind(), parts);
    }
  limit_io_threads(common.threads);  // throws where there can be no such number
}

int run_command(const Command& command, const CommonOptions& common) {
  static CancelFlag cancel;  // lives as long as the handlers that point to it
  install_signal_handlers(cancel);
  const std::unique_ptr<Ranks> ranks = command.over_ranks ? open_ranks() : one_rank();
  const int threads = common.threads > 0 ? common.threads : threads_of_rank(*ranks);
  limit_io_threads(threads);
  ProgressDisplay progress(common.quiet || !ranks->first());
  const auto of_all = progress_of_ranks(*ranks, progress, "reconstruct");
  Progress& counted = ranks->alone() ? static_cast<Progress&>(progress) : *of_all;
  Session session(common, progress, {threads, common.memory_bytes, common.force, &counted, &cancel}, *ranks);
  const auto fail = [&](const Error& error) {
    progress.abandon();  // the bar leaves before the error is printed
    if (!ranks->alone()) fail_together(*ranks, error, common.json);
  };
  try {
    const int code = command.run(session);
    if (!ranks->alone()) of_all->give_warnings_of_all();
    return code;
  } catch (const std::exception& exception) {
    fail(as_error(exception));
    throw;
  }
}

int run_words(std::vector<std::string> words, const AddCommands& add_commands, CommonOptions& common) {
  Commands commands;
  add_commands(commands);
  for (const auto& command : commands) add_common_options(*command, common);
  if (words.empty()) {
    write_stderr(help_text(commands));
    return exit_usage;
  }
  if (words.front() == "help") {  // as git has it
    words.erase(words.begin());
    words.emplace_back("--help");
  }

  // What stands before the command: options that every command has, --help and --version.
  Command program;
  add_common_options(program, common);
  bool show_version = false;
  program.options.flag("-V,--version", show_version, "print the version");
  CLI::App front("lepus");
  front.prefix_command();
  add_to(front, program.options);
  std::vector<std::string> known = program.options.names();
  if (parse(front, words, known, "lepus --help")) {
    // CLI11 looks for --help in what it has parsed alone: the command's own --help is not seen here.
    std::fputs(help_text(commands).c_str(), stdout);
    return exit_ok;
  }
  if (show_version) {
    std::printf("lepus %s\n", version);
    return exit_ok;
  }
  const auto rest = front.remaining();
  if (rest.empty())
    throw Error(ErrorKind::usage,
                {.what = "no command was given", .where = {}, .why = {}, .hint = "'lepus --help' lists the commands"});
  if (rest.front().starts_with('-')) refuse_word(rest.front(), known, "lepus --help");

  const Command& command = find_command(commands, rest.front());
  CLI::App parser("lepus " + command.name);
  add_to(parser, command.options);
  known = command.options.names();
  if (parse(parser, {rest.begin() + 1, rest.end()}, known, "lepus " + command.name + " --help")) {
    std::fputs(help_text(command).c_str(), stdout);
    return exit_ok;
  }
  check(common);
  if (!command.run) start_program("lepus-bench", words);
  return run_command(command, common);
}

// Freed buffers go back to the system at once, and threads share one heap: what a limit on memory counts is then what
// is in use, not what the allocator keeps (glibc keeps up to 32 MiB, and a heap per thread).
void keep_no_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  mallopt(M_ARENA_MAX, 1);
#endif
}

}  // namespace

int run_program(int count, char** arguments, const AddCommands& add_commands) {
  keep_no_freed_memory();
  reserve_standard_descriptors();
  std::vector<std::string> words(arguments + (count > 0 ? 1 : 0), arguments + count);
  CommonOptions common;
  // Before anything is parsed, so that a wrong option is reported to machines as well.
  const bool json = std::find(words.begin(), words.end(), "--json") != words.end();
  try {
    return finish_output(run_words(std::move(words), add_commands, common));
  } catch (const std::exception& exception) {
    return finish_output(report(as_error(exception), json));
  }
}

}  // namespace lepus::app
