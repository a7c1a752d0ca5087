// SPDX-License-Identifier: Apache-2.0
#include "api/bring_named_files.h"

#include <string>

#include "core/format.h"
#include "core/output_file.h"
#include "io/input_identity.h"
#include <lepus/error.h>

namespace lepus {
namespace {

namespace fs = std::filesystem;

// A name that nothing else has in the new folder: "angles.txt", or "angles-2.txt".
fs::path free_name(const fs::path& wanted, const fs::path& folder) {
  fs::path name = wanted.filename();
  for (int number = 2; name == "scan.toml" || fs::exists(folder / name); ++number)
    name = format("{}-{}{}", wanted.stem().string(), number, wanted.extension().string());
  return name;
}

// Every file that the scan file names comes along, so that the new folder stands alone: "..._file", and the files of
// corrections.
void bring_files(toml::table& table, bool correction, const fs::path& from, const fs::path& to) {
  for (auto&& [key, node] : table) {
    const std::string_view name = key.str();
    if (auto* inner = node.as_table()) bring_files(*inner, false, from, to);
    if (auto* list = node.as_array())
      for (auto& element : *list)
        if (auto* inner = element.as_table()) bring_files(*inner, name == "correct", from, to);
    auto* text = node.as_string();
    const bool is_file = name.ends_with("_file") || (correction && (name == "file" || name == "calibration"));
    if (text == nullptr || !is_file) continue;
    const fs::path source = from / text->get(), name_there = free_name(source, to);
    fs::copy_file(source, to / name_there);
    *text = name_there.string();
  }
}

// A volume may be several files that name each other: they keep their names, in a folder of their own.
std::string bring_volume(const std::string& key, const fs::path& source, const fs::path& to) {
  const std::string text = source.string();
  const fs::path file = fs::exists(source) ? source : fs::path(text.substr(0, text.find(":/")));  // of a dataset
  const fs::path folder = free_name(key, to);
  for (const fs::path& part : files_of_input(source)) {
    if (!fs::is_regular_file(part))
      throw Error(ErrorKind::input, {.what = "file not found",
                                     .where = part.string(),
                                     .why = format("method.{} of the scan file names it", key),
                                     .hint = "put it there, or leave the key out"});
    const fs::path within = part.lexically_relative(file.parent_path());
    if (*within.begin() == "..")
      throw Error(ErrorKind::unsupported, {.what = "a volume that lies in several folders is not copied",
                                           .where = part.string(),
                                           .why = format("method.{} of the scan file needs it", key),
                                           .hint = "make one file of it with lepus convert"});
    const fs::path there = to / folder / within;
    fs::create_directories(there.parent_path());
    fs::copy_file(part, there);
  }
  return (folder / file.filename()).string() + text.substr(file.string().size());
}

void bring_volumes_of_method(toml::table& document, const fs::path& from, const fs::path& to) {
  toml::table* method = document["method"].as_table();
  if (method == nullptr) return;
  for (const std::string key : {"start", "mask", "prior"}) {
    toml::value<std::string>* name = (*method)[key].as_string();
    if (name == nullptr || (key == "start" && (name->get() == "zero" || name->get() == "fdk"))) continue;
    *name = bring_volume(key, from / name->get(), to);
  }
}

}  // namespace

void bring_named_files(toml::table& document, const Scan& scan, const fs::path& from, const fs::path& to) {
  // Angles that are listed elsewhere become a text file of one for each frame: a dataset stays behind, and a list may
  // hold more than the frames.
  toml::table* geometry = document["geometry"].as_table();
  const bool listed =
      geometry != nullptr && (geometry->contains("angles_dataset") || geometry->contains("angles_file"));
  if (listed)
    for (const char* key : {"angles_dataset", "angles_file", "first_angle_index", "angles_unit"}) geometry->erase(key);
  bring_files(document, false, from, to);
  bring_volumes_of_method(document, from, to);
  if (!listed) return;
  std::string lines;
  for (const double angle : scan.listed_angles_deg) lines += format("{}\n", angle);
  const fs::path name = free_name("angles.txt", to);
  write_file(to / name, lines, false);
  geometry->insert("angles_file", name.string());
}

}  // namespace lepus
