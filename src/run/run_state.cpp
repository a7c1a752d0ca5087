// SPDX-License-Identifier: Apache-2.0
#include "run/run_state.h"

#include <algorithm>
#include <filesystem>

#include "core/format.h"
#include "io/input_identity.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

std::vector<fs::path> files_of(const Scan& scan) {
  std::vector<fs::path> files = files_of_input(scan.frames);
  const auto add = [&](const FrameFiles& images) {
    const std::vector<fs::path> more = files_of_input(images);
    files.insert(files.end(), more.begin(), more.end());
  };
  if (scan.flats) add(*scan.flats);
  if (scan.darks) add(*scan.darks);
  for (const Scan::FlatsAt& flats : scan.flat_series) add(flats.files);
  for (const CorrectionSpec& spec : scan.corrections)
    for (const auto& [name, value] : spec.parameters) {
      const auto* text = std::get_if<std::string>(&value);
      std::error_code code;
      if (text && name != "write" && fs::is_regular_file(spec.folder / *text, code))
        files.push_back(spec.folder / *text);
    }
  if (!scan.method.iterative()) return files;
  // One that is not there is found where it is opened.
  for (const std::string& volume : scan.method.volume_files())
    for (const fs::path& file : files_of_input(volume)) {
      std::error_code code;
      if (fs::is_regular_file(file, code)) files.push_back(file);
    }
  return files;
}

std::string digits_of(std::uint64_t checksum) { return format("{:016x}", checksum); }

// Angles, jitter and matrices may come from files beside the scan file: what was made of them all is here.
std::string geometry_checksum(const ScanGeometry& geometry) {
  std::string text = format("{} {} {} {}", static_cast<int>(geometry.beam), geometry.columns, geometry.rows,
                            geometry.source_detector_mm);
  if (const auto& arc = geometry.recorded_on_arc)
    text += format(" arc {} {} {} {} {} {} {}", arc->columns, arc->rows, arc->radius_mm, arc->pixel_width_mm,
                   arc->pixel_height_mm, arc->central_column, arc->central_row);
  std::uint64_t sum = row_checksum(0, 0, text.data(), std::ssize(text));
  for (std::int64_t view = 0; view < geometry.views(); ++view) {
    const auto& matrix = geometry.matrices[static_cast<std::size_t>(view)].m;
    sum += row_checksum(view, 1, matrix.data(), static_cast<std::int64_t>(sizeof matrix));
  }
  return digits_of(sum);
}

[[noreturn]] void refuse_slab(const char* what, SlabRange slab, std::int64_t slices) {
  throw Error(ErrorKind::internal, {.what = what,
                                    .where = {},
                                    .why = format("slices [{}, {}) of {}", slab.z0, slab.z1, slices),
                                    .hint = "report this"});
}

}  // namespace

ScanIdentity identity_of(const Scan& scan) {
  ScanIdentity identity;
  identity.file = scan.file.string();
  identity.resolved = digits_of(row_checksum(0, 0, scan.resolved.data(), std::ssize(scan.resolved)));
  identity.geometry = geometry_checksum(scan.geometry);
  const InputIdentity inputs = identity_of_files(files_of(scan), scan.file.parent_path());
  identity.inputs = inputs.checksum;
  identity.input_files = inputs.files;
  return identity;
}

std::vector<JournalFact> facts_without_frames(const Scan& scan) {
  return {{"the scan", scan.resolved}, {"the checksum of the views' geometry", geometry_checksum(scan.geometry)}};
}

std::vector<JournalFact> facts_of(const Scan& scan) {
  const ScanIdentity identity = identity_of(scan);
  std::vector<JournalFact> facts = facts_without_frames(scan);
  facts.push_back({"the checksum of the input files' names, sizes and times",
                   format("{} ({} files)", identity.inputs, identity.input_files)});
  return facts;
}

std::uint64_t slab_checksum(const VolumeGrid& grid, SlabRange slab, const float* voxels) {
  const std::int64_t slice = grid.nx * grid.ny;
  std::uint64_t sum = 0;
  for (std::int64_t z = slab.z0; z < slab.z1; ++z)
    sum += row_checksum(z, 0, voxels + (z - slab.z0) * slice, slice * static_cast<std::int64_t>(sizeof(float)));
  return sum;
}

void RunState::finished(SlabRange slab, const std::string& checksum) {
  if (slab.z0 < 0 || slab.z1 <= slab.z0 || slab.z1 > plan.slices)
    refuse_slab("a slab outside the volume is called finished", slab, plan.slices);
  const auto after = std::find_if(finished_slabs.begin(), finished_slabs.end(),
                                  [&](const FinishedSlab& f) { return f.slab.z1 > slab.z0; });
  if (after != finished_slabs.end() && after->slab.z0 < slab.z1)
    refuse_slab("a slab is called finished twice", slab, plan.slices);
  finished_slabs.insert(after, {slab, checksum});
}

std::vector<SlabRange> RunState::missing_slabs() const {
  std::vector<SlabRange> missing;
  std::int64_t z = 0;
  for (const FinishedSlab& f : finished_slabs) {
    if (f.slab.z0 > z) missing.push_back({z, f.slab.z0});
    z = f.slab.z1;
  }
  if (z < plan.slices) missing.push_back({z, plan.slices});
  return missing;
}

}  // namespace lepus
