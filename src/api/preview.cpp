// SPDX-License-Identifier: Apache-2.0
#include <lepus/preview.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "analysis/array_volume.h"
#include "api/preview_page.h"
#include "api/refuse_option.h"
#include "core/call_context.h"
#include "core/format.h"
#include "core/output_file.h"
#include "correct/rings/ring_energy.h"
#include "device/check_compute.h"
#include "geometry/helix.h"
#include "job/automatic_center.h"
#include "job/outputs.h"
#include "job/warn_once.h"
#include "post/slice_quality.h"
#include "run/memory_io.h"
#include "run/reconstruct_scan.h"

namespace lepus {
namespace {

std::int64_t preview_slice(const PreviewOptions& options, const VolumeGrid& grid) {
  if (options.place && options.index)
    throw Error(
        ErrorKind::usage,
        {.what = "--slice and --index both choose the slice", .where = {}, .why = {}, .hint = "give one of them"});
  if (options.index && (*options.index < 0 || *options.index >= grid.nz))
    throw Error(ErrorKind::usage, {.what = format("there is no slice {}", *options.index),
                                   .where = "option --index",
                                   .why = format("the volume has {} of them, counted from 0", grid.nz),
                                   .hint = format("give a number from 0 to {}", grid.nz - 1)});
  if (options.index) return *options.index;
  const double place = options.place.value_or(0.5);
  if (!(place >= 0 && place <= 1))
    throw Error(ErrorKind::usage, {.what = format("--slice {:g} lies outside the volume", place),
                                   .where = "option --slice",
                                   .why = "0 is the first slice and 1 the last",
                                   .hint = "give a number from 0 to 1, or --index"});
  return std::min(grid.nz - 1, static_cast<std::int64_t>(place * static_cast<double>(grid.nz)));
}

struct PreviewChain {
  std::string name;
  std::vector<CorrectionSpec> corrections;
};

// None, without each, all; fewer where some of these are the same. Dead pixels are bridged in all of them: without that
// there may be no line integrals.
std::vector<PreviewChain> preview_versions(std::vector<CorrectionSpec> chain) {
  for (CorrectionSpec& spec : chain) spec.parameters.erase("write");  // a preview leaves the scan's files alone
  const auto dead = [](const CorrectionSpec& spec) { return spec.kind == "dead-pixels"; };
  PreviewChain none{chain.empty() ? "no corrections in the scan file" : "no corrections", {}};
  std::ranges::copy_if(chain, std::back_inserter(none.corrections), dead);
  if (!none.corrections.empty()) none.name = "only dead-pixels";
  std::vector<PreviewChain> versions{none};
  if (none.corrections.size() == chain.size()) return versions;
  std::map<std::string, int> seen;
  for (std::size_t i = 0; chain.size() - none.corrections.size() > 1 && i < chain.size(); ++i) {
    if (dead(chain[i])) continue;
    const int number = ++seen[chain[i].kind];
    PreviewChain version{"without " + chain[i].kind + (number > 1 ? format(" ({})", number) : ""), chain};
    version.corrections.erase(version.corrections.begin() + static_cast<std::ptrdiff_t>(i));
    versions.push_back(std::move(version));
  }
  versions.push_back({chain.size() == 1 ? "with " + chain[0].kind : "all corrections", chain});
  return versions;
}

DrawnVersion reconstructed_version(Scan scan, const PreviewChain& chain, const std::filesystem::path& output,
                                   const ReconstructOptions& options, Context& context) {
  scan.corrections = chain.corrections;
  const VolumeGrid& grid = scan.grid;
  std::vector<float> voxels(static_cast<std::size_t>(grid.nx * grid.ny));
  MemoryVolume volume(grid, voxels.data());
  const ReconstructReport report = reconstruct_scan(scan, volume, output, options, context);
  DrawnVersion result;
  result.numbers.name = chain.name;
  result.slice =
      extract_slices(ArrayVolume(grid, voxels), {{Axis::z, 0}}, options.compute.memory_bytes, context).front();
  const Planes plane{voxels.data(), grid.nx, grid.ny, grid.nx, 1, grid.nx * grid.ny};
  result.numbers.rings_per_mm =
      std::sqrt(slice_ring_energy(plane, -grid.origin_mm.x / grid.step_mm.x, -grid.origin_mm.y / grid.step_mm.y));
  result.numbers.gradient_energy = post::gradient_energy(result.slice);
  result.numbers.seconds = report.seconds;
  result.numbers.corrections = report.corrections;
  return result;
}

// The slices are made by FDK, whatever the scan file chooses: an iterative method cannot make one slice of a volume
// from the rows that it is seen on.
void preview_by_fdk(Scan& scan, Context& context) {
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

std::string preview_png(const Slice& slice, const GreyWindow& window, ColourMap map) {
  const double pixel_mm = std::min(slice.pixel_width_mm, slice.pixel_height_mm);
  return png_bytes(draw_slice(slice, window, map, pixel_mm), "preview");
}

PreviewPngs preview_pngs(const std::vector<DrawnVersion>& versions, const PreviewFacts& facts) {
  const PreviewWindows windows = preview_windows(versions, facts);
  PreviewPngs pngs;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    pngs.slices.push_back(preview_png(versions[i].slice, windows.values, ColourMap::grey));
    pngs.differences.push_back(i == facts.all ? std::string()
                                              : preview_png(difference(versions[facts.all].slice, versions[i].slice),
                                                            windows.differences, ColourMap::diverging));
  }
  return pngs;
}

}  // namespace

PreviewReport preview(const std::filesystem::path& scan_file, const PreviewOptions& options) {
  require_name(options.page, "page");
  check_compute(options.compute);
  CallContext working(options.call);
  Scan scan = read_scan(scan_file);
  WarnOnce once(working.context().progress);  // every version looks at the same scan
  Context context{working.context().threads, working.context().cancel, once};
  PreviewReport report;
  report.page = options.page;
  report.picture = std::filesystem::path(options.page).replace_extension(".png");
  if (report.page == report.picture)
    throw Error(
        ErrorKind::usage,
        {.what = "the page and its picture would have one name",
         .where = format("--output {}", options.page.string()),
         .why = "the picture gets the page's name with .png",
         .hint = format("write --output {}", std::filesystem::path(options.page).replace_extension(".html").string())});
  check_output(scan, report.page, "the page");
  check_output(scan, report.picture, "the picture");
  const bool force = options.call.force;
  const OutputLock page_lock = reserve_output(report.page, force, working.context().progress),
                   picture_lock = reserve_output(report.picture, force, working.context().progress);
  preview_by_fdk(scan, context);
  center_automatically(scan, context);
  report.slice = preview_slice(options, scan.grid);
  report.z_mm = scan.grid.centre(0, 0, static_cast<double>(report.slice)).z;
  PreviewFacts facts;
  facts.scan = scan_file.string();
  facts.place =
      format("slice {} of {}, z = {:.4g} mm, by FDK", report.slice, scan.grid.nz, report.z_mm == 0 ? 0.0 : report.z_mm);
  scan.grid.origin_mm.z = report.z_mm;
  scan.grid.nz = 1;

  ReconstructOptions reconstruction;
  reconstruction.compute = options.compute;
  reconstruction.compute.threads = 0;  // the context's
  reconstruction.compute.memory_bytes = working.memory_bytes();
  std::vector<DrawnVersion> versions;
  for (const PreviewChain& chain : preview_versions(scan.corrections)) {
    context.progress.note(chain.name);
    versions.push_back(reconstructed_version(scan, chain, report.page, reconstruction, context));
  }
  facts.all = versions.size() - 1;
  const post::FlatRegion flat = post::flattest_region(versions[facts.all].slice);
  for (DrawnVersion& drawn : versions) drawn.numbers.noise_per_mm = post::noise_in(drawn.slice, flat);
  facts.flat_region =
      format("{} x {} pixels from column {} and row {} of the picture", flat.side, flat.side, flat.x, flat.y);

  PartialFile html(report.page, force, 0), png(report.picture, force, 0);
  html.append(preview_html(versions, facts, preview_pngs(versions, facts)));
  png.append(png_bytes(preview_picture(versions, facts), report.picture.string()));
  commit_together({&html, &png});
  for (const DrawnVersion& drawn : versions) report.versions.push_back(drawn.numbers);
  return report;
}

}  // namespace lepus
