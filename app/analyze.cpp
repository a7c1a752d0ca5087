// SPDX-License-Identifier: Apache-2.0
// lepus analyze: what is in a volume: porosity, blobs, thickness, as numbers, tables, volumes and a page.
#include "analysis/analyze.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "app/analyze_report.h"
#include "app/commands.h"
#include "app/resume_options.h"
#include "api/volume_in_axes.h"
#include "core/format.h"
#include "core/forwarded_progress.h"
#include "core/output_file.h"
#include "device/device.h"
#include "io/input_identity.h"
#include "io/resumable_folder.h"
#include <lepus/version.h>

namespace lepus::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct AnalyzeArguments {
  std::string volume, output, against, nominal, backend = "auto", threshold = "otsu", phase = "dark", mask,
                                                sort = "volume";
  std::vector<double> box, noise_box, cylinder;
  std::optional<double> radius, seal, part, tolerance;
  std::vector<std::string> clean, save;
  int connectivity = 26;
  std::int64_t minimum_voxels = 1, maximum_voxels = 0, cell = 0, bins = 1024;
  bool porosity = false, blobs = false, thickness = false, remove_air = false, remove_container = false, closed = false,
       no_labels = false, noise = false, resolution = false, register_them = false, align = false;
  ResumeOptions resume;
};

std::array<double, 6> box_from(const std::vector<double>& b, const std::string& option) {
  if (b.size() != 6 || b[0] > b[1] || b[2] > b[3] || b[4] > b[5])
    refuse_option(option, "a box needs six numbers, each pair in order",
                  "write it as " + option + " x0,x1,y0,y1,z0,z1, in millimetres");
  return {b[0], b[1], b[2], b[3], b[4], b[5]};
}

analysis::AnalyzeOptions options_from(const AnalyzeArguments& a) {
  analysis::AnalyzeOptions o;
  o.threshold = analysis::parse_threshold(a.threshold);
  o.phase = analysis::parse_phase(a.phase);
  for (const std::string& step : a.clean) o.clean.push_back(analysis::parse_morphology(step));
  o.connectivity = static_cast<analysis::Connectivity>(a.connectivity);
  if (a.noise || !a.noise_box.empty()) {
    o.noise.emplace();
    if (!a.noise_box.empty()) o.noise->box_mm = box_from(a.noise_box, "--noise-box");
  }
  if (a.resolution || !a.cylinder.empty()) {
    o.resolution.emplace();
    const auto& c = a.cylinder;
    if (!c.empty() && (c.size() != 3 || !(c[2] > 0)))
      refuse_option("--cylinder", "a cylinder needs three numbers, the last above zero",
                    "write it as --cylinder x,y,radius, in millimetres");
    if (!c.empty()) o.resolution->cylinder = {c[0], c[1], c[2]};
  }
  if (a.register_them && a.against.empty())
    refuse_option("--register", "there is nothing to register with", "give the other volume with --against");
  if (!a.against.empty()) {
    o.against.emplace();
    o.against->registered = a.register_them;
  }
  if (a.tolerance && (a.nominal.empty() || !(*a.tolerance > 0)))
    refuse_option("--tolerance", a.nominal.empty() ? "there is no nominal surface" : "the tolerance must be above zero",
                  "give --nominal part.stl --tolerance 0.05, in millimetres");
  if (a.align && a.nominal.empty())
    refuse_option("--align", "there is nothing to align with", "give the nominal surface with --nominal part.stl");
  if (!a.nominal.empty()) {
    o.nominal.emplace();
    o.nominal->align = a.align;
    o.nominal->tolerance_mm = a.tolerance;
  }
  const bool some = a.porosity || a.blobs || a.thickness || o.noise || o.resolution || o.against || o.nominal;
  o.porosity = a.porosity || !some;
  o.blobs = a.blobs || !some;
  o.thickness = a.thickness;
  o.sample = {.remove_air = a.remove_air, .remove_container = a.remove_container, .seal = a.seal.value_or(0)};
  if (a.seal && !(*a.seal >= 0 && *a.seal <= 1000))
    refuse_option("--seal", "the radius must be 0 to 1000 voxels", "give a radius in voxels");
  if (a.seal && !a.remove_air && !a.remove_container)
    refuse_option("--seal", "there is nothing to seal off", "give --remove-air, too");
  if (a.part && !(*a.part > 0)) refuse_option("--part", "the depth must be above zero", "give it in voxels, such as 1");
  o.part_depth = a.part;
  if (a.minimum_voxels < 1 || a.maximum_voxels < 0 || (a.maximum_voxels > 0 && a.maximum_voxels < a.minimum_voxels))
    refuse_option("--maximum-voxels", "no blob has such a size",
                  "give --minimum-voxels of 1 or more and a --maximum-voxels that is not below it");
  o.minimum_voxels = a.minimum_voxels;
  o.maximum_voxels = a.maximum_voxels;
  if (a.closed && a.part)
    refuse_option("--part", "of blobs that are parted it is not known which are open", "leave out --part or --closed");
  o.closed_only = a.closed;
  o.sort = a.sort;
  if (a.cell < 0) refuse_option("--cell", "a cell needs at least one voxel", "give its edge in voxels");
  o.cell = a.cell;
  if (a.bins < 2 || a.bins > 1 << 20) refuse_option("--bins", "there may be 2 to 1048576 bins", "leave it out");
  o.bins = a.bins;
  if (a.radius && !(*a.radius > 0))
    refuse_option("--radius", "the radius must be above zero", "give it in millimetres");
  o.region.mask.radius_mm = a.radius;
  if (!a.box.empty()) o.region.mask.box_mm = box_from(a.box, "--box");
  return o;
}

// Only a report is replaced, and only where that was asked for.
void check_folder(const ResumableFolder& folder, bool force) {
  if (folder.target_is_free()) return;
  const bool ours = fs::exists(folder.target() / "analysis.json") && fs::exists(folder.target() / "index.html");
  if (force && ours) return;
  throw Error(ErrorKind::disk, {.what = "folder exists already",
                                .where = folder.target().string(),
                                .why = ours ? "it holds a report" : "it holds something that is no report",
                                .hint = ours ? "give another name, or --force to replace it" : "give another name"});
}

std::string provenance_of(const VolumeReader& volume, const AnalyzeArguments& a) {
  Json object = Json::parse(volume.provenance(), nullptr, false);
  if (!object.is_object()) object = Json::object();
  object["analyze"].push_back({{"by", format("lepus {}", version)},
                               {"from", a.volume},
                               {"threshold", a.threshold},
                               {"phase", a.phase},
                               {"box_mm", a.box},
                               {"radius_mm", a.radius ? Json(*a.radius) : Json()},
                               {"mask", a.mask},
                               {"against", a.against},
                               {"register", a.register_them},
                               {"nominal", a.nominal},
                               {"align", a.align},
                               {"remove_air", a.remove_air},
                               {"remove_container", a.remove_container},
                               {"seal", a.seal.value_or(0)},
                               {"clean", a.clean},
                               {"connectivity", a.connectivity},
                               {"part", a.part ? Json(*a.part) : Json()},
                               {"minimum_voxels", a.minimum_voxels},
                               {"maximum_voxels", a.maximum_voxels},
                               {"closed", a.closed}});
  return object.dump(-1, ' ', true, Json::error_handler_t::replace);
}

// What must be the same for a run to go on with what an earlier one has finished.
JournalHeader header_of(const AnalyzeArguments& a) {
  JournalHeader header{"analyze", {volume_fact(a.volume)}};
  const auto add = [&](const std::string& name, const Json& value) { header.facts.push_back({name, value.dump()}); };
  for (const auto& [name, file] : {std::pair{"--mask", a.mask}, std::pair{"--against", a.against}})
    header.facts.push_back({name, file.empty() ? "not given" : volume_fact(file).value});
  header.facts.push_back({"--nominal", a.nominal.empty() ? "not given" : identity_of_files({a.nominal}, "").checksum});
  const auto given = [](const auto& value) { return value ? Json(*value) : Json("not given"); };
  add("--threshold", a.threshold);
  add("--phase", a.phase);
  add("--sort", a.sort);
  add("--box", a.box);
  add("--noise-box", a.noise_box);
  add("--cylinder", a.cylinder);
  add("--radius", given(a.radius));
  add("--seal", given(a.seal));
  add("--part", given(a.part));
  add("--tolerance", given(a.tolerance));
  add("--clean", a.clean);
  add("--save", a.save);
  add("--connectivity", a.connectivity);
  add("--minimum-voxels", a.minimum_voxels);
  add("--maximum-voxels", a.maximum_voxels);
  add("--cell", a.cell);
  add("--bins", a.bins);
  add("what is measured", {a.porosity, a.blobs, a.thickness, a.noise, a.resolution});
  add("the options", {a.remove_air, a.remove_container, a.closed, a.no_labels, a.register_them, a.align});
  return header;
}

// Warnings also stand on the page.
class KeptWarnings final : public ForwardedProgress {
public:
  explicit KeptWarnings(Progress& to) : ForwardedProgress(to) {}
  void warning(const std::string& message) override {
    kept.push_back(message);
    ForwardedProgress::warning(message);
  }
  std::vector<std::string> kept;
};

// A slice of values and of bits for each thread, and the three slices of the page with what they are drawn with.
std::int64_t minimum_bytes(const VolumeGrid& g, int threads) {
  const std::int64_t slice = g.nx * g.ny, three = 4 * (slice + g.nx * g.nz + g.ny * g.nz);
  return 40 * slice * threads + 6 * three + (std::int64_t{24} << 20);
}

// What it takes to turn a volume whose file has other axes: slabs, or a slice for each thread, twice.
std::int64_t turning_for_threads(const VolumeReader& volume, int threads) {
  const std::int64_t slabs = turning_bytes(volume), slice = 4 * volume.grid().nx * volume.grid().ny;
  return slabs == 0 ? 0 : std::max(slabs, 2 * slice * threads);
}

// All but the volumes that the analysis wrote: what a killed run had begun, and what only the next start would need.
void remove_others(const fs::path& folder, const std::vector<std::string>& files) {
  std::vector<fs::path> others;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".mha") || std::find(files.begin(), files.end(), name) == files.end())
      others.push_back(entry.path());
  }
  for (const fs::path& path : others) fs::remove_all(path);
}

int run_analyze(const AnalyzeArguments& a, Session& session, std::optional<ResumableFolder>& folder) {
  analysis::AnalyzeOptions options = options_from(a);
  const auto open = [&](const std::string& file) {
    return file.empty() ? nullptr : open_in_our_axes(file, {}, {}, session.context().progress);
  };
  const auto volume = open(a.volume), mask = open(a.mask), against = open(a.against);
  options.region.mask_volume = mask.get();
  if (options.against) options.against->other = against.get();
  std::optional<analysis::MeshDistance> surface;
  if (options.nominal) options.nominal->surface = &surface.emplace(read_stl(a.nominal));
  KeptWarnings warnings(session.context().progress);
  Context context{session.context().threads, session.context().cancel, warnings};
  const std::int64_t minimum = minimum_bytes(volume->grid(), context.threads.size());
  std::int64_t turning = 0;
  for (const VolumeReader* v : {volume.get(), mask.get(), against.get()})
    if (v) turning += turning_for_threads(*v, context.threads.size());
  options.memory_bytes = session.buffer_bytes(minimum + turning) - turning - minimum / 4;
  options.provenance = provenance_of(*volume, a);
  if (options.against) options.against->provenance = options.provenance;

  Devices devices;
  if (!options.clean.empty()) {
    devices = open_devices(compute_on(a.backend), context.threads);
    if (!devices.front()->info().host) options.device = devices.front().get();
  }

  AnalyzeFacts facts;
  facts.volume = fs::path(a.volume).filename().string();
  facts.against = fs::path(a.against).filename().string();
  facts.nominal = fs::path(a.nominal).filename().string();
  facts.unit = volume->unit();
  facts.threshold = a.threshold;
  facts.phase = a.phase;
  facts.region = options.region.mask.description() + (a.mask.empty() ? "" : ", mask " + a.mask);
  facts.grid = volume->grid();
  std::optional<KeptStages> stages;
  options.scratch_folder = fs::temp_directory_path();
  if (!a.output.empty()) {
    folder.emplace(a.output, header_of(a), a.resume.restart, context.progress);
    check_folder(*folder, session.common().force);
    options.stages = &stages.emplace(*folder);
    options.scratch_folder = folder->path();
    const auto place = [&](const char* name, fs::path& path) {
      path = folder->path() / name;
      facts.files.emplace_back(name);
    };
    const auto saved = [&](const char* name) { return std::find(a.save.begin(), a.save.end(), name) != a.save.end(); };
    for (const std::string& name : a.save)
      if (name != "phase" && name != "distance" && name != "thickness" && name != "registered")
        refuse_option("--save", format("'{}' cannot be saved", name), "write phase, distance, thickness or registered");
    facts.files = {"index.html", "analysis.json"};
    if (options.blobs) facts.files.emplace_back("blobs.csv");
    if (options.blobs && !a.no_labels) place("labels.mha", options.labels);
    if (options.porosity) place("porosity.mha", options.map);
    if (saved("phase")) place("phase.mha", options.phase_map);
    if (saved("distance")) place("distance.mha", options.distance_map);
    if (saved("registered")) {
      if (!a.register_them) refuse_option("--save", "no volume is registered", "give --against and --register, too");
      place("registered.mha", options.against->moved_map);
    }
    if (saved("thickness")) {
      if (!options.thickness) refuse_option("--save", "there is no thickness to save", "give --thickness, too");
      place("thickness.mha", options.thickness_map);
    }
  } else if (!a.save.empty()) {
    refuse_option("--save", "there is no folder to save to", "give one with -o");
  }

  if (options.sample.any() && !options.needs_phase())
    refuse_option(a.remove_air ? "--remove-air" : "--remove-container",
                  "nothing that is measured looks at the sample alone", "leave it out, or give --porosity, too");
  const analysis::Analysis result = analysis::analyze(*volume, options, context);
  facts.warnings = warnings.kept;
  Json json = analysis_json(result, facts);
  if (folder) {
    const std::int64_t slab_bytes = std::int64_t{64} << 20;
    facts.slices = extract_slices(*volume, middle_slices(volume->grid()), slab_bytes, context);
    if (!options.labels.empty())
      facts.labels = extract_slices(*open_volume(options.labels), middle_slices(volume->grid()), slab_bytes, context);
    json["provenance"] = Json::parse(options.provenance);
    context.cancel.check();
    remove_others(folder->path(), facts.files);
    write_file(folder->path() / "analysis.json", json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n",
               false);
    if (options.blobs) write_file(folder->path() / "blobs.csv", blobs_csv(result.blobs), false);
    write_file(folder->path() / "index.html", analysis_html(result, facts), false);
    folder->commit(session.common().force ? PartialFolder::Replace::whole : PartialFolder::Replace::nothing);
    json["output"] = a.output;
  }
  session.print(analysis_text(result, facts));
  if (folder) session.report(format("wrote      {}", (fs::path(a.output) / "index.html").string()));
  session.result(nlohmann::json(json));
  return exit_ok;
}

// What cannot be analysed as it was asked for leaves nothing: the same command would end there again.
int run_or_keep(const AnalyzeArguments& a, Session& session) {
  a.resume.check();
  if (a.output.empty() && (a.resume.resume || a.resume.restart))
    refuse_option(a.resume.resume ? "--resume" : "--restart", "there is no folder to go on with", "give it with -o");
  a.resume.require_unfinished(a.output);
  std::optional<ResumableFolder> folder;
  try {
    return run_analyze(a, session, folder);
  } catch (const Error& error) {
    if (!folder) throw;
    if (error.kind() == ErrorKind::input || error.kind() == ErrorKind::usage) folder->give_up();
    throw folder->ended_by(error);
  }
}

}  // namespace

std::unique_ptr<Command> analyze_command() {
  auto arguments = std::make_shared<AnalyzeArguments>();
  auto command = std::make_unique<Command>();
  command->name = "analyze";
  command->summary = "porosity, blobs and thickness of a volume, as a report";
  command->description =
      "Parts the values by a threshold, and measures what is dark (pores) or bright (inclusions): how much of the\n"
      "region it fills, every connected blob of it, how thick it is. The folder gets a page (index.html), all numbers\n"
      "(analysis.json), every blob (blobs.csv), the blobs' labels (labels.mha) and a porosity map (porosity.mha).\n"
      "The volume need not fit into memory, and the result does not depend on how it is cut.\n"
      "Where a run ends early, what it has finished stays beside the folder, and the same command goes on from there\n"
      "(docs/restart.md).\n\n"
      "--threshold: otsu; multi-otsu:3 (classes); a number, or several with commas; local:RADIUS,OFFSET (in voxels "
      "and\n"
      "values); hysteresis:LOW,HIGH. A threshold belongs to the darker side. docs/analysis.md has the formulas.";
  command->examples = {
      {"lepus analyze demo/truth.mha --threshold otsu --porosity --blobs --phase bright -o demo/report",
       "A report on what is bright; open demo/report/index.html"},
      {"lepus analyze demo/truth.mha --phase bright --radius 10 --json", "Numbers only, of a cylinder"}};
  command->writes = true;
  OptionTable& table = command->options;
  AnalyzeArguments& a = *arguments;
  table.positional("VOLUME", a.volume, "a volume in any format that lepus reads").must().file();
  table.value("-o,--output", "FOLDER", a.output, "the folder to write").otherwise("only print the numbers").folder();
  table.group("What is measured");
  table.flag("--porosity", a.porosity, "the share of the phase: in all, open and closed, along z, in cells");
  table.flag("--blobs", a.blobs, "every connected blob of the phase; where nothing is chosen: porosity and blobs");
  table.flag("--thickness", a.thickness, "local thickness of the phase and of the walls between (takes long)");
  table.flag("--noise", a.noise,
             "standard deviation, power spectrum and contrast-to-noise, where the sample is flattest");
  table.value("--noise-box", "X0,X1,Y0,Y1,Z0,Z1", a.noise_box, "the same in this box, in millimetres");
  table.flag("--resolution", a.resolution, "edge and MTF of the largest bright thing, a cylinder that stands along z");
  table.value("--cylinder", "X,Y,RADIUS", a.cylinder, "the same of this cylinder, to a few voxels, in millimetres");
  table.value("--against", "FILE", a.against, "how far it is from this volume of the same grid").file();
  table.flag("--register", a.register_them, "of any grid: turned and shifted onto the first one before");
  table.value("--nominal", "STL", a.nominal, "how far the surface of what is bright lies from this one").file();
  table.flag("--align", a.align, "turned and shifted onto it before, by least squares");
  table.value("--tolerance", "MM", a.tolerance, "the share of the surface that lies within this").otherwise("not said");
  table.group("The phase");
  table.value("--threshold", "HOW", a.threshold,
              "otsu, multi-otsu:N, numbers, local:RADIUS,OFFSET, hysteresis:LOW,HIGH");
  table.value("--phase", "CLASS", a.phase, "dark, bright, or the number of a class, counted from 0, the darkest");
  table.value("--bins", "N", a.bins, "bins of the histogram, where values are no small integers");
  table.value("--clean", "STEP", a.clean, "open:R, close:R, erode:R, dilate:R (balls), open-box:R ..., fill-holes");
  table.value("--backend", "NAME", a.backend, "what runs --clean with balls: a GPU where there is one, else the CPU")
      .one_of({"auto", "cpu", "cuda"});
  table.group("Where");
  table.value("--box", "X0,X1,Y0,Y1,Z0,Z1", a.box, "within this box, in millimetres");
  table.value("--radius", "MM", a.radius, "within this distance from the rotation axis");
  table.value("--mask", "FILE", a.mask, "where this volume of the same grid is not zero").file();
  table.flag("--remove-air", a.remove_air, "without what is dark and connected with a side of the volume");
  table.flag("--remove-container", a.remove_container,
             "without the container, the material that reaches furthest to the sides, and the air in it");
  table.value("--seal", "R", a.seal, "pores whose openings are narrower than 2 R voxels are no air");
  table.group("Blobs");
  table.value("--connectivity", "N", a.connectivity, "neighbours of a voxel: faces, and edges, and corners")
      .one_of({"6", "18", "26"});
  table.value("--part", "DEPTH", a.part,
              "part blobs that touch, where the neck is this much narrower (radius, in voxels)");
  table.value("--minimum-voxels", "N", a.minimum_voxels, "leave smaller blobs out");
  table.value("--maximum-voxels", "N", a.maximum_voxels, "leave larger blobs out").otherwise("none");
  table.flag("--closed", a.closed, "leave blobs out that touch the border of the region: count closed pores alone");
  table.value("--sort", "KEY", a.sort, "order of the blobs")
      .one_of({"volume", "diameter", "surface", "sphericity", "mean", "label"});
  table.group("Output");
  table.value("--cell", "VOXELS", a.cell, "edge of a cell of the porosity map")
      .otherwise("a sixteenth of the longest side");
  table.flag("--no-labels", a.no_labels, "write no volume of labels");
  table.value("--save", "NAME", a.save, "write this volume, too: phase, distance, thickness, registered");
  a.resume.describe(table);
  command->run = [arguments](Session& session) { return run_or_keep(*arguments, session); };
  return command;
}

}  // namespace lepus::app
