// SPDX-License-Identifier: Apache-2.0
// Man pages in roff, from the option tables.
#include "app/help.h"

#include <sstream>

#include "app/errors.h"
#include "core/format.h"
#include <lepus/version.h>

namespace lepus::app {
namespace {

// A minus sign is \-, a backslash \e, and a dot or quote at the start of a line is no request.
std::string roff(const std::string& text) {
  std::string result;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) result += "\\&";
    if (c == '-')
      result += "\\-";
    else if (c == '\\')
      result += "\\e";
    else
      result += c;
    line_start = c == '\n';
  }
  return result;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string header(const std::string& name, const std::string& summary) {
  return format(".TH \"{}\" 1 \"\" \"lepus {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n", upper(roff(name)), version,
                roff(name), roff(summary));
}

std::string tag(const Option& option) {
  if (option.positional) return "\\fI" + roff(option.name) + "\\fR";
  std::string text;
  if (!option.short_name.empty()) text += "\\fB" + roff(option.short_name) + "\\fR, ";
  text += "\\fB" + roff(option.name) + "\\fR";
  if (!option.value.empty()) text += " \\fI" + roff(option.value) + "\\fR";
  return text;
}

std::string paragraphs(const std::string& description) {
  std::string text;
  std::istringstream lines(description);
  for (std::string line; std::getline(lines, line);) text += line.empty() ? ".PP\n" : roff(line) + "\n";
  return text;
}

std::string exit_status() {
  std::string text = ".SH EXIT STATUS\n";
  for (const auto& entry : exit_codes()) text += format(".TP\n.B {}\n{}\n", entry.code, roff(entry.meaning));
  return text;
}

}  // namespace

std::string man_page(const Command& command) {
  std::string text = header("lepus-" + command.name, command.summary);
  text += ".SH SYNOPSIS\n.B " + roff(synopsis(command)) + "\n";
  text += ".SH DESCRIPTION\n" + paragraphs(command.description) + ".SH OPTIONS\n";
  std::string group;
  for (const Option& option : command.options.options()) {
    if (option.group != group) text += ".SS " + roff(option.group) + "\n";
    group = option.group;
    text += ".TP\n" + tag(option) + "\n" + roff(full_help(option)) + "\n";
  }
  text += ".SH EXAMPLES\n";
  for (const Example& example : command.examples)
    text += format("{}:\n.PP\n.nf\n.RS\n{}\n.RE\n.fi\n.PP\n", roff(example.says), roff(example.line));
  return text + exit_status() + ".SH SEE ALSO\n.BR lepus (1)\n";
}

std::string man_page(const Commands& commands) {
  std::string text = header("lepus", "from cone-beam X-ray scans to volumes");
  text += ".SH SYNOPSIS\n.B lepus\n\\fICOMMAND\\fR [options]\n.SH DESCRIPTION\n";
  text +=
      "lepus turns a cone-beam, fan-beam or parallel-beam X\\-ray scan into a volume, on any machine and within the\n"
      "memory it is given. A scan is a folder of frames and a small text file (TOML) that names them and describes\n"
      "the geometry.\n.SH COMMANDS\n";
  for (const auto& command : commands)
    text += format(".TP\n.BR {} (1)\n{}\n", roff("lepus-" + command->name), roff(command->summary));
  return text + exit_status();
}

}  // namespace lepus::app
