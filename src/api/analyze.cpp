// SPDX-License-Identifier: Apache-2.0
#include <lepus/analyze.h>

#include <algorithm>

#include "api/analyze_options.h"
#include "api/analyze_report.h"
#include "api/refuse_option.h"
#include "api/unfinished_run.h"
#include "api/volume_in_axes.h"
#include "core/call_context.h"
#include "core/format.h"
#include "core/forwarded_progress.h"
#include "core/json.h"
#include "core/output_file.h"
#include "device/check_compute.h"
#include "device/device.h"
#include "io/resumable_folder.h"

namespace lepus {
namespace {

namespace fs = std::filesystem;

// Warnings also stand on the page.
class AnalysisWarnings final : public ForwardedProgress {
public:
  explicit AnalysisWarnings(Progress& to) : ForwardedProgress(to) {}
  void warning(const std::string& message) override {
    kept.push_back(message);
    ForwardedProgress::warning(message);
  }
  std::vector<std::string> kept;
};

// A slice of values and of bits for each thread, and the three slices of the page with what they are drawn with.
std::int64_t minimum_analysis_bytes(const VolumeGrid& g, int threads) {
  const std::int64_t slice = g.nx * g.ny, three = 4 * (slice + g.nx * g.nz + g.ny * g.nz);
  return 40 * slice * threads + 6 * three + (std::int64_t{24} << 20);
}

// What it takes to turn a volume whose file has other axes: slabs, or a slice for each thread, twice.
std::int64_t turning_bytes_for_threads(const VolumeReader& volume, int threads) {
  const std::int64_t slabs = turning_bytes(volume), slice = 4 * volume.grid().nx * volume.grid().ny;
  return slabs == 0 ? 0 : std::max(slabs, 2 * slice * threads);
}

// Only a report is replaced, and only where that was asked for.
void check_report_folder(const ResumableFolder& folder, bool force) {
  if (folder.target_is_free()) return;
  const bool ours = fs::exists(folder.target() / "analysis.json") && fs::exists(folder.target() / "index.html");
  if (force && ours) return;
  throw Error(ErrorKind::disk, {.what = "folder exists already",
                                .where = folder.target().string(),
                                .why = ours ? "it holds a report" : "it holds something that is no report",
                                .hint = ours ? "give another name, or --force to replace it" : "give another name"});
}

// All but the volumes that the analysis wrote: what a killed run had begun, and what only the next start would need.
void remove_all_but_volumes(const fs::path& folder, const std::vector<std::string>& files) {
  std::vector<fs::path> others;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".mha") || std::find(files.begin(), files.end(), name) == files.end())
      others.push_back(entry.path());
  }
  for (const fs::path& path : others) fs::remove_all(path);
}

analysis::AnalyzeFacts analysis_facts(const AnalyzeOptions& options, const VolumeReader& volume,
                                      const VoxelMask& region) {
  analysis::AnalyzeFacts facts;
  facts.volume = options.volume.filename().string();
  facts.against = options.against.filename().string();
  facts.nominal = options.nominal.filename().string();
  facts.unit = volume.unit();
  facts.threshold = options.threshold;
  facts.phase = options.phase;
  facts.region = region.description() + (options.mask.empty() ? "" : ", mask " + options.mask.string());
  facts.grid = volume.grid();
  return facts;
}

// Names the files of the report, and where in its folder the volumes are written.
std::vector<std::string> place_analysis_files(const AnalyzeOptions& options, const fs::path& folder,
                                              analysis::AnalysisOptions& work) {
  for (const std::string& name : options.save)
    if (name != "phase" && name != "distance" && name != "thickness" && name != "registered")
      refuse_option("--save", format("'{}' cannot be saved", name), "write phase, distance, thickness or registered");
  std::vector<std::string> files{"index.html", "analysis.json"};
  const auto place = [&](const char* name, fs::path& path) {
    path = folder / name;
    files.emplace_back(name);
  };
  const auto saved = [&](const char* name) {
    return std::find(options.save.begin(), options.save.end(), name) != options.save.end();
  };
  if (work.blobs) files.emplace_back("blobs.csv");
  if (work.blobs && options.labels) place("labels.mha", work.labels);
  if (work.porosity) place("porosity.mha", work.map);
  if (saved("phase")) place("phase.mha", work.phase_map);
  if (saved("distance")) place("distance.mha", work.distance_map);
  if (saved("registered")) {
    if (!options.register_them)
      refuse_option("--save", "no volume is registered", "give --against and --register, too");
    place("registered.mha", work.against->moved_map);
  }
  if (saved("thickness")) {
    if (!work.thickness) refuse_option("--save", "there is no thickness to save", "give --thickness, too");
    place("thickness.mha", work.thickness_map);
  }
  return files;
}

void write_analysis_report(const analysis::Analysis& result, const analysis::AnalyzeFacts& facts,
                           const std::string& json, const fs::path& folder) {
  remove_all_but_volumes(folder, facts.files);
  write_file(folder / "analysis.json", json + "\n", false);
  if (std::find(facts.files.begin(), facts.files.end(), "blobs.csv") != facts.files.end())
    write_file(folder / "blobs.csv", analysis::blobs_csv(result.blobs), false);
  write_file(folder / "index.html", analysis::analysis_html(result, facts), false);
}

AnalyzeReport analyze_into(std::optional<ResumableFolder>& folder, const AnalyzeOptions& options) {
  CallContext working(options.call);
  analysis::AnalysisOptions work = analysis_options_of(options);
  const auto open = [&](const fs::path& file) {
    return file.empty() ? nullptr : open_in_our_axes(file.string(), {}, {}, working.context().progress);
  };
  const auto volume = open(options.volume), mask = open(options.mask), against = open(options.against);
  work.region.mask_volume = mask.get();
  if (work.against) work.against->other = against.get();
  std::optional<analysis::MeshDistance> surface;
  if (work.nominal) work.nominal->surface = &surface.emplace(read_stl(options.nominal));
  AnalysisWarnings warnings(working.context().progress);
  Context context{working.context().threads, working.context().cancel, warnings};
  const std::int64_t minimum = minimum_analysis_bytes(volume->grid(), context.threads.size());
  std::int64_t turning = 0;
  for (const VolumeReader* v : {volume.get(), mask.get(), against.get()})
    if (v) turning += turning_bytes_for_threads(*v, context.threads.size());
  work.memory_bytes = working.buffer_bytes(minimum + turning) - turning - minimum / 4;
  work.provenance = analysis_provenance(*volume, options);
  if (work.against) work.against->provenance = work.provenance;

  Devices devices;
  if (!work.clean.empty()) {
    devices = open_devices(options.compute, context.threads);
    if (!devices.front()->info().host) work.device = devices.front().get();
  }

  analysis::AnalyzeFacts facts = analysis_facts(options, *volume, work.region.mask);
  std::optional<KeptStages> stages;
  work.scratch_folder = fs::temp_directory_path();
  if (!options.output.empty()) {
    folder.emplace(options.output, analysis_journal_header(options), options.restart, context.progress);
    check_report_folder(*folder, options.call.force);
    work.stages = &stages.emplace(*folder);
    work.scratch_folder = folder->path();
    facts.files = place_analysis_files(options, folder->path(), work);
  } else if (!options.save.empty()) {
    refuse_option("--save", "there is no folder to save to", "give one with -o");
  }
  if (work.sample.any() && !work.needs_phase())
    refuse_option(options.remove_air ? "--remove-air" : "--remove-container",
                  "nothing that is measured looks at the sample alone", "leave it out, or give --porosity, too");

  const analysis::Analysis result = analysis::analyze(*volume, work, context);
  facts.warnings = warnings.kept;
  nlohmann::ordered_json json = analysis::analysis_json(result, facts);
  if (!folder) return {analysis::analysis_summary(result, facts), json_text(json, 1), {}};
  const std::int64_t slab_bytes = std::int64_t{64} << 20;
  facts.slices = extract_slices(*volume, middle_slices(volume->grid()), slab_bytes, context);
  if (!work.labels.empty())
    facts.labels = extract_slices(*open_volume(work.labels), middle_slices(volume->grid()), slab_bytes, context);
  json["provenance"] = parse_ordered_json(work.provenance);
  AnalyzeReport report{analysis::analysis_summary(result, facts), json_text(json, 1), options.output / "index.html"};
  context.cancel.check();
  write_analysis_report(result, facts, report.json, folder->path());
  folder->commit(options.call.force ? PartialFolder::Replace::whole : PartialFolder::Replace::nothing);
  return report;
}

}  // namespace

AnalyzeReport analyze(const AnalyzeOptions& options) {
  require_name(options.volume, "volume");
  check_compute(options.compute);
  check_resume_or_restart(options.resume, options.restart);
  if (options.output.empty() && (options.resume || options.restart))
    refuse_option(options.resume ? "--resume" : "--restart", "there is no folder to go on with", "give it with -o");
  if (options.resume) require_unfinished_run(options.output);
  std::optional<ResumableFolder> folder;
  try {
    return analyze_into(folder, options);
  } catch (const std::exception& exception) {
    if (!folder) throw;
    const Error error = as_error(exception);
    // What cannot be analysed as it was asked for leaves nothing: the same call would end there again.
    if (error.kind() == ErrorKind::input || error.kind() == ErrorKind::usage) folder->give_up();
    throw folder->ended_by(error);
  }
}

}  // namespace lepus
