// SPDX-License-Identifier: Apache-2.0
#include "app/convert_scan.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <sstream>
#include <vector>

#include <toml++/toml.h>

#include "core/format.h"
#include "core/input_file.h"
#include "core/memory.h"
#include "core/output_file.h"
#include "core/row_checksum.h"
#include "io/input_identity.h"
#include "io/resumable_folder.h"
#include "io/resumable_volume.h"
#include "run/run_state.h"
#include "scan/scan.h"
#include <lepus/version.h>

namespace lepus::app {
namespace {

namespace fs = std::filesystem;

// The name of a set of images in the new folder, and how the scan file calls it.
struct SetName {
  fs::path path;        // for create_frames
  std::string in_scan;  // for the scan file
  std::string dataset;  // HDF5 only
};

SetName name_set(const std::string& set, const ScanForm& form, const std::string& dataset) {
  if (form.frames == "tiff") return {fs::path(set) / "%05d.tif", set + "/*.tif", {}};
  if (form.frames == "stack") return {set + ".tif", set + ".tif", {}};
  if (form.frames == "hdf5") return {set + ".h5", set + ".h5", dataset};
  return {set + ".raw", set + ".raw", {}};
}

// Images of one kind in the scan, and what they become.
struct ImageSet {
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
void copy_sinograms(const FrameSource& source, ResumableVolume& writer, const Session& session, Context& context) {
  const std::int64_t line = source.columns() * bytes_per_pixel(source.pixel_type());
  const std::int64_t sinogram = line * source.frames();
  // A band, its turned copy of one sinogram, and what the writer makes of that.
  const std::int64_t fits = session.buffer_bytes(3 * sinogram) / sinogram - 2;
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

void write_set(const ImageSet& set, ResumableFolder& folder, Session& session) {
  Context& context = session.context();
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
      copy_sinograms(source, writer, session, context);
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
void remove_others(const std::vector<ImageSet>& sets, const fs::path& folder) {
  std::set<fs::path> ours;
  for (const ImageSet& set : sets) {
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

// A name that nothing else has in the new folder: "angles.txt", or "angles-2.txt".
fs::path free_name(const fs::path& wanted, const fs::path& folder) {
  fs::path name = wanted.filename();
  for (int number = 2; name == "scan.toml" || fs::exists(folder / name); ++number)
    name = format("{}-{}{}", wanted.stem().string(), number, wanted.extension().string());
  return name;
}

// Every file that the scan file names comes along, so that the new folder stands alone: "..._file", and the files of
// corrections.
void bring_files(toml::table& table, bool correction, const fs::path& from, const fs::path& to) {
  for (auto&& [key, node] : table) {
    const std::string_view name = key.str();
    if (auto* inner = node.as_table()) bring_files(*inner, false, from, to);
    if (auto* list = node.as_array())
      for (auto& element : *list)
        if (auto* inner = element.as_table()) bring_files(*inner, name == "correct", from, to);
    auto* text = node.as_string();
    const bool is_file = name.ends_with("_file") || (correction && (name == "file" || name == "calibration"));
    if (text == nullptr || !is_file) continue;
    const fs::path source = from / text->get(), name_there = free_name(source, to);
    fs::copy_file(source, to / name_there);
    *text = name_there.string();
  }
}

// A volume may be several files that name each other: they keep their names, in a folder of their own.
std::string bring_volume(const std::string& key, const fs::path& source, const fs::path& to) {
  const std::string text = source.string();
  const fs::path file = fs::exists(source) ? source : fs::path(text.substr(0, text.find(":/")));  // of a dataset
  const fs::path folder = free_name(key, to);
  for (const fs::path& part : files_of_input(source)) {
    if (!fs::is_regular_file(part))
      throw Error(ErrorKind::input, {.what = "file not found",
                                     .where = part.string(),
                                     .why = format("method.{} of the scan file names it", key),
                                     .hint = "put it there, or leave the key out"});
    const fs::path within = part.lexically_relative(file.parent_path());
    if (*within.begin() == "..")
      throw Error(ErrorKind::unsupported, {.what = "a volume that lies in several folders is not copied",
                                           .where = part.string(),
                                           .why = format("method.{} of the scan file needs it", key),
                                           .hint = "make one file of it with lepus convert"});
    const fs::path there = to / folder / within;
    fs::create_directories(there.parent_path());
    fs::copy_file(part, there);
  }
  return (folder / file.filename()).string() + text.substr(file.string().size());
}

void bring_volumes_of_method(toml::table& document, const fs::path& from, const fs::path& to) {
  toml::table* method = document["method"].as_table();
  if (method == nullptr) return;
  for (const std::string key : {"start", "mask", "prior"}) {
    toml::value<std::string>* name = (*method)[key].as_string();
    if (name == nullptr || (key == "start" && (name->get() == "zero" || name->get() == "fdk"))) continue;
    *name = bring_volume(key, from / name->get(), to);
  }
}

void bring_all_files(toml::table& document, const Scan& scan, const fs::path& from, const fs::path& to) {
  // Angles that are listed elsewhere become a text file of one for each frame: a dataset stays behind, and a list may
  // hold more than the frames.
  toml::table* geometry = document["geometry"].as_table();
  const bool listed =
      geometry != nullptr && (geometry->contains("angles_dataset") || geometry->contains("angles_file"));
  if (listed)
    for (const char* key : {"angles_dataset", "angles_file", "first_angle_index", "angles_unit"}) geometry->erase(key);
  bring_files(document, false, from, to);
  bring_volumes_of_method(document, from, to);
  if (!listed) return;
  std::string lines;
  for (const double angle : scan.listed_angles_deg) lines += format("{}\n", angle);
  const fs::path name = free_name("angles.txt", to);
  write_file(to / name, lines, false);
  geometry->insert("angles_file", name.string());
}

}  // namespace

namespace {

// The sets of the scan in their new form, named in the scan file's section of frames.
std::vector<ImageSet> name_sets(const Scan& scan, const ScanForm& form, toml::table& frames) {
  for (const char* key : {"dataset", "order", "axes", "images", "image_key", "flats_dataset", "flats_images",
                          "flats_axes", "darks_dataset", "darks_images", "darks_axes", "raw", "sinogram"})
    frames.erase(key);
  std::vector<ImageSet> sets;
  // Gives its name for the scan file.
  const auto add = [&](const FrameFiles& files, const std::string& set, const char* dataset_key, const char* dataset,
                       bool sinograms) {
    const SetName name = name_set(sinograms ? "sinograms" : set, form, dataset);
    if (!name.dataset.empty()) frames.insert_or_assign(dataset_key, name.dataset);
    sets.push_back({set, open_frames(files), name, sinograms});
    return name.in_scan;
  };
  frames.insert_or_assign("files", add(scan.frames, "frames", "dataset", "/exchange/data", form.sinograms));
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
  if (form.sinograms) frames.insert_or_assign("order", "sinograms");
  return sets;
}

JournalHeader header_of(const Scan& scan, const ScanForm& form) {
  JournalHeader header{"convert", facts_of(scan)};
  header.facts.push_back({"the form", format("{} of {}", form.frames, form.sinograms ? "sinograms" : "frames")});
  return header;
}

}  // namespace

ConvertedScan convert_scan(const fs::path& scan_file, const fs::path& folder, const ScanForm& form, bool restart,
                           Session& session) {
  const Scan scan = read_scan(scan_file);  // checks everything before anything is written
  for (const auto& warning : scan.warnings) session.context().progress.warning(warning);
  const fs::path old_folder = fs::absolute(scan_file).parent_path();
  std::error_code ignored;
  if (fs::equivalent(old_folder, folder, ignored))
    throw Error(ErrorKind::usage, {.what = "a scan cannot be converted into its own folder",
                                   .where = folder.string(),
                                   .why = "its files would be replaced while they are read",
                                   .hint = "give another folder"});
  toml::table document = toml::parse(read_text_file(scan_file, largest_scan_file), scan_file.string());
  ResumableFolder target(folder, header_of(scan, form), restart, session.context().progress);
  const bool force = session.common().force;
  if (!target.target_is_free() && !(force && target.target_is_folder()))
    throw Error(ErrorKind::disk, {.what = "the folder exists already",
                                  .where = folder.string(),
                                  .why = "it is not empty",
                                  .hint = "give another name, or --force to replace the scan in it"});
  try {
    const std::vector<ImageSet> sets = name_sets(scan, form, *document["frames"].as_table());
    target.expect("images", std::accumulate(sets.begin(), sets.end(), std::int64_t{0},
                                            [](std::int64_t sum, const ImageSet& set) { return sum + set.images(); }));
    for (const ImageSet& set : sets) write_set(set, target, session);
    remove_others(sets, target.path());
    bring_all_files(document, scan, old_folder, target.path());
    std::ostringstream text;
    text << format("# Converted by lepus {} from {}\n", version, fs::absolute(scan_file).lexically_normal().string())
         << document << "\n";
    write_file(target.path() / "scan.toml", text.str(), false);
    session.context().cancel.check();
    // Only what has the name of something new is replaced; whatever else is in the folder stays.
    target.commit(force ? PartialFolder::Replace::same_names : PartialFolder::Replace::nothing);
  } catch (const Error& error) {
    throw target.ended_by(error);
  }
  return {folder / "scan.toml", scan.recorded.frames, scan.recorded.columns, scan.recorded.rows};
}

}  // namespace lepus::app
