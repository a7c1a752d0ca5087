// SPDX-License-Identifier: Apache-2.0
// lepus import: a scanner's folder becomes a scan file.
#include <iostream>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "app/commands.h"
#include "app/header_fields.h"
#include "app/terminal.h"
#include "core/format.h"
#include <lepus/import.h>

namespace lepus::app {
namespace {

struct ImportArguments {
  std::string place, output;
  GivenNumbers given;
};

bool can_ask(const Session& session) {
  return ::isatty(STDIN_FILENO) != 0 && stderr_is_terminal() && !session.common().quiet && !session.common().json;
}

// A line from the terminal; nothing at the end of the input.
std::optional<std::string> ask(const std::string& question) {
  write_stderr(question + ": ");
  std::string line;
  if (!std::getline(std::cin, line)) return std::nullopt;
  return line;
}

int run_import(const ImportArguments& a, Session& session) {
  ImportOptions options;
  options.given = a.given;
  options.scan_file = a.output;
  if (can_ask(session)) options.ask = ask;
  options.call = session.call();
  const ImportReport imported = import_scan(a.place, options);
  const std::string scan_file = imported.scan_file.string();
  session.report(
      format("scanner   {}\nwrote     {}\n\nnext: lepus reconstruct {}\n", imported.scanner, scan_file, scan_file),
      fields_text(imported.fields) + imported.scan_text);
  nlohmann::json object = nlohmann::json::parse(imported.scan_json);
  object["scanner"] = imported.scanner;
  object["header"] = imported.header.string();
  object["scan_file"] = scan_file;
  session.result(object);
  return exit_ok;
}

}  // namespace

std::unique_ptr<Command> import_command() {
  auto arguments = std::make_shared<ImportArguments>();
  auto command = std::make_unique<Command>();
  ImportArguments& a = *arguments;
  command->name = "import";
  command->summary = "write the scan file of a scanner's folder";
  command->description =
      "Recognises the scanner by its header, reads the geometry, the angles and what the frames are, and writes a scan "
      "file with a comment on every value that says where it came from. The frames stay where they are. A frame that "
      "is "
      "missing, a second scan in the same folder or a header that contradicts its files is an error.\n\n"
      "A folder of no known scanner is taken as a series of TIFF frames; the options below, or answers in a terminal, "
      "say what only you know. docs/scanners.md lists the scanners and their fields.";
  command->examples = {{"lepus simulate ball -o bone/ --preset tiny --format nikon && lepus import bone/",
                        "a scanner's folder, simulated; writes bone/scan.toml"},
                       {"lepus import frames/ --pixel 0.2 --source-axis 500 --source-detector 1000",
                        "frames of a scanner that lepus does not know"}};
  command->writes = true;
  OptionTable& table = command->options;
  table.positional("PLACE", a.place, "the folder of a scan, or its header").must().file();
  table.value("-o,--output", "FILE", a.output, "the scan file to write").file().otherwise("scan.toml in that folder");
  table.group("Numbers that go before those of the header");
  table.value("--pixel", "MM", a.given.pixel_mm, "edge of a pixel of the detector").otherwise("of the header");
  table.value("--source-axis", "MM", a.given.source_axis_mm, "from the source to the rotation axis")
      .otherwise("of the header");
  table.value("--source-detector", "MM", a.given.source_detector_mm, "from the source to the detector")
      .otherwise("of the header");
  table.value("--arc", "DEG", a.given.arc_deg, "angle that the frames cover in equal steps")
      .otherwise("of the header, or 360");
  table.flag("--parallel", a.given.parallel, "the beam is parallel: a synchrotron");
  command->run = [arguments](Session& session) { return run_import(*arguments, session); };
  return command;
}

}  // namespace lepus::app
