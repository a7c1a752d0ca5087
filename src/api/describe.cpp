// SPDX-License-Identifier: Apache-2.0
#include <lepus/describe.h>

#include <algorithm>

#include "analysis/statistics.h"
#include "api/refuse_option.h"
#include "core/call_context.h"
#include "core/check_numbers.h"
#include "core/format.h"
#include "core/json.h"
#include "import/import_scan.h"
#include "io/file.h"
#include "io/file_kind.h"
#include "io/stored_array.h"
#include "io/volume_axes.h"
#include "io/zarr_array.h"
#include "run/counts.h"
#include "scan/describe.h"

namespace lepus {
namespace {

namespace fs = std::filesystem;

void give_warnings(std::initializer_list<std::vector<std::string>> lists, Progress& progress) {
  for (const auto& list : lists)
    for (const std::string& warning : list) progress.warning(warning);
}

ScanDescription described_scan(const fs::path& file, Context& context) {
  const Scan scan = read_scan(file);
  const CountFigures counts = look_at_counts(scan, context.cancel);
  give_warnings({scan.warnings, counts.warnings}, context.progress);
  nlohmann::json json = describe_json(scan);
  json["counts"] = parse_json(counts.json());
  json["counts"]["warnings"] = counts.warnings;
  ScanDescription description;
  description.text = describe_text(scan) + format("counts    {}\n", counts.text());
  description.json = json_text(json);
  return description;
}

ScanDescription described_scanner(const fs::path& place, Progress& progress) {
  ImportedScan imported = import_place(place, {});
  const fs::path folder = imported.header.parent_path();
  const Scan scan = read_scan_text(scan_file_text(imported, folder), folder / "scan.toml");
  give_warnings({imported.warnings, scan.warnings}, progress);
  return {.scanner = imported.scanner,
          .header = imported.header,
          .fields = std::move(imported.fields),
          .text = describe_text(scan),
          .json = json_text(describe_json(scan))};
}

FramesDescription described_frames(const fs::path& pattern, const std::string& dataset) {
  FrameFiles files;
  files.files = expand_pattern(fs::current_path(), pattern.string());
  files.dataset = dataset;
  const auto source = open_frames(files);
  const std::int64_t pixels = source->frames() * source->columns() * source->rows();
  return {.frames = source->frames(),
          .columns = source->columns(),
          .rows = source->rows(),
          .pixel_type = name_of(source->pixel_type()),
          .bytes = pixels * bytes_per_pixel(source->pixel_type()),
          .first = source->name(0),
          .last = source->name(source->frames() - 1)};
}

// Of a Zarr folder with several resolutions.
std::vector<VolumeGrid> grids_of_levels(const fs::path& file) {
  if (!is_zarr(file)) return {};
  const auto group = read_zarr_group(file);
  if (!group || group->levels.size() < 2) return {};
  std::vector<VolumeGrid> grids;
  for (std::size_t i = 0; i < group->levels.size(); ++i)
    grids.push_back(open_volume(format("{}#{}", file.string(), i))->grid());
  return grids;
}

VolumeDescription described_volume(const fs::path& file, VolumeDetail detail, CallContext& working) {
  const auto volume = open_volume(file);
  const VolumeGrid& grid = volume->grid();
  VolumeDescription description;
  description.grid = grid;
  description.format = volume->format();
  description.pixel_type = volume->pixel_type();
  description.unit = volume->unit();
  description.provenance = volume->provenance();
  if (detail == VolumeDetail::provenance) return description;
  const auto axes = noted_axes(*volume);
  description.axes = words_of(axes.value_or(VolumeAxes{}));
  description.axes_known = axes || !description.provenance.empty();  // lepus wrote it
  description.levels = grids_of_levels(file);
  if (detail == VolumeDetail::header) return description;
  const std::int64_t slice = 4 * grid.nx * grid.ny;  // bytes; one as it is stored is read beside the slab
  const std::int64_t slab = working.buffer_bytes(3 * slice) - 2 * slice;
  description.values = volume_statistics(*volume, slab, working.context());
  return description;
}

// A file of several arrays that is neither a volume of lepus nor holds only one: what there is to choose from.
std::vector<StoredImages> several_images(const fs::path& file, FileKind kind) {
  if (kind != FileKind::hdf5 && !has_named_arrays(kind)) return {};
  std::vector<StoredImages> all = kind == FileKind::hdf5 ? list_stored_images(file) : list_array_images(file, kind);
  const auto is_volume = [](const StoredImages& s) { return s.dataset == "/volume" || s.dataset == "volume"; };
  if (all.size() < 2 || std::ranges::any_of(all, is_volume)) return {};
  return all;
}

std::optional<ImageSetsDescription> described_sets(const fs::path& file) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return std::nullopt;
  const FileKind kind = kind_of_file(file);
  ImageSetsDescription description{words_of(kind), {}};
  for (const StoredImages& s : several_images(file, kind))
    description.sets.push_back({s.dataset, s.images, s.columns, s.rows, name_of(s.type), s.problem});
  if (description.sets.empty()) return std::nullopt;
  return description;
}

}  // namespace

FileDescription describe_file(const fs::path& file, const DescribeOptions& options) {
  require_name(file, "file");
  check_named(options.volume, VolumeDetail::values, "VolumeDetail");
  CallContext working(options.call);
  if (lower_extension(file) == ".toml") return described_scan(file, working.context());
  const bool frames = options.frames || !options.dataset.empty();
  if (!frames && !find_headers(file).empty()) return described_scanner(file, working.context().progress);
  std::error_code ignored;
  if (frames || (has_wildcard(file.string()) && !fs::exists(file, ignored)))
    return described_frames(file, options.dataset);
  if (auto sets = described_sets(file)) return *std::move(sets);
  return described_volume(file, options.volume, working);
}

}  // namespace lepus
