// SPDX-License-Identifier: Apache-2.0
// lepus preview: one slice with all corrections of the scan file, without any, and without each of them.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>

#include <nlohmann/json.hpp>

#include "analysis/array_volume.h"
#include "app/commands.h"
#include "app/compute_options.h"
#include "app/preview_page.h"
#include "core/format.h"
#include "core/output_file.h"
#include "geometry/helix.h"
#include "correct/rings/ring_energy.h"
#include "job/automatic_center.h"
#include "job/warn_once.h"
#include "run/memory_io.h"
#include "run/reconstruct_scan.h"
#include "post/slice_quality.h"

namespace lepus::app {
namespace {

namespace fs = std::filesystem;

struct PreviewArguments {
  std::string scan_file, output = "preview.html";
  std::optional<double> slice;
  std::optional<std::int64_t> index;
  ComputeOptions compute;
};

std::int64_t slice_of(const PreviewArguments& a, const VolumeGrid& grid) {
  if (a.slice && a.index)
    throw Error(
        ErrorKind::usage,
        {.what = "--slice and --index both choose the slice", .where = {}, .why = {}, .hint = "give one of them"});
  if (a.index && (*a.index < 0 || *a.index >= grid.nz))
    throw Error(ErrorKind::usage, {.what = format("there is no slice {}", *a.index),
                                   .where = "option --index",
                                   .why = format("the volume has {} of them, counted from 0", grid.nz),
                                   .hint = format("give a number from 0 to {}", grid.nz - 1)});
  if (a.index) return *a.index;
  const double place = a.slice.value_or(0.5);
  if (!(place >= 0 && place <= 1))
    throw Error(ErrorKind::usage, {.what = format("--slice {:g} lies outside the volume", place),
                                   .where = "option --slice",
                                   .why = "0 is the first slice and 1 the last",
                                   .hint = "give a number from 0 to 1, or --index"});
  return std::min(grid.nz - 1, static_cast<std::int64_t>(place * static_cast<double>(grid.nz)));
}

struct Version {
  std::string name;
  std::vector<CorrectionSpec> corrections;
};

// None, without each, all; fewer where some of these are the same. Dead pixels are bridged in all of them: without that
// there may be no line integrals.
std::vector<Version> versions_of(std::vector<CorrectionSpec> chain) {
  for (CorrectionSpec& spec : chain) spec.parameters.erase("write");  // a preview leaves the scan's files alone
  const auto dead = [](const CorrectionSpec& spec) { return spec.kind == "dead-pixels"; };
  Version none{chain.empty() ? "no corrections in the scan file" : "no corrections", {}};
  std::ranges::copy_if(chain, std::back_inserter(none.corrections), dead);
  if (!none.corrections.empty()) none.name = "only dead-pixels";
  std::vector<Version> versions{none};
  if (none.corrections.size() == chain.size()) return versions;
  std::map<std::string, int> seen;
  for (std::size_t i = 0; chain.size() - none.corrections.size() > 1 && i < chain.size(); ++i) {
    if (dead(chain[i])) continue;
    const int number = ++seen[chain[i].kind];
    Version version{"without " + chain[i].kind + (number > 1 ? format(" ({})", number) : ""), chain};
    version.corrections.erase(version.corrections.begin() + static_cast<std::ptrdiff_t>(i));
    versions.push_back(std::move(version));
  }
  versions.push_back({chain.size() == 1 ? "with " + chain[0].kind : "all corrections", chain});
  return versions;
}

PreviewVersion reconstructed(Scan scan, const Version& version, const fs::path& output,
                             const ReconstructOptions& options, Context& context) {
  scan.corrections = version.corrections;
  const VolumeGrid& grid = scan.grid;
  std::vector<float> voxels(static_cast<std::size_t>(grid.nx * grid.ny));
  MemoryVolume volume(grid, voxels.data());
  const ReconstructReport report = reconstruct_scan(scan, volume, output, options, context);
  PreviewVersion result;
  result.name = version.name;
  result.slice =
      extract_slices(ArrayVolume(grid, voxels), {{Axis::z, 0}}, options.compute.memory_bytes, context).front();
  const Planes plane{voxels.data(), grid.nx, grid.ny, grid.nx, 1, grid.nx * grid.ny};
  result.rings =
      std::sqrt(slice_ring_energy(plane, -grid.origin_mm.x / grid.step_mm.x, -grid.origin_mm.y / grid.step_mm.y));
  result.sharpness = post::gradient_energy(result.slice);
  result.seconds = report.seconds;
  result.found = report.corrections;
  return result;
}

// The slices are made by FDK, whatever the scan file chooses: an iterative method cannot make one slice of a volume
// from the rows that it is seen on.
void take_fdk(Scan& scan, Context& context) {
  try {
    refuse_helix(scan.geometry, scan.file.string());
  } catch (const Error& error) {
    ErrorParts parts = error.parts();
    parts.hint =
        "the slices of a preview are made by FDK: reconstruct a few slices (volume.first_slice, volume.last_slice) by "
        "an iterative method, with and without a [[correct]] section";
    throw Error(error.kind(), parts);
  }
  if (scan.method.iterative())
    context.progress.warning(
        format("the slices of the preview are made by FDK, not by the scan file's method \"{}\"", scan.method.name));
  if (!scan.post.empty())
    context.progress.warning("the slices of the preview are those before the scan file's [[post]]");
  scan.method = {};
  scan.post.clear();
}

std::string png_of(const Slice& slice, const GreyWindow& window, ColourMap map) {
  const double pixel_mm = std::min(slice.pixel_width_mm, slice.pixel_height_mm);
  return png_bytes(draw_slice(slice, window, map, pixel_mm), "preview");
}

std::string table_of(const std::vector<PreviewVersion>& versions) {
  std::size_t width = 7;
  for (const PreviewVersion& v : versions) width = std::max(width, v.name.size());
  std::string text = format("{:<{}}  {:>11} {:>11} {:>11} {:>9}\n", "version", width, "rings 1/mm", "noise 1/mm",
                            "gradient", "time s");
  for (const PreviewVersion& v : versions)
    text += format("{:<{}}  {:>11.3e} {:>11.3e} {:>11.3e} {:>9.2f}\n", v.name, width, v.rings, v.noise, v.sharpness,
                   v.seconds);
  return text;
}

int run_preview(const PreviewArguments& a, Session& session) {
  Scan scan = read_scan(a.scan_file);
  WarnOnce once(session.context().progress);  // every version looks at the same scan
  Context context{session.context().threads, session.context().cancel, once};
  const fs::path page = a.output, picture = fs::path(page).replace_extension(".png");
  const bool force = session.common().force;
  if (page == picture)
    throw Error(ErrorKind::usage,
                {.what = "the page and its picture would have one name",
                 .where = format("--output {}", a.output),
                 .why = "the picture gets the page's name with .png",
                 .hint = format("write --output {}", fs::path(page).replace_extension(".html").string())});
  const OutputLock page_lock = session.reserve(page), picture_lock = session.reserve(picture);
  take_fdk(scan, context);
  center_automatically(scan, context);
  const std::int64_t index = slice_of(a, scan.grid);
  const double position = scan.grid.centre(0, 0, static_cast<double>(index)).z;
  PreviewFacts facts;
  facts.scan = fs::path(a.scan_file).string();
  facts.place = format("slice {} of {}, z = {:.4g} mm, by FDK", index, scan.grid.nz, position == 0 ? 0.0 : position);
  scan.grid.origin_mm.z = position;
  scan.grid.nz = 1;

  ReconstructOptions options;
  options.compute = a.compute.compute();
  options.compute.memory_bytes = session.memory_bytes();
  std::vector<PreviewVersion> versions;
  for (const Version& version : versions_of(scan.corrections)) {
    session.note(version.name);
    versions.push_back(reconstructed(scan, version, page, options, context));
  }
  facts.all = versions.size() - 1;
  const post::FlatRegion flat = post::flattest_region(versions[facts.all].slice);
  for (PreviewVersion& version : versions) version.noise = post::noise_in(version.slice, flat);
  facts.flat_region =
      format("{} x {} pixels from column {} and row {} of the picture", flat.side, flat.side, flat.x, flat.y);

  const PreviewWindows windows = preview_windows(versions, facts);
  PreviewPngs pngs;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    pngs.slices.push_back(png_of(versions[i].slice, windows.values, ColourMap::grey));
    pngs.differences.push_back(i == facts.all ? std::string()
                                              : png_of(difference(versions[facts.all].slice, versions[i].slice),
                                                       windows.differences, ColourMap::diverging));
  }
  PartialFile html(page, force, 0), png(picture, force, 0);
  html.append(preview_html(versions, facts, pngs));
  png.append(png_bytes(preview_picture(versions, facts), picture.string()));
  commit_together({&html, &png});

  session.report(table_of(versions) + format("wrote {} and {}", page.string(), picture.string()));
  nlohmann::json object{
      {"page", page.string()}, {"picture", picture.string()}, {"method", "fdk"}, {"slice", index}, {"z_mm", position}};
  for (const PreviewVersion& v : versions)
    object["versions"].push_back({{"name", v.name},
                                  {"rings_per_mm", v.rings},
                                  {"noise_per_mm", v.noise},
                                  {"gradient_energy", v.sharpness},
                                  {"seconds", v.seconds},
                                  {"corrections", v.found}});
  session.result(object);
  return exit_ok;
}

}  // namespace

std::unique_ptr<Command> preview_command() {
  auto arguments = std::make_shared<PreviewArguments>();
  auto command = std::make_unique<Command>();
  command->name = "preview";
  command->summary = "one slice with and without each correction, side by side";
  command->description =
      "Reconstructs one slice of a scan by FDK, whatever its [method], reading only the detector rows that it needs:\n"
      "without corrections, with all of\n"
      "the scan file's [[correct]] sections, and without each of them; and lays the slices, their differences and "
      "their\n"
      "numbers (rings, noise, sharpness, time) side by side, as an HTML page that needs no other file and as a PNG.";
  command->examples = {{"lepus preview demo/scan.toml --slice 0.5 -o demo/preview.html",
                        "The middle slice; writes demo/preview.html and demo/preview.png"}};
  command->writes = true;
  OptionTable& table = command->options;
  PreviewArguments& a = *arguments;
  table.positional("SCAN", a.scan_file, "the scan file (TOML)").must().file();
  table.value("-o,--output", "HTML", a.output, "the page to write; the picture gets the same name with .png").file();
  table.group("Slice");
  table.value("--slice", "PLACE", a.slice, "which slice, from 0 (first) to 1 (last)").otherwise("0.5");
  table.value("--index", "N", a.index, "which slice, by its number, counted from 0");
  table.group("Computing");
  a.compute.describe(table);
  command->run = [arguments](Session& session) { return run_preview(*arguments, session); };
  return command;
}

}  // namespace lepus::app
