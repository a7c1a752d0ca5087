// SPDX-License-Identifier: Apache-2.0
// A scan in another form: the same frames, flats and darks in other files, and a scan file that names them. And its
// geometry alone, for other tools.
#include <lepus/convert.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <sstream>
#include <vector>

#include <toml++/toml.h>

#include "api/bring_named_files.h"
#include "api/refuse_option.h"
#include "api/unfinished_run.h"
#include "core/call_context.h"
#include "core/check_numbers.h"
#include "core/format.h"
#include "core/input_file.h"
#include "core/memory.h"
#include "core/output_file.h"
#include "core/row_checksum.h"
#include "geometry/exchange.h"
#include "io/resumable_folder.h"
#include "io/resumable_volume.h"
#include "job/automatic_center.h"
#include "job/outputs.h"
#include "run/run_state.h"
#include "scan/document.h"
#include <lepus/version.h>

namespace lepus {
namespace {

namespace fs = std::filesystem;

// The name of a set of images in the new folder, and how the scan file calls it.
struct SetName {
  fs::path path;        // for create_frames
  std::string in_scan;  // for the scan file
  std::string dataset;  // HDF5 only
};

SetName name_set(const std::string& set, ScanForm form, const std::string& dataset) {
  if (form == ScanForm::tiff) return {fs::path(set) / "%05d.tif", set + "/*.tif", {}};
  if (form == ScanForm::stack) return {set + ".tif", set + ".tif", {}};
  if (form == ScanForm::hdf5) return {set + ".h5", set + ".h5", dataset};
  return {set + ".raw", set + ".raw", {}};
}

// Images of one kind in the scan, and what they become.
struct ConvertedSet {
  std::string what;  // "frames"
  std::unique_ptr<FrameSource> source;
  SetName name;
  bool sinograms = false;

  std::int64_t images() const { return sinograms ? source->rows() : source->frames(); }
};

void copy_frames(const FrameSource& source, ResumableVolume& writer, Context& context) {
  Buffer<std::byte> frame(source.rows() * source.columns() * bytes_per_pixel(source.pixel_type()));
  for (const VolumeSlices missing : writer.missing())
    for (std::int64_t i = missing.z0; i < missing.z1; ++i) {
      context.cancel.check();
      source.read_native(i, 0, source.rows(), frame.data());
      writer.write_stored(i, i + 1, frame.data());
      context.progress.advance();
    }
}

// Rows of all views are read in bands that fit the memory; a band gives one sinogram per row.
void copy_sinograms(const FrameSource& source, ResumableVolume& writer, CallContext& working) {
  Context& context = working.context();
  const std::int64_t line = source.columns() * bytes_per_pixel(source.pixel_type());
  const std::int64_t sinogram = line * source.frames();
  // A band, its turned copy of one sinogram, and what the writer makes of that.
  const std::int64_t fits = working.buffer_bytes(3 * sinogram) / sinogram - 2;
  const std::int64_t rows = std::min(fits, source.rows());
  Buffer<std::byte> band(rows * sinogram), turned(sinogram);
  const auto copy_rows = [&](std::int64_t row0, std::int64_t row1) {
    context.threads.parallel_for(0, source.frames(), 1, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t view = begin; view < end; ++view) {
        context.cancel.check();
        source.read_native(view, row0, row1, band.data() + view * (row1 - row0) * line);
      }
    });
    for (std::int64_t row = row0; row < row1; ++row) {
      context.cancel.check();
      for (std::int64_t view = 0; view < source.frames(); ++view) {
        const std::byte* from = band.data() + (view * (row1 - row0) + row - row0) * line;
        std::copy(from, from + line, turned.data() + view * line);
      }
      writer.write_stored(row, row + 1, turned.data());
      context.progress.advance();
    }
  };
  for (const VolumeSlices missing : writer.missing())
    for (std::int64_t row0 = missing.z0; row0 < missing.z1; row0 += rows)
      copy_rows(row0, std::min(missing.z1, row0 + rows));
}

// Of images that were written, as ResumableVolume::checksum has it; "" where they cannot be read.
std::string checksum_of(const SetName& name, const fs::path& folder) try {
  FrameFiles files;
  files.files = expand_pattern(folder, name.in_scan);
  files.dataset = name.dataset;
  const auto images = open_frames(files);
  Buffer<std::byte> image(images->rows() * images->columns() * bytes_per_pixel(images->pixel_type()));
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < images->frames(); ++i) {
    images->read_native(i, 0, images->rows(), image.data());
    sum += row_checksum(i, 0, image.data(), image.bytes());
  }
  return format("{:016x}", sum);
} catch (const Error&) {
  return {};
}

void write_set(const ConvertedSet& set, ResumableFolder& folder, CallContext& working) {
  Context& context = working.context();
  const FrameSource& source = *set.source;
  if (const auto known = folder.finished(set.what)) {
    if (checksum_of(set.name, folder.path()) == *known) return;
    context.progress.warning(
        format("the {} of the unfinished output are not as they were written and are made again", set.what));
  }
  const fs::path path = folder.path() / set.name.path;
  fs::create_directories(path.parent_path());
  const VolumeGrid shape{.nx = source.columns(),
                         .ny = set.sinograms ? source.frames() : source.rows(),
                         .nz = set.images(),
                         .origin_mm = {},
                         .step_mm = {1, 1, 1}};
  VolumeWriterOptions options;
  options.type = source.pixel_type();
  options.dataset = set.name.dataset;
  options.force = true;  // a run that was killed may have finished it and not said so
  ResumableRun run;
  run.header = {"convert", {}};  // the folder's journal says of what
  run.slices = Slices::of_scan;
  run.unit = "images";
  ResumableVolume writer(path, shape, options, run, context.progress);
  try {
    context.progress.begin("converting " + set.what, count_slices(writer.missing()));
    if (set.sinograms)
      copy_sinograms(source, writer, working);
    else
      copy_frames(source, writer, context);
    context.progress.end();
    context.cancel.check();
  } catch (...) {
    writer.stop_recording();
    if (writer.stays()) folder.keep();
    throw;
  }
  const std::string checksum = format("{:016x}", writer.checksum());
  folder.keep();
  writer.finish({});
  folder.finish(set.what, set.images(), checksum);
}

// What a run that was killed had brought beside the sets, and locks that it held in them.
void remove_others(const std::vector<ConvertedSet>& sets, const fs::path& folder) {
  std::set<fs::path> ours;
  for (const ConvertedSet& set : sets) {
    ours.insert(*set.name.path.begin());  // "frames" of "frames/%05d.tif"
    for (const fs::path& file : files_of_volume(set.name.path)) ours.insert(*file.begin());
  }
  std::vector<fs::path> others;
  for (const auto& entry : fs::directory_iterator(folder))
    if (!ours.contains(entry.path().filename())) others.push_back(entry.path());
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".lepus-lock") others.push_back(entry.path());
  for (const fs::path& path : others) fs::remove_all(path);
}

// The sets of the scan in their new form, named in the scan file's section of frames.
std::vector<ConvertedSet> name_sets(const Scan& scan, const ScanConversionOptions& options, toml::table& frames) {
  for (const char* key : {"dataset", "order", "axes", "images", "image_key", "flats_dataset", "flats_images",
                          "flats_axes", "darks_dataset", "darks_images", "darks_axes", "raw", "sinogram"})
    frames.erase(key);
  std::vector<ConvertedSet> sets;
  // Gives its name for the scan file.
  const auto add = [&](const FrameFiles& files, const std::string& set, const char* dataset_key, const char* dataset,
                       bool sinograms) {
    const SetName name = name_set(sinograms ? "sinograms" : set, options.form, dataset);
    if (!name.dataset.empty()) frames.insert_or_assign(dataset_key, name.dataset);
    sets.push_back({set, open_frames(files), name, sinograms});
    return name.in_scan;
  };
  frames.insert_or_assign("files", add(scan.frames, "frames", "dataset", "/exchange/data", options.sinograms));
  const char* const white = "/exchange/data_white";
  if (!scan.flat_series.empty()) {
    toml::array names;
    for (std::size_t i = 0; i < scan.flat_series.size(); ++i)
      names.push_back(add(scan.flat_series[i].files, format("flats-{}", i + 1), "flats_dataset", white, false));
    frames.insert_or_assign("flats", names);
  } else if (scan.flats) {
    frames.insert_or_assign("flats", add(*scan.flats, "flats", "flats_dataset", white, false));
  }
  if (scan.darks)
    frames.insert_or_assign("darks", add(*scan.darks, "darks", "darks_dataset", "/exchange/data_dark", false));
  if (options.sinograms) frames.insert_or_assign("order", "sinograms");
  return sets;
}

JournalHeader conversion_header(const Scan& scan, const ScanConversionOptions& options) {
  JournalHeader header{"convert", facts_of(scan)};
  const char* const form = options.form == ScanForm::tiff    ? "tiff"
                           : options.form == ScanForm::stack ? "stack"
                           : options.form == ScanForm::hdf5  ? "hdf5"
                                                             : "raw";
  header.facts.push_back({"the form", format("{} of {}", form, options.sinograms ? "sinograms" : "frames")});
  return header;
}

}  // namespace

ScanConversionReport convert_scan(const fs::path& scan_file, const fs::path& folder,
                                  const ScanConversionOptions& options) {
  check_resume_or_restart(options.resume, options.restart);
  require_name(folder, "folder");
  check_named(options.form, ScanForm::raw, "ScanForm");
  refuse_same_file(scan_file, folder);
  if (options.resume) require_unfinished_run(folder);
  CallContext working(options.call);
  Context& context = working.context();
  const Scan scan = read_scan(scan_file);  // checks everything before anything is written
  for (const auto& warning : scan.warnings) context.progress.warning(warning);
  const fs::path old_folder = fs::absolute(scan_file).parent_path();
  std::error_code ignored;
  if (fs::equivalent(old_folder, folder, ignored))
    throw Error(ErrorKind::usage, {.what = "a scan cannot be converted into its own folder",
                                   .where = folder.string(),
                                   .why = "its files would be replaced while they are read",
                                   .hint = "give another folder"});
  toml::table document = toml::parse(read_text_file(scan_file, largest_scan_file), scan_file.string());
  ResumableFolder target(folder, conversion_header(scan, options), options.restart, context.progress);
  const bool force = options.call.force;
  if (!target.target_is_free() && !(force && target.target_is_folder()))
    throw Error(ErrorKind::disk, {.what = "the folder exists already",
                                  .where = folder.string(),
                                  .why = "it is not empty",
                                  .hint = "give another name, or --force to replace the scan in it"});
  try {
    const std::vector<ConvertedSet> sets = name_sets(scan, options, *document["frames"].as_table());
    target.expect("images",
                  std::accumulate(sets.begin(), sets.end(), std::int64_t{0},
                                  [](std::int64_t sum, const ConvertedSet& set) { return sum + set.images(); }));
    for (const ConvertedSet& set : sets) write_set(set, target, working);
    remove_others(sets, target.path());
    bring_named_files(document, scan, old_folder, target.path());
    std::ostringstream text;
    text << format("# Converted by lepus {} from {}\n", version, fs::absolute(scan_file).lexically_normal().string())
         << document << "\n";
    write_file(target.path() / "scan.toml", text.str(), false);
    context.cancel.check();
    // Only what has the name of something new is replaced; whatever else is in the folder stays.
    target.commit(force ? PartialFolder::Replace::same_names : PartialFolder::Replace::nothing);
  } catch (const std::exception& exception) {
    throw target.ended_by(as_error(exception));
  }
  return {folder / "scan.toml", scan.recorded.frames, scan.recorded.columns, scan.recorded.rows};
}

std::int64_t write_scan_geometry(const fs::path& scan_file, const fs::path& file, const std::string& format,
                                 const Call& call) {
  require_name(file, "output");
  refuse_same_file(scan_file, file);
  CallContext working(call);
  const OutputLock lock = reserve_output(file, call.force, working.context().progress);
  Scan scan = read_scan(scan_file);
  check_output(scan, file, "the geometry");
  center_automatically(scan, working.context());
  GeometryFileOptions options;
  options.force = call.force;
  options.pixel_width_mm = ScanDocument(scan.resolved, scan.file).find<double>("geometry.pixel_width_mm").value_or(0);
  write_geometry(scan.geometry, file, format, options);
  return scan.geometry.views();
}

}  // namespace lepus
