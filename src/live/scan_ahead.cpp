// SPDX-License-Identifier: Apache-2.0
#include "live/scan_ahead.h"

#include <algorithm>
#include <utility>

#include <fnmatch.h>
#include <toml++/toml.h>

#include "core/format.h"
#include "core/input_file.h"
#include "io/frame_sources.h"
#include "live/frame_series.h"
#include "io/number_file.h"

namespace lepus {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void only_at_the_end(const ScanDocument& document, const std::string& key, const std::string& why,
                                  const std::string& hint) {
  document.fail(key, "this cannot be done while views still come", why, hint, ErrorKind::unsupported);
}

void refuse_other_methods(const ScanDocument& document) {
  const std::string hint = "run lepus reconstruct when the scan is finished, or leave [method] out for FDK";
  if (const auto name = document.get<std::string>("method.name"); name != "fdk")
    only_at_the_end(document, "method.name", format("{} goes through all views again and again", name), hint);
  for (const ScanKey& key : scan_keys())
    if (const std::string name = format("{}.{}", key.section, key.name);
        key.section == "method" && key.name != "name" && !document.given("method.name") && document.given(name))
      only_at_the_end(document, name, format("views are added by FDK as they come, of which {} is no choice", name),
                      hint);
}

void refuse_what_needs_all_views(const ScanDocument& document) {
  refuse_other_methods(document);
  if (document.get<std::string>("geometry.center") == "auto")
    only_at_the_end(document, "geometry.center", "the axis is found in the views of the whole scan",
                    "find it in an earlier scan with lepus center, and write what it prints into the scan file");
  if (document.get<std::string>("frames.order") == "sinograms")
    only_at_the_end(document, "frames.order", "a sinogram is whole when the last view is in it",
                    "run lepus reconstruct when the scan is finished");
  for (const std::string key : {"frames.axes", "frames.images", "frames.image_key"})
    if (document.given(key))
      only_at_the_end(document, key, key + " is for stacks, and each view must be a file of its own",
                      "run lepus reconstruct when the scan is finished");
  if (document.given("intensity.from") && document.get<std::string>("intensity.from") == "air-region")
    only_at_the_end(document, "intensity.from", "I0 is the mean of the air region over all views",
                    "use flats or intensity.value, and [[correct]] kind = \"drift\" with region_px against drift");
  if (document.given("frames.flats_at_view"))
    only_at_the_end(document, "frames.flats_at_view", "flats that are taken between or after views are not there yet",
                    "use the first flats alone, or run lepus reconstruct when the scan is finished");
}

PixelType raw_pixel_type(const std::string& name) {
  for (const auto type :
       {PixelType::u8, PixelType::i8, PixelType::u16, PixelType::i16, PixelType::u32, PixelType::i32, PixelType::f32})
    if (name == name_of(type)) return type;
  return PixelType::f64;
}

// Offset of a place that toml++ gives as line and column, both counted from 1.
std::size_t offset_of(const std::string& text, toml::source_position place) {
  std::size_t at = 0;
  for (toml::source_index line = 1; line < place.line; ++line) at = text.find('\n', at) + 1;
  for (toml::source_index column = 1; column < place.column && at < text.size(); ++column) {
    ++at;  // columns count characters of UTF-8
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  }
  return at;
}

std::pair<std::size_t, std::size_t> extent_in(const std::string& toml, const std::string& section,
                                              const std::string& key) {
  const toml::table table = toml::parse(toml);
  const toml::node* node = table[section][key].node();
  if (!node)
    throw Error(ErrorKind::internal, {.what = section + "." + key, .where = {}, .why = "no such key", .hint = {}});
  return {offset_of(toml, node->source().begin), offset_of(toml, node->source().end)};
}

}  // namespace

std::string value_text(const std::string& toml, const std::string& section, const std::string& key) {
  const auto [begin, end] = extent_in(toml, section, key);
  return toml.substr(begin, end - begin);
}

std::string with_value(const std::string& toml, const std::string& section, const std::string& key,
                       const std::string& value) {
  const auto [begin, end] = extent_in(toml, section, key);
  const std::string before = toml.substr(begin, end - begin);
  const auto lines = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  std::string list = value;
  if (!list.empty() && list.back() == ']') list.insert(list.size() - 1, std::string(lines, '\n'));
  return toml.substr(0, begin) + list + toml.substr(end);
}

ScanAhead::ScanAhead(const fs::path& file)
    : file_(file), text_(read_text_file(file, largest_scan_file)), document_(text_, file) {
  document_.require<std::vector<std::string>>("frames.files", "a scan needs frames");
  refuse_what_needs_all_views(document_);
}

std::vector<std::string> ScanAhead::frame_names() const {
  return document_.get<std::vector<std::string>>("frames.files");
}

std::int64_t ScanAhead::frames(std::optional<std::int64_t> given) const {
  const std::int64_t names = listed_files(folder(), frame_names());
  std::int64_t listed = names == 1 && given ? 0 : names;  // one file and many views: not what it says
  if (const auto views = document_.find<std::int64_t>("frames.views")) listed = *views;
  if (document_.given("geometry.angles_deg"))
    listed = static_cast<std::int64_t>(document_.get<std::vector<double>>("geometry.angles_deg").size());
  if (document_.given("geometry.angles_file") && !document_.given("geometry.first_angle_index"))
    listed = static_cast<std::int64_t>(read_number_file(document_.path_of("geometry.angles_file")).values.size());
  if (!given && listed == 0)
    throw Error(ErrorKind::usage, {.what = "how many views will come is not known",
                                   .where = document_.where("frames.files"),
                                   .why = "the scan file lists neither all files nor all angles",
                                   .hint = "say it with --views"});
  if (given && listed > 0 && *given != listed)
    throw Error(ErrorKind::usage, {.what = format("--views {} does not match the scan file", *given),
                                   .where = file_.string(),
                                   .why = format("it lists {} views", listed),
                                   .hint = "leave --views out, or correct the scan file"});
  return given.value_or(listed);
}

FrameFiles ScanAhead::as_frame(const fs::path& file) const {
  FrameFiles files;
  files.files = {file};
  if (!document_.section_given("frames.raw")) return files;
  const std::string because = "[frames.raw] describes the frames";
  RawLayout raw;
  raw.columns = document_.require<std::int64_t>("frames.raw.columns", because);
  raw.rows = document_.require<std::int64_t>("frames.raw.rows", because);
  raw.type = raw_pixel_type(document_.get<std::string>("frames.raw.type"));
  raw.header_bytes = document_.get<std::int64_t>("frames.raw.header_bytes");
  raw.big_endian = document_.get<std::string>("frames.raw.byte_order") == "big";
  raw.frames_per_file = document_.get<std::int64_t>("frames.raw.frames_per_file");
  files.raw = raw;
  return files;
}

bool ScanAhead::takes(const fs::path& file) const {
  std::error_code code;
  const auto folder_of = [&](const fs::path& path) {
    return fs::weakly_canonical(fs::absolute(path).lexically_normal().parent_path(), code);
  };
  const std::string name = file.filename().string();
  for (const std::string key : {"frames.files", "frames.flats", "frames.darks"}) {
    if (!document_.given(key)) continue;
    for (const std::string& wanted : document_.get<std::vector<std::string>>(key)) {
      const fs::path pattern = folder() / wanted;
      if (folder_of(pattern / "") == folder_of(file) && is_tiff_name(file)) return true;
      if (folder_of(pattern) == folder_of(file) && ::fnmatch(pattern.filename().c_str(), name.c_str(), FNM_PERIOD) == 0)
        return true;
    }
  }
  return false;
}

std::string ScanAhead::missing_flats() const {
  for (const std::string key : {"frames.flats", "frames.darks"}) {
    if (!document_.given(key)) continue;
    for (const std::string& name : document_.get<std::vector<std::string>>(key)) try {
        (void)expand_pattern(folder(), name);
      } catch (const Error&) {
        return format("{} = \"{}\"", key, name);
      }
  }
  return {};
}

Scan ScanAhead::read(const fs::path& one_frame, std::int64_t frames) const {
  const std::vector<std::string> stand_ins(static_cast<std::size_t>(frames), fs::absolute(one_frame).string());
  Scan scan = read_scan_text(with_value(text_, "frames", "files", to_toml(stand_ins)), file_);
  if (scan.recorded.frames != frames)
    throw Error(
        ErrorKind::unsupported,
        {.what = "these frames cannot be watched",
         .where = one_frame.string(),
         .why =
             format("the file holds {} frames, and whether it is whole cannot be seen", scan.recorded.frames / frames),
         .hint = "let the scanner write one file per view, or run lepus reconstruct when the scan is finished"});
  scan.resolved = with_value(scan.resolved, "frames", "files", value_text(text_, "frames", "files"));
  return scan;
}

}  // namespace lepus
