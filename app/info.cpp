// SPDX-License-Identifier: Apache-2.0
// lepus info: what is in a scan file, a volume or a file of frames.
#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "analysis/statistics.h"
#include "app/commands.h"
#include "app/imported_scan.h"
#include "core/format.h"
#include "core/memory.h"
#include "import/import_scan.h"
#include "io/file.h"
#include "io/file_kind.h"
#include "io/frames.h"
#include "io/stored_array.h"
#include "io/stored_images.h"
#include "io/volume_axes.h"
#include "io/volume_file.h"
#include "io/zarr_array.h"
#include "run/counts.h"
#include "scan/describe.h"
#include "scan/scan.h"

namespace lepus::app {
namespace {

struct InfoArguments {
  std::string file, dataset;
  bool frames = false, provenance = false, header = false;
};

int scan_info(const InfoArguments& a, Session& session) {
  const Scan scan = read_scan(a.file);
  const CountFigures counts = look_at_counts(scan, session.context().cancel);
  for (const auto& list : {scan.warnings, counts.warnings})
    for (const auto& warning : list) session.context().progress.warning(warning);
  session.print(describe_text(scan) + format("counts    {}\n", counts.text()));
  nlohmann::json object = describe_json(scan);
  object["counts"] = nlohmann::json::parse(counts.json());
  object["counts"]["warnings"] = counts.warnings;
  object["kind"] = "scan";
  object["file"] = a.file;
  session.result(object);
  return exit_ok;
}

int frames_info(const InfoArguments& a, Session& session) {
  FrameFiles files;
  files.files = expand_pattern(std::filesystem::current_path(), a.file);
  files.dataset = a.dataset;
  const auto source = open_frames(files);
  const std::int64_t bytes =
      source->frames() * source->columns() * source->rows() * bytes_per_pixel(source->pixel_type());
  session.print(format("frames    {} of {} x {} pixels, {} ({})\nfirst     {}\nlast      {}\n", source->frames(),
                       source->columns(), source->rows(), name_of(source->pixel_type()), format_bytes(bytes),
                       source->name(0), source->name(source->frames() - 1)));
  session.result({{"kind", "frames"},
                  {"file", a.file},
                  {"frames", source->frames()},
                  {"columns", source->columns()},
                  {"rows", source->rows()},
                  {"pixel_type", name_of(source->pixel_type())},
                  {"bytes", bytes}});
  return exit_ok;
}

// The first level of the provenance in a line each; long texts (the scan file) by their length.
std::string provenance_summary(const nlohmann::json& provenance) {
  std::string text;
  if (!provenance.is_object()) return text;
  for (const auto& [key, value] : provenance.items()) {
    std::string shown = value.is_string() ? value.get<std::string>() : value.dump();
    if (shown.size() > 100 || shown.find('\n') != std::string::npos)
      shown = format("({} characters; --provenance shows them)", shown.size());
    text += format("  {:<18} {}\n", key, shown);
  }
  return text;
}

// Of a Zarr folder with several resolutions: a line for each level.
std::string levels_text(const InfoArguments& a, nlohmann::json& object) {
  if (!is_zarr(a.file)) return {};
  const auto group = read_zarr_group(a.file);
  if (!group || group->levels.size() < 2) return {};
  std::string text;
  for (std::size_t i = 0; i < group->levels.size(); ++i) {
    const VolumeGrid g = open_volume(format("{}#{}", a.file, i))->grid();
    text += format("level {:<3} {} x {} x {} of {:g} x {:g} x {:g} mm: {}#{}\n", i, g.nx, g.ny, g.nz, g.step_mm.x,
                   g.step_mm.y, g.step_mm.z, a.file, i);
    object["levels"].push_back({{"size", {g.nx, g.ny, g.nz}}, {"voxel_mm", {g.step_mm.x, g.step_mm.y, g.step_mm.z}}});
  }
  return text;
}

int volume_info(const InfoArguments& a, const VolumeReader& volume, Session& session) {
  const nlohmann::json provenance = nlohmann::json::parse(volume.provenance(), nullptr, false);
  if (a.provenance) {
    session.print(provenance.is_discarded() ? "" : provenance.dump(2) + "\n");
    if (!session.common().json) return exit_ok;
  }
  const VolumeGrid& g = volume.grid();
  const Vec3 last =
      g.centre(static_cast<double>(g.nx - 1), static_cast<double>(g.ny - 1), static_cast<double>(g.nz - 1));
  const std::string unit = volume.unit();
  std::string text = format("file      {}\nformat    {}, {}\nvoxels    {} x {} x {} ({} as float)\n", a.file,
                            volume.format(), volume.pixel_type(), g.nx, g.ny, g.nz, format_bytes(4 * g.voxels()));
  text += format("voxel     {:g} x {:g} x {:g} mm\n", g.step_mm.x, g.step_mm.y, g.step_mm.z);
  text += format("centres   x {:g} to {:g}, y {:g} to {:g}, z {:g} to {:g} mm\n", g.origin_mm.x, last.x, g.origin_mm.y,
                 last.y, g.origin_mm.z, last.z);
  nlohmann::json object{{"kind", "volume"},
                        {"file", a.file},
                        {"format", volume.format()},
                        {"pixel_type", volume.pixel_type()},
                        {"unit", unit},
                        {"size", {g.nx, g.ny, g.nz}},
                        {"voxel_mm", {g.step_mm.x, g.step_mm.y, g.step_mm.z}},
                        {"origin_mm", {g.origin_mm.x, g.origin_mm.y, g.origin_mm.z}}};
  const auto axes = noted_axes(volume);
  const bool known = axes || !volume.provenance().empty();  // lepus wrote it
  text += format("axes      {}{}, the fastest first{}\n", known ? "" : "taken as ",
                 words_of(axes.value_or(VolumeAxes{})), known ? "" : ": the file does not say");
  object["axes"] = words_of(axes.value_or(VolumeAxes{}));
  text += levels_text(a, object);
  if (!a.header) {
    const std::int64_t slice = 4 * g.nx * g.ny;  // bytes; one as it is stored is read beside the slab
    const std::int64_t slab = session.buffer_bytes(3 * slice) - 2 * slice;
    const VolumeStatistics s = volume_statistics(volume, slab, session.context());
    text += format("values    {:.6g} to {:.6g}{}, mean {:.6g}, standard deviation {:.6g}\n", s.smallest, s.largest,
                   unit.empty() ? "" : " " + unit, s.mean, s.standard_deviation);
    if (s.not_finite > 0) text += format("          {} voxels are not finite\n", s.not_finite);
    object["values"] = {{"min", s.smallest},
                        {"max", s.largest},
                        {"mean", s.mean},
                        {"standard_deviation", s.standard_deviation},
                        {"not_finite", s.not_finite}};
  }
  object["provenance"] = provenance.is_discarded() ? nlohmann::json() : provenance;
  if (!provenance.is_discarded() && !provenance.empty()) text += "made by\n" + provenance_summary(provenance);
  session.print(text);
  session.result(object);
  return exit_ok;
}

// A file of several arrays that is neither a volume of lepus nor holds only one: what there is to choose from.
std::vector<StoredImages> several_images(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  const FileKind kind = kind_of_file(path);
  if (kind != FileKind::hdf5 && !has_named_arrays(kind)) return {};
  std::vector<StoredImages> all = kind == FileKind::hdf5 ? list_stored_images(path) : list_array_images(path, kind);
  const auto is_volume = [](const StoredImages& s) { return s.dataset == "/volume" || s.dataset == "volume"; };
  if (all.size() < 2 || std::any_of(all.begin(), all.end(), is_volume)) return {};
  return all;
}

int images_info(const InfoArguments& a, const std::vector<StoredImages>& all, Session& session) {
  std::size_t width = 0;
  for (const auto& s : all) width = std::max(width, s.dataset.size());
  std::string text =
      format("file      {}\nformat    {} with {} sets of images\n", a.file, words_of(kind_of_file(a.file)), all.size());
  nlohmann::json sets = nlohmann::json::array();
  for (const auto& s : all) {
    nlohmann::json set{{"dataset", s.dataset}};
    if (s.problem.empty()) {
      text += format("  {:<{}}  {} of {} x {} pixels, {}\n", s.dataset, width, s.images, s.columns, s.rows,
                     name_of(s.type));
      set.update({{"images", s.images}, {"columns", s.columns}, {"rows", s.rows}, {"pixel_type", name_of(s.type)}});
    } else {
      text += format("  {:<{}}  cannot be read: {}\n", s.dataset, width, s.problem);
      set["problem"] = s.problem;
    }
    sets.push_back(std::move(set));
  }
  session.print(text + format("lepus info {}:{} reads one of them as a volume\n", a.file, all.front().dataset));
  session.result({{"kind", "images"}, {"file", a.file}, {"sets", sets}});
  return exit_ok;
}

int run_info(const InfoArguments& a, Session& session) {
  const std::filesystem::path path = a.file;
  if (lower_extension(path) == ".toml") return scan_info(a, session);
  if (!a.frames && a.dataset.empty() && !find_headers(path).empty()) return imported_info(a.file, session);
  std::error_code ignored;
  const bool pattern = has_wildcard(a.file) && !std::filesystem::exists(path, ignored);
  if (a.frames || !a.dataset.empty() || pattern) return frames_info(a, session);
  if (const auto all = several_images(path); !all.empty()) return images_info(a, all, session);
  return volume_info(a, *open_volume(path), session);
}

}  // namespace

std::unique_ptr<Command> info_command() {
  auto arguments = std::make_shared<InfoArguments>();
  auto command = std::make_unique<Command>();
  command->name = "info";
  command->summary = "what is in a scan file, a volume or a file of frames";
  command->description =
      "A file ending in .toml is a scan file; it is read and checked as a reconstruction would. A pattern such as\n"
      "'frames/*.tif' names frames. Of a scanner's folder or header every field is shown, with what becomes of it.\n"
      "Of an HDF5, MATLAB, FITS or .npz file with several sets of images these are listed. Anything else is a volume,\n"
      "whose values are read once for their range.";
  command->examples = {{"lepus info demo/scan.toml", "Check a scan file and see what it says"},
                       {"lepus info demo/truth.mha --json", "A volume, for a program"}};
  OptionTable& table = command->options;
  InfoArguments& a = *arguments;
  table.positional("FILE", a.file, "a scan file, a volume, frames, or a scanner's folder or header").must().file();
  table.flag("--frames", a.frames, "the file holds frames of a scan, not a volume");
  table
      .value("--dataset", "PATH", a.dataset, "frames in an HDF5, MATLAB, FITS, .npz or Zeiss file: which of its images")
      .otherwise("/exchange/data, or the only ones");
  table.flag("--header", a.header, "of a volume: do not read its values");
  table.flag("--provenance", a.provenance, "of a volume: print all that it knows of its making");
  command->run = [arguments](Session& session) { return run_info(*arguments, session); };
  return command;
}

}  // namespace lepus::app
