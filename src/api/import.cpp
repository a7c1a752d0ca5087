// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "api/refuse_option.h"
#include "core/json.h"
#include "core/output_file.h"
#include "import/import_scan.h"
#include "scan/describe.h"

namespace lepus {
namespace {

namespace fs = std::filesystem;

// Asked again until the answer is a number above zero, which people need a few times; nothing where there is no answer.
std::optional<double> asked_number(const ImportOptions& options, const std::string& question) {
  std::string before;
  for (int asked = 0; asked < 20; ++asked) {
    const std::optional<std::string> answer = options.ask(before + question);
    if (!answer) return std::nullopt;
    const auto value = header_number(*answer);
    if (value && *value > 0) return value;
    before = "a number above zero, please; ";
  }
  throw Error(ErrorKind::usage, {.what = "no answer was a number above zero",
                                 .where = {},
                                 .why = "the question was: " + question,
                                 .hint = "give the numbers, or leave the questions out"});
}

// Where no scanner is recognised the missing numbers are asked for, one after the other.
GivenNumbers with_asked_numbers(const fs::path& place, const ImportOptions& options) {
  GivenNumbers given = options.given;
  std::error_code code;
  if (!options.ask || !fs::is_directory(place, code) || !find_headers(place).empty()) return given;
  for (const std::string& option : missing_numbers(given)) {
    std::optional<double>& number = option == "--pixel"         ? given.pixel_mm
                                    : option == "--source-axis" ? given.source_axis_mm
                                                                : given.source_detector_mm;
    number = asked_number(options, option == "--pixel"         ? "edge of a pixel of the detector, in mm"
                                   : option == "--source-axis" ? "distance from the source to the rotation axis, in mm"
                                                               : "distance from the source to the detector, in mm");
    if (!number) break;
  }
  return given;
}

}  // namespace

ImportReport import_scan(const fs::path& place, const ImportOptions& options) {
  require_name(place, "folder");
  ImportedScan imported = import_place(place, with_asked_numbers(place, options));
  std::error_code code;
  const fs::path home = fs::is_directory(place, code) ? place : place.parent_path();
  const fs::path output = options.scan_file.empty() ? home / "scan.toml" : options.scan_file;
  refuse_same_file(imported.header, output);
  const std::string text = scan_file_text(imported, fs::absolute(output).parent_path());
  const Scan scan = read_scan_text(text, fs::absolute(output));  // what is written can be reconstructed
  for (const fs::path& frame : scan.frames.files) refuse_same_file(frame, output);
  if (options.call.progress)
    for (const auto& list : {imported.warnings, scan.warnings})
      for (const std::string& warning : list) options.call.progress->warning(warning);
  write_file(output, text, options.call.force);
  return {.scanner = imported.scanner,
          .header = imported.header,
          .fields = std::move(imported.fields),
          .scan_file = output,
          .scan_text = describe_text(scan),
          .scan_json = json_text(describe_json(scan))};
}

}  // namespace lepus
