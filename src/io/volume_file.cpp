// SPDX-License-Identifier: Apache-2.0
// create_volume and open_volume: which format a name asks for.
#include "io/volume_file.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/format.h"
#include "core/output_file.h"
#include "io/dicom_images.h"
#include "io/file.h"
#include "io/file_kind.h"
#include "io/frame_names.h"
#include "io/frame_sources.h"
#include "io/input_identity.h"
#include "io/json_text.h"
#include "io/output_values.h"
#include "io/pixels.h"
#include "io/slab_writer.h"
#include "io/stack.h"
#include "io/stored_array.h"
#include "io/stored_pixels.h"
#include "io/zarr_codec.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

#ifdef LEPUS_HAVE_TIFF
constexpr bool have_tiff = true;
#else
constexpr bool have_tiff = false;
#endif
#ifdef LEPUS_HAVE_HDF5
constexpr bool have_hdf5 = true;
#else
constexpr bool have_hdf5 = false;
#endif

// "scan.h5:/entry/data", "scan.mat:A" -> file and dataset.
std::pair<fs::path, std::string> split_dataset(const fs::path& path) {
  const std::string text = path.string();
  const std::size_t colon = text.rfind(':');
  std::error_code code;
  if (colon == std::string::npos || fs::exists(path, code)) return {path, ""};
  const FileKind kind = kind_of_file(text.substr(0, colon));
  if (kind != FileKind::hdf5 && !has_named_arrays(kind)) return {path, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

bool names_folder(const fs::path& path) {
  const std::string text = path.string();
  return !text.empty() && text.back() == '/';
}

[[noreturn]] void throw_unknown_ending(const fs::path& path) {
  std::string known;
  for (const VolumeFormat& f : volume_formats()) known += (known.empty() ? "" : " ") + f.ending;
  throw Error(ErrorKind::unsupported, {.what = "unknown kind of volume file",
                                       .where = path.string(),
                                       .why = format("the ending '{}' is none of {}", path.extension().string(), known),
                                       .hint = "choose a name with one of these endings"});
}

void check(const VolumeGrid& grid, const fs::path& path) {
  const bool finite = std::isfinite(grid.origin_mm.x) && std::isfinite(grid.origin_mm.y) &&
                      std::isfinite(grid.origin_mm.z) && std::isfinite(grid.step_mm.x) &&
                      std::isfinite(grid.step_mm.y) && std::isfinite(grid.step_mm.z);
  if (checked_product(grid.nx, grid.ny, grid.nz, sizeof(float)) && finite && grid.step_mm.x != 0 &&
      grid.step_mm.y != 0 && grid.step_mm.z != 0)
    return;
  throw Error(ErrorKind::usage, {.what = "impossible volume",
                                 .where = path.string(),
                                 .why = format("{} x {} x {} voxels of {} x {} x {} mm", grid.nx, grid.ny, grid.nz,
                                               grid.step_mm.x, grid.step_mm.y, grid.step_mm.z),
                                 .hint = "give a positive number of voxels and finite sizes"});
}

bool is_volume_name(const fs::path& path) {
  const std::string ending = lower_extension(path);
  return ending == ".mha" || ending == ".mhd" || ending == ".nrrd" || ending == ".nhdr" || ending == ".raw" ||
         is_numpy_name(path) || is_dicom_name(path) || is_tiff_name(path) || is_hdf5_name(path) || is_zarr_name(path);
}

std::unique_ptr<StackWriter> create_stack(const StackTarget& target, std::int64_t room) {
  const fs::path& path = target.path;
  const std::string ending = lower_extension(path);
  if (is_zarr_name(path)) return create_zarr(target);
  if (is_dicom_name(path)) return create_dicom(target);
  if (find_number(path)) return ending == ".vol" ? create_labelled_slices(target) : create_tiff_folder(target);
  if (ending == ".mha" || ending == ".mhd") return create_meta_image(target, room);
  if (ending == ".nrrd" || ending == ".nhdr") return create_nrrd(target, room);
  if (is_tiff_name(path)) return create_tiff_stack(target);
  if (is_hdf5_name(path)) {
    const std::string frames = target.dataset.empty() ? frames_dataset : target.dataset;
    return create_hdf5_stack(target, target.text.grid ? "/volume" : frames);
  }
  if (ending == ".raw") return create_raw_stack(target);
  if (is_numpy_name(path)) return create_numpy_stack(target);
  throw_unknown_ending(path);
}

std::unique_ptr<VolumeReader> volume_of(StoredStack stack) {
  return volume_of_frames(std::move(stack.images), std::move(stack.info));
}

}  // namespace

fs::path slice_pattern(const fs::path& path, std::int64_t slices) {
  // Five digits and more only where the slices need them, so that names sort the same everywhere.
  const std::size_t digits = std::max<std::size_t>(4, std::to_string(slices - 1).size());
  return names_folder(path) && !is_zarr_name(path) ? path / format("slice_%0{}d.tif", digits) : path;
}

namespace {

bool has_halves(const fs::path& path) {
  const std::string ending = lower_extension(path);
  return ending != ".mha" && ending != ".mhd" && ending != ".nrrd" && ending != ".nhdr" && !is_dicom_name(path);
}

void check_type(const fs::path& path, PixelType type) {
  if (!is_volume_type(type))
    throw Error(ErrorKind::unsupported, {.what = format("a volume of {} voxels", name_of(type)),
                                         .where = path.string(),
                                         .why = "volumes are written as float32, float16, uint8, uint16 or int16",
                                         .hint = "choose one of these"});
  if (type == PixelType::f16 && !has_halves(path))
    throw Error(ErrorKind::unsupported,
                {.what = "this format has no 16-bit floats",
                 .where = path.string(),
                 .why = "MetaImage and NRRD know integers and floats of 32 and 64 bits, DICOM integers",
                 .hint = "write .tif, .h5, .npy, .raw or .zarr, or uint16 with a range"});
}

StackTarget target_of(const fs::path& path, const VolumeGrid& grid, const VolumeWriterOptions& options,
                      Unfinished unfinished, Slices slices) {
  check(grid, path);
  if (slices == Slices::of_volume) check_type(path, options.type);
  if (unfinished != Unfinished::removed && !can_be_resumed(path))
    throw Error(ErrorKind::unsupported, {.what = "a volume of this format cannot be gone on with",
                                         .where = path.string(),
                                         .why = "a run that is ended would not find its place in it again",
                                         .hint = "write another format, such as .mha, and lepus convert it"});
  StackTarget target;
  target.path = slice_pattern(path, grid.nz);
  const PixelType type = is_dicom_name(path) ? dicom_type(options.type, options.unit, path) : options.type;
  target.shape = {.columns = grid.nx, .rows = grid.ny, .images = grid.nz, .type = type};
  if (slices == Slices::of_volume) target.text = {.grid = grid, .unit = options.unit};
  if (options.type != PixelType::f32 && options.type != PixelType::f16) target.text.scale = options.scale;
  std::replace(target.text.unit.begin(), target.text.unit.end(), '\n', ' ');  // headers are made of lines
  target.force = options.force;
  target.dataset = options.dataset;
  target.unfinished = unfinished;
  target.sharing = unfinished == Unfinished::removed ? Sharing::alone : options.sharing;
  target.threads = options.threads;
  return target;
}

}  // namespace

bool can_be_resumed(const fs::path& path) {
  return !is_dicom_name(path) && !(find_number(path) && lower_extension(path) == ".vol");
}

std::unique_ptr<SlabWriter> open_slab_writer(const fs::path& path, const VolumeGrid& grid,
                                             const VolumeWriterOptions& options, Unfinished unfinished, Slices slices) {
  if (slices == Slices::of_scan) check_frames_name(path);
  const StackTarget target = target_of(path, grid, options, unfinished, slices);
  const std::int64_t room =
      options.provenance_room > 0 ? std::max<std::int64_t>(options.provenance_room, 256) : default_provenance_room;
  auto stack = create_stack(target, room);
  OutputLock open;
  if (unfinished != Unfinished::removed) open = lock_unfinished(path, Sharing::with_others);
  return std::make_unique<SlabWriter>(std::move(stack), target, path.string(), std::move(open));
}

void check_output_values(const fs::path& path, const OutputValues& values) {
  VolumeWriterOptions options;
  set_output_values(options, values);
  check_type(path, options.type);
}

std::unique_ptr<VolumeWriter> create_volume(const fs::path& path, const VolumeGrid& grid,
                                            const VolumeWriterOptions& options) {
  return open_slab_writer(path, grid, options, Unfinished::removed);
}

std::unique_ptr<UnfinishedVolume> create_unfinished(const fs::path& path, const VolumeGrid& grid,
                                                    const VolumeWriterOptions& options) {
  remove_half_made(path);
  return open_slab_writer(path, grid, options, Unfinished::kept);
}

std::unique_ptr<UnfinishedVolume> reopen_unfinished(const fs::path& path, const VolumeGrid& grid,
                                                    const VolumeWriterOptions& options,
                                                    const std::vector<FinishedSlices>& finished) {
  auto writer = open_slab_writer(path, grid, options, Unfinished::joined);
  for (const FinishedSlices& slices : finished) writer->written_elsewhere(slices.z0, slices.z1);
  return writer;
}

std::vector<fs::path> files_of_volume(const fs::path& path) {
  if (is_zarr_name(path)) return {zarr_target(path)};
  const fs::path pattern = slice_pattern(path, 1);
  if (find_number(pattern)) return {slices_side_car(pattern)};
  const std::string ending = lower_extension(path);
  if (ending == ".mhd" || ending == ".nhdr") return {path, fs::path(path).replace_extension(".raw")};
  if (ending == ".raw" || ending == ".npy" || is_dicom_name(path)) return {path, side_car_of(path)};
  return {path};
}

void refuse_to_replace_input(const fs::path& output, const fs::path& input) {
  std::error_code code;
  std::set<fs::path> read;
  // Beside slices there may be notes of other volumes.
  const bool slices = fs::is_directory(input, code) && !split_zarr_level(input);
  for (const fs::path& file : files_of_input(input))
    if (!slices || lower_extension(file) != ".json") read.insert(fs::weakly_canonical(file, code));
  if (const auto zarr = split_zarr_level(input)) read.insert(fs::weakly_canonical(zarr->first, code));
  std::vector<fs::path> written = files_of_volume(output);
  const fs::path pattern = slice_pattern(output, 1);
  if (const auto place = find_number(pattern); place && !is_zarr_name(output))
    for (std::int64_t i = 0; i < std::ssize(read); ++i) written.push_back(numbered(pattern, *place, i));
  for (const fs::path& file : written)
    if (read.contains(fs::weakly_canonical(file, code)))
      throw Error(ErrorKind::usage, {.what = "the output would replace the input",
                                     .where = file.string(),
                                     .why = format("{} is read from it", input.string()),
                                     .hint = "give another name for the output"});
}

std::vector<OutputLock> reserve_volume(const fs::path& path, bool force, Progress& progress, Sharing sharing) {
  std::vector<OutputLock> locks;
  const fs::path pattern = slice_pattern(path, 1);
  if (is_zarr_name(path) || find_number(pattern)) {
    if (is_zarr_name(path)) check_zarr_target(path, force);
    locks.push_back(is_zarr_name(path) ? OutputLock(zarr_target(path), OutputLock::Folder::must_exist, sharing)
                                       : lock_slices(pattern, sharing));
    if (!locks.back().warning().empty()) progress.warning(locks.back().warning());
    return locks;
  }
  if (!is_volume_name(path)) throw_unknown_ending(path);
  // A run that was killed while it finished may have put one of several files in place.
  const bool going_on = unfinished_exists(path);
  std::error_code code;
  for (const fs::path& file : files_of_volume(path)) {
    const bool placed = going_on && !fs::exists(unfinished_name(followed(file)), code);
    locks.push_back(reserve_output(file, force || placed, progress, sharing));
  }
  return locks;
}

namespace {

// A folder of slices: of a DICOM series where it holds such files, else of TIFF files.
std::unique_ptr<VolumeReader> open_slices(const fs::path& path) {
  const bool pattern = find_number(path).has_value();
  std::error_code code;
  const fs::path beside = path.has_parent_path() ? path.parent_path() : ".";
  const fs::path folder = pattern && !fs::is_directory(path, code) ? beside : path;
  if (pattern && !is_dicom_name(path)) return open_tiff_folder(path);
  std::vector<fs::path> files = dicom_files_of(folder);
  if (const auto place = find_number(path); pattern && place)
    std::erase_if(files, [&](const fs::path& file) { return !is_numbered(file.filename().string(), *place); });
  if (files.empty()) return open_tiff_folder(path);
  return open_dicom_volume(files, slices_side_car(pattern ? path : folder / "%d.dcm"));
}

}  // namespace

std::unique_ptr<VolumeReader> open_volume(const fs::path& path) {
  if (const auto zarr = split_zarr_level(path)) return open_zarr(zarr->first, zarr->second);
  if (auto slices = open_labelled_slices(path)) return slices;
  const auto [file, dataset] = split_dataset(path);
  std::error_code code;
  if (names_folder(path) || fs::is_directory(path, code) || (find_number(path) && !fs::exists(path, code)))
    return open_slices(path);
  switch (const FileKind kind = kind_of_file(file)) {
    case FileKind::meta_image:
      return volume_of(read_meta_image(path, StackOf::slices));
    case FileKind::nrrd:
      return volume_of(read_nrrd(path, StackOf::slices));
    case FileKind::tiff:
      return open_tiff_volume(path);
    case FileKind::hdf5:
      return open_hdf5_volume(file, dataset);
    case FileKind::raw:
      return open_raw_volume(path);
    case FileKind::zeiss:
      return open_zeiss_volume(path);
    case FileKind::dicom:
      return open_dicom_volume({path}, side_car_of(path));
    case FileKind::npy:
    case FileKind::npz:
    case FileKind::matlab:
    case FileKind::fits:
    case FileKind::vff:
    case FileKind::isq:
    case FileKind::rek:
      return open_array_volume(file, dataset);
    case FileKind::png:
    case FileKind::varian:
    case FileKind::his:
    case FileKind::edf:
      throw Error(
          ErrorKind::unsupported,
          {.what = "this is not a volume that lepus reads",
           .where = path.string(),
           .why = format("it is {}", words_of(kind)),
           .hint = "lepus reads MetaImage, NRRD, TIFF, HDF5, OME-Zarr, DICOM, NumPy, MATLAB, FITS and raw volumes"});
    case FileKind::unknown:
      break;
  }
  throw_unknown_ending(path);
}

std::vector<VolumeFormat> volume_formats() {
  return {{".mha", "MetaImage", true},
          {".mhd", "MetaImage (header and .raw)", true},
          {".nrrd", "NRRD", true},
          {".nhdr", "NRRD (header and .raw)", true},
          {".tif", "TIFF stack", have_tiff},
          {"%04d.tif", "TIFF folder", have_tiff},
          {".h5", "HDF5", have_hdf5},
          {".zarr", "OME-Zarr", have_zarr()},
          {".npy", "NumPy array with a JSON side-car", true},
          {".npz", "NumPy archive", true},
          {".dcm", "DICOM, enhanced CT", true},
          {"%04d.dcm", "DICOM, CT series", true},
          {".raw", "raw with a JSON side-car", true}};
}

}  // namespace lepus
