// SPDX-License-Identifier: Apache-2.0
#include "app/help.h"

#include <algorithm>
#include <sstream>

#include "app/errors.h"
#include "core/format.h"
#include <lepus/error.h>
#include <lepus/text.h>
#include <lepus/version.h>

namespace lepus::app {
namespace {

constexpr std::size_t line_width = 100, help_column = 30;

std::string label(const Option& option) {
  if (option.positional) return option.name;
  std::string text = option.short_name.empty() ? "    " + option.name : option.short_name + ", " + option.name;
  if (!option.value.empty()) text += " " + option.value;
  return text;
}

// "  label      help, wrapped", the help on its own line where the label is long.
void append_entry(std::string& text, const std::string& left, const std::string& help, std::size_t column) {
  text += "  " + left;
  std::size_t at = left.size() + 2;
  if (at + 2 > column) {
    text += "\n";
    at = 0;
  }
  for (const std::string& line : wrapped(help, line_width - column)) {
    text += std::string(column - at, ' ') + line + "\n";
    at = 0;
  }
}

}  // namespace

const Command& find_command(const Commands& commands, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& command : commands) {
    if (command->name == name) return *command;
    names.push_back(command->name);
  }
  const std::string nearest = nearest_name(name, names);
  throw Error(ErrorKind::usage, {.what = format("there is no command '{}'", shown(name)),
                                 .where = {},
                                 .why = {},
                                 .hint = nearest.empty() ? "'lepus --help' lists the commands"
                                                         : format("did you mean 'lepus {}'?", nearest)});
}

std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines;
  std::istringstream words(text);
  std::string word, line;
  while (words >> word) {
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      lines.push_back(line);
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  lines.push_back(line);
  return lines;
}

std::string full_help(const Option& option) {
  std::string text = option.help;
  if (!option.choices.empty()) {
    std::string list;
    for (const auto& choice : option.choices) list += (list.empty() ? "" : ", ") + choice;
    text += ": " + list;
  }
  if (option.repeated) text += "; may be repeated";
  if (option.required && !option.positional) text += " (required)";
  if (!option.default_text.empty()) text += " (default: " + option.default_text + ")";
  return text;
}

std::string synopsis(const Command& command) {
  std::string text = "lepus " + command.name + " [options]";
  for (const Option& option : command.options.options())
    if (option.positional) text += option.required ? " " + option.name : " [" + option.name + "]";
  for (const Option& option : command.options.options())
    if (option.required && !option.positional)
      text += format(" {} {}", option.short_name.empty() ? option.name : option.short_name, option.value);
  return text;
}

std::string help_text(const Command& command) {
  std::string text = format("lepus {}: {}\n\nUsage: {}\n", command.name, command.summary, synopsis(command));
  std::istringstream description(command.description);
  std::string paragraph;
  for (std::string line; std::getline(description, line) || !paragraph.empty();) {
    if (description && !line.empty()) {
      paragraph += line + " ";
      continue;
    }
    text += "\n";
    for (const auto& part : wrapped(paragraph, line_width)) text += part + "\n";
    paragraph.clear();
  }
  std::vector<std::string> groups;
  for (const Option& option : command.options.options())
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) groups.push_back(option.group);
  for (const auto& group : groups) {
    text += "\n" + group + ":\n";
    for (const Option& option : command.options.options())
      if (option.group == group) append_entry(text, label(option), full_help(option), help_column);
  }
  text += command.examples.size() == 1 ? "\nExample:\n" : "\nExamples:\n";
  for (const Example& example : command.examples) text += format("  # {}\n  {}\n", example.says, example.line);
  return text;
}

std::string help_text(const Commands& commands) {
  std::string text = format(
      "lepus {}: from cone-beam X-ray scans to volumes\n\n"
      "Usage: lepus COMMAND [options]\n\nCommands:\n",
      version);
  for (const auto& command : commands) append_entry(text, command->name, command->summary, 16);
  text +=
      "\n'lepus COMMAND --help' explains a command and gives an example; 'lepus --version' prints the version.\n"
      "\nA first scan and its volume:\n"
      "  lepus simulate shepp-logan -o demo/\n"
      "  lepus reconstruct demo/scan.toml -o demo/volume.mha\n"
      "  lepus slice demo/volume.mha --three -o demo/slices.png\n"
      "\nExit codes:\n";
  for (const auto& entry : exit_codes()) append_entry(text, format("{}", entry.code), entry.meaning, 8);
  return text;
}

}  // namespace lepus::app
