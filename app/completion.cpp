// SPDX-License-Identifier: Apache-2.0
// Shell completions from the option tables, and the commands `completion` and `man` that print what is made from them.
#include "app/help.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "app/commands.h"
#include "core/format.h"
#include <lepus/error.h>
#include <lepus/text.h>

namespace lepus::app {
namespace {

std::string joined(const std::vector<std::string>& words, const std::string& separator) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

std::string without(std::string text, const std::string& unwanted) {
  std::erase_if(text, [&](char c) { return unwanted.find(c) != std::string::npos; });
  return text;
}

std::vector<std::string> names_of(const Option& option) {
  return option.short_name.empty() ? std::vector{option.name} : std::vector{option.short_name, option.name};
}

std::vector<std::string> command_names(const Commands& commands) {
  std::vector<std::string> names;
  for (const auto& command : commands) names.push_back(command->name);
  return names;
}

// What _arguments of zsh shall offer as a value: ":FILE:_files".
std::string zsh_value(const Option& option) {
  if (option.value.empty()) return {};
  std::string action = " ";  // a value that nobody can guess
  if (!option.choices.empty() && option.operand == Operand::text)
    action = "(" + joined(option.choices, " ") + ")";
  else if (!option.choices.empty())
    action = format("_alternative \"words\\:word\\:({})\" \"files\\:file\\:_files\"", joined(option.choices, " "));
  else if (option.operand == Operand::file)
    action = "_files";
  else if (option.operand == Operand::folder)
    action = "_files -/";
  return format(":{}:{}", option.value, action);
}

}  // namespace

// Where nothing is offered, bash falls back to the names of files (-o default).
std::string bash_completion(const Commands& commands) {
  const std::string names = joined(command_names(commands), " ");
  std::string values, words;
  for (const auto& command : commands) {
    std::string plain;
    for (const Option& option : command->options.options()) {
      if (option.positional) {
        plain += (plain.empty() ? "" : " ") + joined(option.choices, " ");
        continue;
      }
      if (option.value.empty()) continue;
      std::vector<std::string> patterns;
      for (const auto& name : names_of(option)) patterns.push_back(command->name + ":" + name);
      const std::string offer = option.choices.empty() ? ""
                                                       : format("COMPREPLY=($(compgen -W \"{}\" -- \"$current\")); ",
                                                                joined(option.choices, " "));
      values += format("    {}) {}return ;;\n", joined(patterns, "|"), offer);
    }
    words += format("    {}) options=\"{}\"; words=\"{}\" ;;\n", command->name, joined(command->options.names(), " "),
                    plain);
  }
  return format(
      "# bash completion for lepus\n"
      "_lepus() {{\n"
      "  local current=\"${{COMP_WORDS[COMP_CWORD]}}\" previous=\"${{COMP_WORDS[COMP_CWORD-1]}}\"\n"
      "  local command=\"\" options=\"--help --version\" words=\"{0}\" word\n"
      "  COMPREPLY=()\n"
      "  for word in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n"
      "    case \" {0} \" in *\" $word \"*) command=\"$word\"; break ;; esac\n"
      "  done\n"
      "  case \"$command:$previous\" in\n{1}  esac\n"
      "  case \"$command\" in\n{2}  esac\n"
      "  case \"$current\" in\n"
      "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$current\")) ;;\n"
      "    *) COMPREPLY=($(compgen -W \"$words\" -- \"$current\")) ;;\n"
      "  esac\n"
      "}}\n"
      "complete -o default -F _lepus lepus\n",
      names, values, words);
}

std::string zsh_completion(const Commands& commands) {
  std::string list, cases;
  for (const auto& command : commands) {
    list += format("    '{}:{}'\n", command->name, without(command->summary, "':"));
    cases += format("    {})\n      _arguments", command->name);
    for (const Option& option : command->options.options()) {
      const std::string help = without(option.help, "'[]:`$\"");
      if (option.positional) {
        cases += format(" \\\n        '{}'", zsh_value(option));
      } else {
        const auto names = names_of(option);
        const std::string all = joined(names, " ");
        for (const auto& name : names)
          cases += format(" \\\n        '{}{}[{}]{}'", option.repeated ? "*" : "(" + all + ")", name, help,
                          zsh_value(option));
      }
    }
    cases += "\n      ;;\n";
  }
  return format(
      "#compdef lepus\n"
      "_lepus() {{\n"
      "  local -a commands\n"
      "  commands=(\n{}  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe 'command' commands\n"
      "    return\n"
      "  fi\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $words[1] in\n{}  esac\n"
      "}}\n"
      "if [ \"$funcstack[1]\" = \"_lepus\" ]; then _lepus \"$@\"; else compdef _lepus lepus; fi\n",
      list, cases);
}

std::string fish_completion(const Commands& commands) {
  std::string text = "# fish completion for lepus\n";
  for (const auto& command : commands) {
    text += format("complete -c lepus -n __fish_use_subcommand -f -a {} -d '{}'\n", command->name,
                   without(command->summary, "'\\"));
    for (const Option& option : command->options.options()) {
      const std::string offer = option.choices.empty() ? "" : format(" -a '{}'", joined(option.choices, " "));
      const std::string scope = format("complete -c lepus -n '__fish_seen_subcommand_from {}'", command->name);
      if (option.positional) {
        if (!option.choices.empty()) text += scope + offer + "\n";
        continue;
      }
      std::string line = scope;
      if (!option.short_name.empty()) line += " -s " + option.short_name.substr(1);
      line += " -l " + option.name.substr(2);
      if (!option.value.empty()) line += option.operand == Operand::text ? " -x" : " -r";
      text += format("{}{} -d '{}'\n", line, offer, without(option.help, "'\\"));
    }
  }
  return text;
}

std::unique_ptr<Command> completion_command(const Commands& commands) {
  struct Arguments {
    std::string shell;
  };
  auto arguments = std::make_shared<Arguments>();
  auto command = std::make_unique<Command>();
  command->name = "completion";
  command->summary = "print the completions for a shell";
  command->description = "Prints a script that lets the shell complete commands, options and their values.";
  command->examples = {{"source <(lepus completion bash)", "Complete lepus in this bash"}};
  command->options.positional("SHELL", arguments->shell, "the shell").must().one_of({"bash", "zsh", "fish"});
  command->run = [arguments, &commands](Session& session) {
    const std::string& shell = arguments->shell;
    session.print_always(shell == "bash"  ? bash_completion(commands)
                         : shell == "zsh" ? zsh_completion(commands)
                                          : fish_completion(commands));
    return exit_ok;
  };
  return command;
}

std::unique_ptr<Command> man_command(const Commands& commands) {
  struct Arguments {
    std::string command, folder;
  };
  auto arguments = std::make_shared<Arguments>();
  auto command = std::make_unique<Command>();
  command->name = "man";
  command->summary = "print the manual page of lepus or of a command";
  command->description =
      "Prints a manual page (roff) made from the same table as --help. Without a command, the page of lepus itself.";
  command->examples = {{"lepus man slice | man -l -", "Read the page of slice"}};
  command->options.positional("COMMAND", arguments->command, "the command to explain").otherwise("");
  command->options
      .value("--folder", "FOLDER", arguments->folder, "write all pages into this folder instead of printing one")
      .folder();
  command->run = [arguments, &commands](Session& session) {
    if (!arguments->folder.empty()) {
      std::filesystem::create_directories(arguments->folder);
      const auto write = [&](const std::string& name, const std::string& page) {
        const auto path = std::filesystem::path(arguments->folder) / (name + ".1");
        std::ofstream file(path);
        file << page;
        if (!file.flush())
          throw Error(
              ErrorKind::disk,
              {.what = "cannot write", .where = path.string(), .why = {}, .hint = "check space and permission"});
      };
      write("lepus", man_page(commands));
      for (const auto& each : commands) write("lepus-" + each->name, man_page(*each));
      return exit_ok;
    }
    if (arguments->command.empty()) {
      session.print_always(man_page(commands));
      return exit_ok;
    }
    session.print_always(man_page(find_command(commands, arguments->command)));
    return exit_ok;
  };
  return command;
}

}  // namespace lepus::app
