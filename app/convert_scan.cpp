// SPDX-License-Identifier: Apache-2.0
#include "app/convert_scan.h"

#include <algorithm>
#include <sstream>

#include <toml++/toml.h>

#include "core/format.h"
#include "core/input_file.h"
#include "core/memory.h"
#include "core/output_file.h"
#include "core/output_folder.h"
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

void copy_frames(const FrameSource& source, FrameWriter& writer, Context& context) {
  Buffer<std::byte> frame(source.rows() * source.columns() * bytes_per_pixel(source.pixel_type()));
  for (std::int64_t i = 0; i < source.frames(); ++i) {
    context.cancel.check();
    source.read_native(i, 0, source.rows(), frame.data());
    writer.write(frame.data());
    context.progress.advance();
  }
}

// Rows of all views are read in bands that fit the memory; a band gives one sinogram per row.
void copy_sinograms(const FrameSource& source, FrameWriter& writer, const Session& session, Context& context) {
  const std::int64_t line = source.columns() * bytes_per_pixel(source.pixel_type());
  const std::int64_t sinogram = line * source.frames();
  // A band, its turned copy of one sinogram, and what the writer makes of that.
  const std::int64_t fits = session.buffer_bytes(3 * sinogram) / sinogram - 2;
  const std::int64_t rows = std::min(fits, source.rows());
  Buffer<std::byte> band(rows * sinogram), turned(sinogram);
  for (std::int64_t row0 = 0; row0 < source.rows(); row0 += rows) {
    const std::int64_t row1 = std::min(source.rows(), row0 + rows);
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
      writer.write(turned.data());
      context.progress.advance();
    }
  }
}

void write_set(const FrameFiles& files, const std::string& what, const SetName& name, const fs::path& folder,
               bool sinograms, Session& session) {
  const auto source = open_frames(files);
  FrameWriterOptions options;
  options.columns = source->columns();
  options.rows = sinograms ? source->frames() : source->rows();
  options.frames = sinograms ? source->rows() : source->frames();
  options.type = source->pixel_type();
  options.dataset = name.dataset;
  fs::create_directories((folder / name.path).parent_path());
  const auto writer = create_frames(folder / name.path, options);
  Context& context = session.context();
  context.progress.begin("converting " + what, options.frames);
  if (sinograms)
    copy_sinograms(*source, *writer, session, context);
  else
    copy_frames(*source, *writer, context);
  context.progress.end();
  context.cancel.check();
  writer->finish();
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

void bring_all_files(toml::table& document, const Scan& scan, const fs::path& from, const fs::path& to) {
  // Angles that are listed elsewhere become a text file of one for each frame: a dataset stays behind, and a list may
  // hold more than the frames.
  toml::table* geometry = document["geometry"].as_table();
  const bool listed =
      geometry != nullptr && (geometry->contains("angles_dataset") || geometry->contains("angles_file"));
  if (listed)
    for (const char* key : {"angles_dataset", "angles_file", "first_angle_index", "angles_unit"}) geometry->erase(key);
  bring_files(document, false, from, to);
  if (!listed) return;
  std::string lines;
  for (const double angle : scan.listed_angles_deg) lines += format("{}\n", angle);
  const fs::path name = free_name("angles.txt", to);
  write_file(to / name, lines, false);
  geometry->insert("angles_file", name.string());
}

}  // namespace

ConvertedScan convert_scan(const fs::path& scan_file, const fs::path& folder, const ScanForm& form, Session& session) {
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
  PartialFolder target(folder, session.context().progress);
  const bool force = session.common().force;
  if (!target.target_is_free() && !(force && fs::is_directory(target.target())))
    throw Error(ErrorKind::disk, {.what = "the folder exists already",
                                  .where = folder.string(),
                                  .why = "it is not empty",
                                  .hint = "give another name, or --force to replace the scan in it"});

  toml::table& frames = *document["frames"].as_table();
  for (const char* key : {"dataset", "order", "axes", "images", "image_key", "flats_dataset", "flats_images",
                          "flats_axes", "darks_dataset", "darks_images", "darks_axes", "raw"})
    frames.erase(key);
  // Writes one set of images and gives its name for the scan file.
  const auto convert = [&](const FrameFiles& files, const std::string& set, const char* dataset_key,
                           const char* dataset, bool sinograms) {
    const SetName name = name_set(sinograms ? "sinograms" : set, form, dataset);
    write_set(files, set, name, target.path(), sinograms, session);
    if (!name.dataset.empty()) frames.insert_or_assign(dataset_key, name.dataset);
    return name.in_scan;
  };
  frames.insert_or_assign("files", convert(scan.frames, "frames", "dataset", "/exchange/data", form.sinograms));
  const char* const white = "/exchange/data_white";
  if (!scan.flat_series.empty()) {
    toml::array names;
    for (std::size_t i = 0; i < scan.flat_series.size(); ++i)
      names.push_back(convert(scan.flat_series[i].files, format("flats-{}", i + 1), "flats_dataset", white, false));
    frames.insert_or_assign("flats", names);
  } else if (scan.flats) {
    frames.insert_or_assign("flats", convert(*scan.flats, "flats", "flats_dataset", white, false));
  }
  if (scan.darks)
    frames.insert_or_assign("darks", convert(*scan.darks, "darks", "darks_dataset", "/exchange/data_dark", false));
  if (form.sinograms) frames.insert_or_assign("order", "sinograms");
  bring_all_files(document, scan, old_folder, target.path());

  std::ostringstream text;
  text << format("# Converted by lepus {} from {}\n", version, fs::absolute(scan_file).lexically_normal().string())
       << document << "\n";
  write_file(target.path() / "scan.toml", text.str(), false);
  session.context().cancel.check();
  // Only what has the name of something new is replaced; whatever else is in the folder stays.
  target.commit(force ? PartialFolder::Replace::same_names : PartialFolder::Replace::nothing);
  return {folder / "scan.toml", scan.recorded.frames, scan.recorded.columns, scan.recorded.rows};
}

}  // namespace lepus::app
