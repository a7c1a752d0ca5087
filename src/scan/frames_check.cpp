// SPDX-License-Identifier: Apache-2.0
// Are the frames what they seem? Files that do not look like frames, frames that are missing, flats that are frames.
#include <algorithm>
#include <map>
#include <set>

#include <sys/stat.h>

#include "core/format.h"
#include "scan/sections.h"

namespace lepus {
namespace {

namespace fs = std::filesystem;

std::string short_name(const FrameFiles& set, std::size_t file) { return set.files[file].filename().string(); }

// "preview.tif is", "a.tif and 7 more are"
std::string listed(const FrameFiles& set, const std::vector<std::size_t>& files) {
  if (files.size() == 1) return short_name(set, files[0]) + " is";
  return format("{} and {} more are", short_name(set, files[0]), files.size() - 1);
}

void warn_of_files(const Scan& scan, Resolution& resolution) {
  const FrameNames& names = resolution.names;
  const auto warn = [&](std::string text) { resolution.warnings.push_back("frames.files: " + std::move(text)); };
  if (!names.unlike.empty())
    warn(
        format("{} named unlike the others ({}) and yet taken as {} {} of the scan: if it is none, every later frame "
               "has a wrong angle; move it away, or take a narrower pattern",
               listed(scan.frames, names.unlike), names.usual, names.unlike.size() == 1 ? "frame" : "frames, from",
               names.unlike.front()));
  if (names.same_number)
    warn(format("{} and {} have the same number, and both are taken as frames",
                short_name(scan.frames, names.same_number->first), short_name(scan.frames, names.same_number->second)));
  if (!names.missing.empty() && !names.nearly_whole)
    warn(format("the numbers of the files have gaps: {} and others are missing", names.missing.front()));
  if (!names.mixed.empty())
    warn(format("{}: is this the order of the views? List the files in order where it is not", names.mixed));
  std::vector<std::size_t> late = out_of_time(scan.frames.files);
  std::erase_if(late, [&](std::size_t i) { return std::ranges::find(names.unlike, i) != names.unlike.end(); });
  if (!late.empty())
    warn(format("{} older or younger than all the others, which were written one after the other: is it of this scan?",
                listed(scan.frames, late)));
}

// Flats before and after a scan may be named otherwise; one alone among many is strange.
void warn_of_other_images(const std::optional<FrameFiles>& set, const char* what, Resolution& resolution) {
  if (!set) return;
  const FrameNames names = look_at_names(set->files);
  if (names.unlike.size() == 1 && set->files.size() > 5)
    resolution.warnings.push_back(
        format("frames.{0}: {1} named unlike the others ({2}) and yet taken as one of the {0}", what,
               listed(*set, names.unlike), names.usual));
}

// The same file may be reached by several paths.
using FileId = std::pair<dev_t, ino_t>;
FileId id_of(const fs::path& file) {
  struct stat info {};
  return ::stat(file.c_str(), &info) == 0 ? FileId{info.st_dev, info.st_ino} : FileId{};
}

std::vector<std::string> image_names(const FrameFiles& set) {
  const auto source = open_frames(set);
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < source->frames(); ++i) names.push_back(source->name(i));
  return names;
}

// The first image that is in both; "" where there is none.
std::string shared_image(const FrameFiles& a, const FrameFiles& b) {
  std::map<FileId, fs::path> files;
  for (const auto& file : a.files) files.emplace(id_of(file), file);
  FrameFiles renamed = b;
  bool any = false;
  for (auto& file : renamed.files)
    if (const auto found = files.find(id_of(file)); found != files.end()) {
      file = found->second;
      any = true;
    }
  if (!any) return {};
  const auto names = image_names(a);
  const std::set<std::string> known(names.begin(), names.end());
  for (const std::string& name : image_names(renamed))
    if (known.contains(name) || (a.order != b.order && a.dataset == b.dataset)) return name;
  return {};
}

}  // namespace

void check_series(const ScanDocument& document, const Scan& scan, Resolution& resolution) {
  resolution.names = look_at_names(scan.frames.files);
  for (const auto* set : {&scan.flats, &scan.darks})
    if (*set) leave_out(resolution.names, (*set)->files);
  warn_of_files(scan, resolution);
  if (document.given("frames.flats")) warn_of_other_images(scan.flats, "flats", resolution);
  if (document.given("frames.darks")) warn_of_other_images(scan.darks, "darks", resolution);
  const auto expected = document.find<std::int64_t>("frames.views");
  if (!expected || *expected == scan.recorded.frames) return;
  const bool lost = scan.recorded.frames < *expected;
  std::string hint;
  if (static_cast<std::int64_t>(scan.frames.files.size()) == scan.recorded.frames)
    hint = explain_count(resolution.names, scan.frames.files, *expected);
  document.fail("frames.views", lost ? "frames are missing" : "there are more frames than views",
                format("frames.views = {}, there are {} frames", *expected, scan.recorded.frames),
                !hint.empty() ? hint
                : lost        ? "put the missing frames back"
                              : "leave out what is no frame of this scan");
}

void require_whole_series(const ScanDocument& document, const Scan& scan, const FrameNames& names) {
  const auto fail = [&](const std::string& what, const std::string& file, const std::string& hint) {
    throw Error(ErrorKind::input,
                {.what = what,
                 .where = document.where("frames.files") + ", " + file,
                 .why = "the angles are equally spaced, so that every later view would get a wrong one",
                 .hint = hint});
  };
  if (!names.missing.empty() && names.nearly_whole)
    fail("a frame is missing from the series", names.missing.front(),
         "put the file back, or give the angle of each frame with geometry.angles_deg or angles_file");
  if (!names.copies.empty())
    fail("a file is no frame of the series", scan.frames.files[names.copies.front()].string(),
         format("it is named after another frame, as copies are; the others are named as {}. Move it away, or take a "
                "narrower pattern",
                names.usual));
  if (names.same_number)
    fail("two files have the same number", scan.frames.files[names.same_number->second].string(),
         format("{} has it too; move one of them away", short_name(scan.frames, names.same_number->first)));
}

void refuse_shared_images(const ScanDocument& document, const Scan& scan) {
  const auto refuse = [&](const std::string& key, const std::string& set, const std::string& other,
                          const std::string& image) {
    const bool hdf5 = !scan.frames.dataset.empty();
    document.fail(
        document.given(key) ? key : "frames.files", format("{} are {}", set, other), format("{} is among both", image),
        hdf5 ? format("name the dataset of the {0} with {0}_dataset, or which of its images they are with "
                      "{0}_images (and the frames with images, or all with image_key)",
                      set)
             : format("name the files of the {0} alone, or which images of a stack they are with {0}_images", set));
  };
  if (scan.flats)
    if (const auto image = shared_image(scan.frames, *scan.flats); !image.empty())
      refuse("frames.flats", "flats", "frames of the scan", image);
  if (scan.darks)
    if (const auto image = shared_image(scan.frames, *scan.darks); !image.empty())
      refuse("frames.darks", "darks", "frames of the scan", image);
  if (scan.flats && scan.darks)
    if (const auto image = shared_image(*scan.flats, *scan.darks); !image.empty())
      refuse("frames.darks", "darks", "the flats", image);
}

}  // namespace lepus
