// SPDX-License-Identifier: Apache-2.0
// lepus import: a scanner's folder becomes a scan file.
#include <cstdio>
#include <filesystem>
#include <iostream>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "app/commands.h"
#include "app/imported_scan.h"
#include "app/terminal.h"
#include "core/format.h"
#include "core/output_file.h"
#include "scan/describe.h"

namespace lepus::app {
namespace {

namespace fs = std::filesystem;

struct ImportArguments {
  std::string place, output;
  GivenNumbers given;
};

bool can_ask(const Session& session) {
  return ::isatty(STDIN_FILENO) != 0 && stderr_is_terminal() && !session.common().quiet && !session.common().json;
}

// A number above zero from the terminal; asked again until it is one. Nothing at the end of the input.
std::optional<double> ask(const std::string& question) {
  for (;;) {
    write_stderr(question + ": ");
    std::string line;
    if (!std::getline(std::cin, line)) return std::nullopt;
    const auto value = header_number(line);
    if (value && *value > 0) return value;
    write_stderr("a number above zero, please; ");
  }
}

// Where no scanner is recognised the missing numbers are asked for, one after the other.
void ask_for_missing(ImportArguments& a) {
  if (!find_headers(a.place).empty()) return;
  for (const std::string& option : missing_numbers(a.given)) {
    std::optional<double>& number = option == "--pixel"         ? a.given.pixel_mm
                                    : option == "--source-axis" ? a.given.source_axis_mm
                                                                : a.given.source_detector_mm;
    number = ask(option == "--pixel"         ? "edge of a pixel of the detector, in mm"
                 : option == "--source-axis" ? "distance from the source to the rotation axis, in mm"
                                             : "distance from the source to the detector, in mm");
    if (!number) return;
  }
}

int run_import(ImportArguments a, Session& session) {
  std::error_code code;
  if (fs::is_directory(a.place, code) && can_ask(session)) ask_for_missing(a);
  const ImportedScan imported = import_place(a.place, a.given);
  const fs::path home = fs::is_directory(a.place, code) ? fs::path(a.place) : fs::path(a.place).parent_path();
  const fs::path output = a.output.empty() ? home / "scan.toml" : fs::path(a.output);
  const std::string text = scan_file_text(imported, fs::absolute(output).parent_path());
  const Scan scan = read_scan_text(text, fs::absolute(output));  // what is written can be reconstructed
  for (const auto& list : {imported.warnings, scan.warnings})
    for (const std::string& warning : list) session.context().progress.warning(warning);
  write_file(output, text, session.common().force);
  session.report(format("scanner   {}\nwrote     {}\n\nnext: lepus reconstruct {}\n", imported.scanner, output.string(),
                        output.string()),
                 fields_text(imported) + describe_text(scan));
  nlohmann::json object = describe_json(scan);
  object["scanner"] = imported.scanner;
  object["header"] = imported.header.string();
  object["scan_file"] = output.string();
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
  command->examples = {{"lepus import scans/bone/", "writes scans/bone/scan.toml"},
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
