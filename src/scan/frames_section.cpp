// SPDX-License-Identifier: Apache-2.0
// [frames], [frames.raw] and [frames.sinogram]: which files, which part of them, what their values mean.
// frames_check.cpp asks whether they are what they seem.
#include <algorithm>
#include <functional>
#include <memory>

#include "core/format.h"
#include "io/file_kind.h"
#include "io/json_text.h"
#include "io/labelled_image.h"
#include "scan/image_ranges.h"
#include "io/number_file.h"
#include "io/stored_array.h"
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

FrameOrder order_of(const std::string& axes) {
  return axes == "view-row-column"   ? FrameOrder::frames
         : axes == "row-view-column" ? FrameOrder::sinograms
         : axes == "view-column-row" ? FrameOrder::frames_turned
         : axes == "row-column-view" ? FrameOrder::sinograms_turned
         : axes == "column-row-view" ? FrameOrder::columns
                                     : FrameOrder::columns_turned;
}

FrameOrder order_of_frames(const ScanDocument& document, Resolution& resolution) {
  const auto axes = document.find<std::string>("frames.axes");
  if (!axes)
    return document.get<std::string>("frames.order") == "sinograms" ? FrameOrder::sinograms : FrameOrder::frames;
  if (document.given("frames.order"))
    document.fail("frames.axes", "the order of the images is given twice", "frames.order and frames.axes",
                  "keep one of them");
  resolution.inactive.insert("frames.order");
  return order_of(*axes);
}

// A set of images: the frames, or flats or darks, whose keys begin with "flats_" or "darks_".
struct ImageSet {
  std::string files, dataset, images, axes;  // the keys
};
const ImageSet frame_keys{"frames.files", "frames.dataset", "frames.images", "frames.axes"};
ImageSet keys_of(const std::string& set) {
  return {format("frames.{}", set), format("frames.{}_dataset", set), format("frames.{}_images", set),
          format("frames.{}_axes", set)};
}

// Flats and darks are images of the detector even where the scan's images are sinograms: `detector` is their size.
RawLayout raw_layout(const ScanDocument& document, const std::string& key, const fs::path& first_file,
                     const RecordedFrames* detector, FrameOrder order) {
  const std::string because = format("{} names files without a header ({})", key, first_file.filename().string());
  RawLayout raw;
  raw.columns = document.require<std::int64_t>("frames.raw.columns", because);
  raw.rows = document.require<std::int64_t>("frames.raw.rows", because);
  raw.type = pixel_type_of(document.get<std::string>("frames.raw.type"));
  raw.header_bytes = document.get<std::int64_t>("frames.raw.header_bytes");
  raw.big_endian = document.get<std::string>("frames.raw.byte_order") == "big";
  raw.frames_per_file = document.get<std::int64_t>("frames.raw.frames_per_file");
  if (!detector) return raw;
  raw.frames_per_file = 0;  // as many as each file holds
  if (order == FrameOrder::frames || order == FrameOrder::frames_turned) {
    raw.columns = order == FrameOrder::frames ? detector->columns : detector->rows;
    raw.rows = order == FrameOrder::frames ? detector->rows : detector->columns;
  }
  return raw;
}

std::vector<LabelRule> label_rules(const ScanDocument& document, const std::string& key) {
  std::vector<LabelRule> rules;
  for (const auto& words : document.find<std::vector<std::string>>(key).value_or(std::vector<std::string>()))
    rules.push_back(located(document, key, [&] { return parse_label_rule(words); }));
  return rules;
}

LabelledLayout labelled_layout(const ScanDocument& document) {
  document.require<std::vector<std::string>>("frames.sinogram.header", "[frames.sinogram] is given");
  LabelledLayout layout;
  layout.header = label_rules(document, "frames.sinogram.header");
  layout.tail = label_rules(document, "frames.sinogram.tail");
  layout.header_end = document.find<std::string>("frames.sinogram.header_end").value_or("");
  layout.text_pixels = document.get<std::string>("frames.sinogram.pixels") == "text";
  layout.type = pixel_type_of(document.get<std::string>("frames.sinogram.type"));
  layout.big_endian = document.get<std::string>("frames.sinogram.byte_order") == "big";
  layout.columns_from = document.get<std::string>("frames.sinogram.columns_from");
  layout.lines_from = document.get<std::string>("frames.sinogram.lines_from");
  layout.number_from = document.find<std::string>("frames.sinogram.number_from").value_or("");
  located(document, "frames.sinogram.header", [&] { check_layout(layout); });
  return layout;
}

// Of the files of a set, unless their content is that of a format which describes itself.
bool is_labelled(const ScanDocument& document, const fs::path& first) {
  if (!document.section_given("frames.sinogram")) return false;
  if (document.section_given("frames.raw"))
    document.fail("frames.sinogram", "the files are described twice", "[frames.raw] and [frames.sinogram]",
                  "keep the section that fits them");
  const FileKind kind = kind_of_file(first);
  return kind == FileKind::raw || kind == FileKind::unknown;
}

FrameFiles frame_files(const ScanDocument& document, const ImageSet& keys, const RecordedFrames* detector,
                       const FrameFiles* scan_frames, Resolution& resolution) {
  FrameFiles files;
  files.files = expanded(document, keys.files);
  const auto& first = files.files.front();
  const bool described = document.section_given("frames.raw");
  const FileKind kind = described && kind_of_name(first) != FileKind::tiff && kind_of_name(first) != FileKind::hdf5
                            ? FileKind::raw
                            : kind_of_file(first);
  const bool may_be_named = kind == FileKind::zeiss || has_named_arrays(kind);
  if (kind == FileKind::hdf5 || (may_be_named && document.given(keys.dataset)))
    files.dataset = document.get<std::string>(keys.dataset);
  else if (document.given(keys.dataset))
    document.fail(keys.dataset, format("{} is only for HDF5, MATLAB, .npz, FITS and Zeiss files", keys.dataset),
                  format("{} names {}", keys.files, first.filename().string()), "leave it out");
  else
    resolution.inactive.insert(keys.dataset);
  // The views and the flats of a Zeiss scan lie in one file; another file's views are its images.
  if (kind == FileKind::zeiss && files.dataset.empty() && scan_frames && scan_frames->files == files.files)
    files.dataset = "ReferenceData";
  if (is_labelled(document, first)) files.labelled = labelled_layout(document);
  if (!scan_frames && files.labelled && !document.given("frames.order") && !document.given("frames.axes")) {
    files.order = FrameOrder::sinograms;
    resolution.derived["frames.order"] = std::string("sinograms");
  } else if (!scan_frames)
    files.order = order_of_frames(document, resolution);
  else if (const auto axes = document.find<std::string>(keys.axes))
    files.order = order_of(*axes);
  else if ((files.files == scan_frames->files && files.dataset == scan_frames->dataset) ||
           scan_frames->order == FrameOrder::frames_turned || files.labelled)
    files.order = scan_frames->order;
  if (kind == FileKind::raw && !files.labelled && (described || !fs::exists(side_car_of(first))))
    files.raw = raw_layout(document, keys.files, first, detector, files.order);
  if (const auto ranges = document.find<std::string>(keys.images)) {
    const auto whole = located(document, keys.files, [&] { return open_frames(files); });
    if (!scan_frames) resolution.images = whole->frames();
    files.images = located(document, keys.images, [&] { return parse_image_ranges(*ranges, whole->frames()); });
  }
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
                  source->columns() == recorded.rows && source->rows() == recorded.columns
                      ? format("if they are stored transposed, say {}_axes = \"view-column-row\"", key)
                      : "they must come from the same detector in the same mode");
}

// NXtomo: one dataset of frames, flats and darks, and another that says which is which.
void read_image_key(const ScanDocument& document, Scan& scan, const FrameSource& all) {
  const std::string key = "frames.image_key";
  const auto dataset = document.get<std::string>(key);
  if (document.given("frames.images"))
    document.fail("frames.images", "the frames are chosen twice", "frames.images and frames.image_key",
                  "keep one of them");
  if (kind_of_file(scan.frames.files.front()) != FileKind::hdf5)
    document.fail(key, "frames.image_key needs frames in an HDF5 file",
                  format("frames.files names {}", scan.frames.files.front().filename().string()),
                  "use images, flats_images and darks_images");
  const ImageKeys images = located(document, key, [&] {
    std::vector<double> values;
    for (const auto& file : scan.frames.files) {
      const auto part = read_number_dataset(file, dataset).values;
      values.insert(values.end(), part.begin(), part.end());
    }
    return sort_image_keys(values, all.frames());
  });
  for (const auto& [set, chosen, name] : {std::tuple{&scan.flats, &images.flats, "frames.flats"},
                                          std::tuple{&scan.darks, &images.darks, "frames.darks"}}) {
    if (document.given(name) || chosen->empty() || scan.content == FrameContent::line_integrals) continue;
    *set = scan.frames;
    (*set)->images = *chosen;
  }
  scan.frames.images = images.frames;
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
  if (document.given("frames.flats_images"))
    document.fail("frames.flats_images", "frames.flats_images has no use here",
                  "frames.flats_at_view: each name in frames.flats stands for flats of one time",
                  "write the flats of each time into a file of their own");
  if (std::adjacent_find(times.begin(), times.end(), std::greater_equal<>()) != times.end())
    document.fail(key, "the times of the flats do not ascend", "", "name the flats in the order they were taken");
  // In selected views, each of which is exposed half a recorded frame after its number.
  const double step = static_cast<double>(document.get<std::int64_t>("frames.view_step"));
  const auto in_views = [&](double frame) {
    return (frame - static_cast<double>(scan.selection.frames.front())) / step + 0.5 * (1 - 1 / step);
  };
  for (std::size_t i = 0; i < names.size(); ++i) {
    FrameFiles files = *scan.flats;
    files.files = located(document, "frames.flats", [&] { return expand_pattern(document.folder(), names[i]); });
    scan.flat_series.push_back({in_views(times[i]), std::move(files)});
  }
}

}  // namespace

void read_frames_section(const ScanDocument& document, Scan& scan, Resolution& resolution) {
  document.require<std::vector<std::string>>("frames.files", "a scan needs frames");
  scan.content =
      document.get<std::string>("frames.content") == "counts" ? FrameContent::counts : FrameContent::line_integrals;
  scan.frames = frame_files(document, frame_keys, nullptr, nullptr, resolution);
  const auto open = [&] { return located(document, "frames.files", [&] { return open_frames(scan.frames); }); };
  auto source = open();
  if (resolution.images == 0) resolution.images = source->frames();
  if (document.given("frames.image_key")) {
    read_image_key(document, scan, *source);
    source = open();
  }
  scan.recorded = {source->columns(), source->rows(), source->frames(), source->pixel_type()};

  const Range views = selected(document, "frames.first_view", "frames.last_view", "frames.view_step",
                               scan.recorded.frames, "frames", resolution);
  for (std::int64_t i = 0; i < views.count; ++i) scan.selection.frames.push_back(views.first + i * views.step);
  const Range rows = selected(document, "frames.first_row", "frames.last_row", "frames.row_step", scan.recorded.rows,
                              "rows", resolution);
  scan.selection.first_row = rows.first;
  scan.selection.row_step = rows.step;
  scan.selection.rows = rows.count;

  for (const auto& [set, files] : {std::pair{"flats", &scan.flats}, std::pair{"darks", &scan.darks}}) {
    const ImageSet keys = keys_of(set);
    if (document.given(keys.files)) {
      *files = frame_files(document, keys, &scan.recorded, &scan.frames, resolution);
      check_same_size(document, keys.files, **files, scan.recorded);
      continue;
    }
    for (const auto& key : {keys.dataset, keys.images, keys.axes})
      if (document.given(key))
        document.fail(key, format("{} is set, but {} is not", key, keys.files), "",
                      format("add {} = \"...\" with the file that holds them", set));
    resolution.inactive.insert(keys.dataset);
  }
  check_series(document, scan, resolution);
  refuse_shared_images(document, scan);
  if (document.given("frames.flats_at_view")) read_flat_series(document, scan);

  const bool any_raw = scan.frames.raw || (scan.flats && scan.flats->raw) || (scan.darks && scan.darks->raw);
  if (!any_raw && document.section_given("frames.raw"))
    document.fail("frames.raw", "[frames.raw] is only for files without a header",
                  format("frames.files names {}", scan.frames.files.front().filename().string()),
                  "leave the section out");
  const bool any_labelled =
      scan.frames.labelled || (scan.flats && scan.flats->labelled) || (scan.darks && scan.darks->labelled);
  if (!any_labelled && document.section_given("frames.sinogram"))
    document.fail("frames.sinogram", "[frames.sinogram] has no use here",
                  format("{} is a file that describes itself", scan.frames.files.front().filename().string()),
                  "leave the section out");
  for (const auto& key : scan_keys())
    if ((key.section == "frames.raw" && !any_raw) || (key.section == "frames.sinogram" && !any_labelled))
      resolution.inactive.insert(format("{}.{}", key.section, key.name));

  scan.scales = {.frames = document.get<double>("frames.frames_scale"),
                 .flats = document.get<double>("frames.flats_scale"),
                 .darks = document.get<double>("frames.darks_scale")};
  scan.maximum_bad_fraction = document.get<double>("frames.maximum_bad_fraction");
  scan.saturation_level = document.get<double>("frames.saturation_level");
}

}  // namespace lepus
