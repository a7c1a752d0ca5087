// SPDX-License-Identifier: Apache-2.0
// [frames], [frames.raw] and [intensity]: which files, which part of them, what their values mean.
#include <algorithm>
#include <functional>
#include <memory>

#include "core/format.h"
#include "io/frame_sources.h"
#include "io/json_text.h"
#include "scan/sections.h"

namespace lepus {
namespace {

namespace fs = std::filesystem;

PixelType pixel_type_of(const std::string& name) {
  for (const auto type : {PixelType::u8, PixelType::i8, PixelType::u16, PixelType::i16, PixelType::u32, PixelType::i32,
                          PixelType::f32, PixelType::f64})
    if (name == name_of(type)) return type;
  throw Error(ErrorKind::internal, {.what = "pixel type " + name, .where = {}, .why = {}, .hint = {}});
}

std::vector<fs::path> expanded(const ScanDocument& document, const std::string& key) {
  std::vector<fs::path> files;
  for (const auto& pattern : document.get<std::vector<std::string>>(key)) {
    const auto found = located(document, key, [&] { return expand_pattern(document.folder(), pattern); });
    if (found.empty())
      document.fail(key, format("{}: no file matches \"{}\"", key, pattern),
                    format("looked in {}", document.folder().string()),
                    "names in a scan file are relative to its folder; quote patterns such as \"frames/*.tif\"");
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

// Flats and darks are images of the detector even where the scan's images are sinograms: `detector` is their size.
RawLayout raw_layout(const ScanDocument& document, const std::string& key, const fs::path& first_file,
                     const RecordedFrames* detector) {
  const std::string because = format("{} names files without a header ({})", key, first_file.filename().string());
  RawLayout raw;
  raw.columns = document.require<std::int64_t>("frames.raw.columns", because);
  raw.rows = document.require<std::int64_t>("frames.raw.rows", because);
  raw.type = pixel_type_of(document.get<std::string>("frames.raw.type"));
  raw.header_bytes = document.get<std::int64_t>("frames.raw.header_bytes");
  raw.big_endian = document.get<std::string>("frames.raw.byte_order") == "big";
  raw.frames_per_file = document.get<std::int64_t>("frames.raw.frames_per_file");
  if (detector) {
    raw.columns = detector->columns;
    raw.rows = detector->rows;
    raw.frames_per_file = 0;  // as many as each file holds
  }
  return raw;
}

FrameFiles frame_files(const ScanDocument& document, const std::string& key, const std::string& dataset_key,
                       const RecordedFrames* detector, Resolution& resolution) {
  FrameFiles files;
  files.files = expanded(document, key);
  const auto& first = files.files.front();
  if (is_hdf5_name(first))
    files.dataset = document.get<std::string>(dataset_key);
  else if (document.given(dataset_key))
    document.fail(dataset_key, format("{} is only for HDF5 files", dataset_key),
                  format("{} names {}", key, first.filename().string()), "leave it out");
  else
    resolution.inactive.insert(dataset_key);
  const bool has_header = is_hdf5_name(first) || is_tiff_name(first);
  const bool described = document.section_given("frames.raw");
  if (!has_header && (described || (is_raw_name(first) && !fs::exists(side_car_of(first)))))
    files.raw = raw_layout(document, key, first, detector);
  return files;
}

// Indices first, first + step, ... up to `last`, checked against how many there are.
struct Range {
  std::int64_t first, step, count;
};
Range selected(const ScanDocument& document, const std::string& first_key, const std::string& last_key,
               const std::string& step_key, std::int64_t available, const char* what, Resolution& resolution) {
  const auto first = document.get<std::int64_t>(first_key);
  const auto last = document.find<std::int64_t>(last_key).value_or(available - 1);
  const auto step = document.get<std::int64_t>(step_key);
  for (const auto& [key, value] : {std::pair{first_key, first}, std::pair{last_key, last}})
    if (value >= available)
      document.fail(key, format("{} = {} is past the end", key, value), format("there are {} {}", available, what),
                    format("they are counted from 0 to {}", available - 1));
  if (last < first)
    document.fail(last_key, format("no {} are selected", what),
                  format("{} = {}, {} = {}", first_key, first, last_key, last),
                  "the last must not come before the first");
  resolution.derived[last_key] = last;
  return {first, step, (last - first) / step + 1};
}

void check_same_size(const ScanDocument& document, const std::string& key, const FrameFiles& files,
                     const RecordedFrames& recorded) {
  const auto source = located(document, key, [&] { return open_frames(files); });
  if (source->columns() != recorded.columns || source->rows() != recorded.rows)
    document.fail(key, format("{} have another size than the frames", key),
                  format("{} is {} x {} pixels, the frames are {} x {}", source->name(0), source->columns(),
                         source->rows(), recorded.columns, recorded.rows),
                  "they must come from the same detector in the same mode");
}

// Each name of frames.flats stands for flats taken at one time.
void read_flat_series(const ScanDocument& document, Scan& scan) {
  const std::string key = "frames.flats_at_view";
  const auto times = document.get<std::vector<double>>(key);
  const auto names = document.given("frames.flats") ? document.get<std::vector<std::string>>("frames.flats")
                                                    : std::vector<std::string>{};
  if (times.size() != names.size() || times.size() < 2)
    document.fail(key, "flats and their times do not match",
                  format("{} numbers for {} names in frames.flats", times.size(), names.size()),
                  "give one number for each name in frames.flats, two or more of them");
  if (std::adjacent_find(times.begin(), times.end(), std::greater_equal<>()) != times.end())
    document.fail(key, "the times of the flats do not ascend", "", "name the flats in the order they were taken");
  const std::vector<std::int64_t>& frames = scan.selection.frames;
  for (std::size_t i = 0; i < names.size(); ++i) {
    FrameFiles files = *scan.flats;
    files.files = located(document, "frames.flats", [&] { return expand_pattern(document.folder(), names[i]); });
    const auto later = std::find_if(frames.begin(), frames.end(),
                                    [&](std::int64_t frame) { return static_cast<double>(frame) >= times[i]; });
    scan.flat_series.push_back({static_cast<double>(later - frames.begin()), std::move(files)});
  }
}

}  // namespace

void read_frames_section(const ScanDocument& document, Scan& scan, Resolution& resolution) {
  document.require<std::vector<std::string>>("frames.files", "a scan needs frames");
  scan.frames = frame_files(document, "frames.files", "frames.dataset", nullptr, resolution);
  const bool sinograms = document.get<std::string>("frames.order") == "sinograms";
  scan.frames.order = sinograms ? FrameOrder::sinograms : FrameOrder::frames;
  const auto source = located(document, "frames.files", [&] { return open_frames(scan.frames); });
  scan.recorded = {source->columns(), source->rows(), source->frames(), source->pixel_type()};

  const Range views = selected(document, "frames.first_view", "frames.last_view", "frames.view_step",
                               scan.recorded.frames, "frames", resolution);
  for (std::int64_t i = 0; i < views.count; ++i) scan.selection.frames.push_back(views.first + i * views.step);
  const Range rows = selected(document, "frames.first_row", "frames.last_row", "frames.row_step", scan.recorded.rows,
                              "rows", resolution);
  scan.selection.first_row = rows.first;
  scan.selection.row_step = rows.step;
  scan.selection.rows = rows.count;

  if (document.given("frames.flats")) {
    scan.flats = frame_files(document, "frames.flats", "frames.flats_dataset", &scan.recorded, resolution);
    check_same_size(document, "frames.flats", *scan.flats, scan.recorded);
  }
  if (document.given("frames.flats_at_view")) read_flat_series(document, scan);
  if (document.given("frames.darks")) {
    scan.darks = frame_files(document, "frames.darks", "frames.darks_dataset", &scan.recorded, resolution);
    check_same_size(document, "frames.darks", *scan.darks, scan.recorded);
  }
  for (const std::string set : {"flats", "darks"}) {
    if (document.given("frames." + set)) continue;
    const std::string dataset = format("frames.{}_dataset", set);
    if (document.given(dataset))
      document.fail(dataset, format("{} is set, but frames.{} is not", dataset, set), "",
                    format("add {} = \"...\" with the HDF5 file that holds them", set));
    resolution.inactive.insert(dataset);
  }

  const bool any_raw = scan.frames.raw || (scan.flats && scan.flats->raw) || (scan.darks && scan.darks->raw);
  if (!any_raw && document.section_given("frames.raw"))
    document.fail("frames.raw", "[frames.raw] is only for files without a header",
                  format("frames.files names {}", scan.frames.files.front().filename().string()),
                  "leave the section out");
  if (!any_raw)
    for (const auto& key : scan_keys())
      if (key.section == "frames.raw") resolution.inactive.insert(format("frames.raw.{}", key.name));

  scan.content =
      document.get<std::string>("frames.content") == "counts" ? FrameContent::counts : FrameContent::line_integrals;
  scan.scales = {.frames = document.get<double>("frames.frames_scale"),
                 .flats = document.get<double>("frames.flats_scale"),
                 .darks = document.get<double>("frames.darks_scale")};
  scan.maximum_bad_fraction = document.get<double>("frames.maximum_bad_fraction");
  scan.saturation_level = document.get<double>("frames.saturation_level");
}

void read_intensity_section(const ScanDocument& document, Scan& scan, Resolution& resolution) {
  if (scan.content == FrameContent::line_integrals) {
    for (const char* key : {"frames.flats", "frames.darks", "frames.frames_scale", "frames.flats_scale",
                            "frames.darks_scale", "intensity.from", "intensity.value", "intensity.air_region_px"})
      if (document.given(key))
        document.fail(key, format("{} has no use here", key),
                      "frames.content = \"line-integrals\": the logarithm is taken",
                      format("leave out {}, or say content = \"counts\"", key));
    return;
  }
  const auto from = document.find<std::string>("intensity.from");
  if (!from && !scan.flats)
    document.fail(document.section_given("intensity") ? "intensity.from" : "frames.files",
                  "the intensity without an object is not known", "there are no flats, and intensity.from is not set",
                  "add frames.flats; or [intensity] with from = \"value\" and value = (counts), with from = "
                  "\"air-region\" and air_region_px = [column0, column1, row0, row1], or with from = "
                  "\"detector-maximum\"; or say frames.content = \"line-integrals\"");
  const std::string source = from.value_or("flats");
  resolution.derived["intensity.from"] = source;
  const auto only_with = [&](const char* key, const char* word) {
    if (document.given(key) && source != word)
      document.fail(key, format("{} has no use here", key), format("intensity.from is \"{}\"", source),
                    format("say from = \"{}\", or leave {} out", word, key));
  };
  only_with("intensity.value", "value");
  only_with("intensity.air_region_px", "air-region");

  if (source == "flats") {
    scan.intensity = Intensity::flats;
    if (!scan.flats)
      document.fail("intensity.from", "there are no flats", "intensity.from = \"flats\", but frames.flats is not set",
                    "add frames.flats, or take another intensity.from");
  } else if (source == "value") {
    scan.intensity = Intensity::value;
    scan.intensity_value = document.require<double>("intensity.value", "intensity.from = \"value\"");
  } else if (source == "air-region") {
    scan.intensity = Intensity::air_region;
    const auto r =
        document.require<std::vector<std::int64_t>>("intensity.air_region_px", "intensity.from = \"air-region\"");
    if (r[0] >= r[1] || r[2] >= r[3] || r[1] > scan.recorded.columns || r[3] > scan.recorded.rows)
      document.fail("intensity.air_region_px", "the air region is empty or leaves the detector",
                    format("columns [{}, {}), rows [{}, {}); the frames are {} x {} pixels", r[0], r[1], r[2], r[3],
                           scan.recorded.columns, scan.recorded.rows),
                    "give [column0, column1, row0, row1], the ends not included");
    scan.air_region = Region{r[0], r[1], r[2], r[3]};
  } else {
    scan.intensity = Intensity::detector_maximum;
  }
}

}  // namespace lepus
