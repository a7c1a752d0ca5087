// SPDX-License-Identifier: Apache-2.0
// lepus info: what is in a scan file, a volume or a file of frames.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/header_fields.h"
#include "core/format.h"
#include <lepus/describe.h>
#include <lepus/memory.h>

namespace lepus::app {
namespace {

struct InfoArguments {
  std::string file, dataset;
  bool frames = false, provenance = false, header = false;
};

int show(const InfoArguments& a, const ScanDescription& scan, Session& session) {
  nlohmann::json object = nlohmann::json::parse(scan.json);
  if (scan.scanner.empty()) {
    session.print(scan.text);
    object["kind"] = "scan";
    object["file"] = a.file;
  } else {
    session.print(format("scanner   {}\nheader    {}, {} fields\n{}", scan.scanner, scan.header.string(),
                         scan.fields.size(), fields_text(scan.fields)) +
                  scan.text);
    object["kind"] = "scanner";
    object["scanner"] = scan.scanner;
    object["header"] = scan.header.string();
    object["fields"] = nlohmann::json::array();
    for (const HeaderField& field : scan.fields)
      object["fields"].push_back({{"name", field.name}, {"value", field.value}, {"use", field.use}});
  }
  session.result(object);
  return exit_ok;
}

int show(const InfoArguments& a, const FramesDescription& frames, Session& session) {
  session.print(format("frames    {} of {} x {} pixels, {} ({})\nfirst     {}\nlast      {}\n", frames.frames,
                       frames.columns, frames.rows, frames.pixel_type, format_bytes(frames.bytes), frames.first,
                       frames.last));
  session.result({{"kind", "frames"},
                  {"file", a.file},
                  {"frames", frames.frames},
                  {"columns", frames.columns},
                  {"rows", frames.rows},
                  {"pixel_type", frames.pixel_type},
                  {"bytes", frames.bytes}});
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

std::string volume_text(const InfoArguments& a, const VolumeDescription& volume) {
  const VolumeGrid& g = volume.grid;
  const Vec3 last =
      g.centre(static_cast<double>(g.nx - 1), static_cast<double>(g.ny - 1), static_cast<double>(g.nz - 1));
  std::string text = format("file      {}\nformat    {}, {}\nvoxels    {} x {} x {} ({} as float)\n", a.file,
                            volume.format, volume.pixel_type, g.nx, g.ny, g.nz, format_bytes(4 * g.voxels()));
  text += format("voxel     {:g} x {:g} x {:g} mm\n", g.step_mm.x, g.step_mm.y, g.step_mm.z);
  text += format("centres   x {:g} to {:g}, y {:g} to {:g}, z {:g} to {:g} mm\n", g.origin_mm.x, last.x, g.origin_mm.y,
                 last.y, g.origin_mm.z, last.z);
  text += format("axes      {}{}, the fastest first{}\n", volume.axes_known ? "" : "taken as ", volume.axes,
                 volume.axes_known ? "" : ": the file does not say");
  for (std::size_t i = 0; i < volume.levels.size(); ++i) {
    const VolumeGrid& level = volume.levels[i];
    text += format("level {:<3} {} x {} x {} of {:g} x {:g} x {:g} mm: {}#{}\n", i, level.nx, level.ny, level.nz,
                   level.step_mm.x, level.step_mm.y, level.step_mm.z, a.file, i);
  }
  if (volume.values) {
    const VolumeStatistics& s = *volume.values;
    text += format("values    {:.6g} to {:.6g}{}, mean {:.6g}, standard deviation {:.6g}\n", s.smallest, s.largest,
                   volume.unit.empty() ? "" : " " + volume.unit, s.mean, s.standard_deviation);
    if (s.not_finite > 0) text += format("          {} voxels are not finite\n", s.not_finite);
  }
  return text;
}

nlohmann::json volume_json(const InfoArguments& a, const VolumeDescription& volume) {
  const auto size = [](const VolumeGrid& g) { return nlohmann::json{g.nx, g.ny, g.nz}; };
  const auto numbers = [](Vec3 v) { return nlohmann::json{v.x, v.y, v.z}; };
  nlohmann::json object{{"kind", "volume"},
                        {"file", a.file},
                        {"format", volume.format},
                        {"pixel_type", volume.pixel_type},
                        {"unit", volume.unit},
                        {"size", size(volume.grid)},
                        {"voxel_mm", numbers(volume.grid.step_mm)},
                        {"origin_mm", numbers(volume.grid.origin_mm)},
                        {"axes", volume.axes}};
  for (const VolumeGrid& level : volume.levels)
    object["levels"].push_back({{"size", size(level)}, {"voxel_mm", numbers(level.step_mm)}});
  if (volume.values)
    object["values"] = {{"min", volume.values->smallest},
                        {"max", volume.values->largest},
                        {"mean", volume.values->mean},
                        {"standard_deviation", volume.values->standard_deviation},
                        {"not_finite", volume.values->not_finite}};
  return object;
}

int show(const InfoArguments& a, const VolumeDescription& volume, Session& session) {
  const nlohmann::json provenance = nlohmann::json::parse(volume.provenance, nullptr, false);
  const bool known = !provenance.is_discarded();
  if (a.provenance && !session.common().json) {
    session.print(known ? provenance.dump(2) + "\n" : "");
    return exit_ok;
  }
  session.print(volume_text(a, volume) +
                (known && !provenance.empty() ? "made by\n" + provenance_summary(provenance) : ""));
  nlohmann::json object = volume_json(a, volume);
  object["provenance"] = known ? provenance : nlohmann::json();
  session.result(object);
  return exit_ok;
}

int show(const InfoArguments& a, const ImageSetsDescription& file, Session& session) {
  std::size_t width = 0;
  for (const ImageSet& set : file.sets) width = std::max(width, set.dataset.size());
  std::string text =
      format("file      {}\nformat    {} with {} sets of images\n", a.file, file.format, file.sets.size());
  nlohmann::json sets = nlohmann::json::array();
  for (const ImageSet& s : file.sets) {
    nlohmann::json set{{"dataset", s.dataset}};
    if (s.problem.empty()) {
      text +=
          format("  {:<{}}  {} of {} x {} pixels, {}\n", s.dataset, width, s.images, s.columns, s.rows, s.pixel_type);
      set.update({{"images", s.images}, {"columns", s.columns}, {"rows", s.rows}, {"pixel_type", s.pixel_type}});
    } else {
      text += format("  {:<{}}  cannot be read: {}\n", s.dataset, width, s.problem);
      set["problem"] = s.problem;
    }
    sets.push_back(std::move(set));
  }
  session.print(text + format("lepus info {}:{} reads one of them as a volume\n", a.file, file.sets.front().dataset));
  session.result({{"kind", "images"}, {"file", a.file}, {"sets", sets}});
  return exit_ok;
}

int run_info(const InfoArguments& a, Session& session) {
  DescribeOptions options;
  options.frames = a.frames;
  options.dataset = a.dataset;
  if (a.header) options.volume = VolumeDetail::header;
  if (a.provenance && !session.common().json) options.volume = VolumeDetail::provenance;
  options.call = session.call();
  return std::visit([&](const auto& description) { return show(a, description, session); },
                    describe_file(a.file, options));
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
