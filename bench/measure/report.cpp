// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/report.h"

#include <algorithm>

#include "core/format.h"
#include "core/output_file.h"
#include <lepus/error.h>

namespace lepus::measure {

bool Report::correct() const {
  return std::all_of(figures.begin(), figures.end(), [](const Figure& f) { return f.correct(); });
}

std::vector<std::string> groups_of(const Report& report) {
  std::vector<std::string> groups;
  for (const Figure& f : report.figures)
    if (std::find(groups.begin(), groups.end(), f.group) == groups.end()) groups.push_back(f.group);
  return groups;
}

void write_report(const Report& report, const std::filesystem::path& folder, const std::string& name) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed)
    throw Error(ErrorKind::disk, {.what = "the folder cannot be made",
                                  .where = folder.string(),
                                  .why = failed.message(),
                                  .hint = "give another one with --output"});
  const auto write = [&](const char* ending, const std::string& text) {
    write_file(folder / (name + ending), text, true);
  };
  write(".json", to_json(report));
  write(".md", to_markdown(report));
  write(".svg", to_svg(report));
}

}  // namespace lepus::measure
