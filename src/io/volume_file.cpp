// SPDX-License-Identifier: Apache-2.0
// create_volume and open_volume: which format a name asks for.
#include "io/volume_file.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>

#include "core/format.h"
#include "core/output_file.h"
#include "core/row_checksum.h"
#include "io/dicom_images.h"
#include "io/file.h"
#include "io/file_kind.h"
#include "io/frame_sources.h"
#include "io/json_text.h"
#include "io/pixels.h"
#include "io/stack.h"
#include "io/stored_array.h"
#include "io/written_slices.h"
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

// Halves go up. False where a value is not a number.
template <class Pixel>
bool round_pixels(const float* values, std::int64_t n, void* out) {
  constexpr double least = std::numeric_limits<Pixel>::min(), most = std::numeric_limits<Pixel>::max();
  auto* pixels = static_cast<Pixel*>(out);
  bool numbers = true;
  for (std::int64_t i = 0; i < n; ++i) {
    const bool number = !std::isnan(values[i]);
    const double value = number ? static_cast<double>(values[i]) : 0;
    pixels[i] = static_cast<Pixel>(std::clamp(std::floor(value + 0.5), least, most));
    numbers = numbers && number;
  }
  return numbers;
}

bool is_volume_type(PixelType type) {
  return type == PixelType::f32 || type == PixelType::u8 || type == PixelType::u16 || type == PixelType::i16;
}

class SlabWriter : public UnfinishedVolume {
public:
  // `open`: of an unfinished volume, what all processes that have it open share.
  SlabWriter(std::unique_ptr<StackWriter> stack, const StackTarget& target, std::string where, OutputLock open)
      : stack_(std::move(stack)),
        shape_(target.shape),
        kept_(target.unfinished != Unfinished::removed),
        where_(std::move(where)),
        written_(shape_.images, where_),
        memory_bytes_(stack_->memory_bytes()),
        open_(std::move(open)) {
    if (kept_) checksums_.resize(static_cast<std::size_t>(shape_.images));
  }

  std::int64_t memory_bytes() const override { return memory_bytes_; }

  void write(std::int64_t z0, std::int64_t z1, const float* slices) override {
    const std::shared_ptr<StackWriter> stack = current();
    written_.begin(z0, z1);
    try {
      put(*stack, z0, z1, slices);
    } catch (...) {
      if (kept_) {
        written_.give_back(z0, z1);
      } else {
        give_up();
      }
      throw;
    }
    written_.end(z0, z1);
  }

  void finish(const std::string& provenance) override {
    const std::shared_ptr<StackWriter> stack = current();
    written_.check_complete();
    if (kept_) {
      wait_for_others();
      if (!unfinished_exists(where_)) return give_up();
    }
    stack->finish(one_line_json(provenance));
    give_up();
  }

  void flush(std::int64_t z0, std::int64_t z1) override { current()->flush(z0, z1 - z0); }

  std::uint64_t checksum(std::int64_t z0, std::int64_t z1) const override {
    const std::shared_ptr<StackWriter> stack = current();
    std::vector<char> slice;
    std::uint64_t sum = 0;
    for (std::int64_t z = z0; z < z1; ++z) {
      std::optional<std::uint64_t> known;
      {
        const std::scoped_lock lock(mutex_);
        known = checksums_.at(static_cast<std::size_t>(z));
      }
      if (!known) {
        slice.resize(static_cast<std::size_t>(shape_.image_bytes()));
        stack->read_back(z, 1, slice.data());
        known = row_checksum(z, 0, slice.data(), shape_.image_bytes());
      }
      sum += *known;
    }
    return sum;
  }

  void written_elsewhere(std::int64_t z0, std::int64_t z1) override { written_.add(z0, z1); }

private:
  std::shared_ptr<StackWriter> current() const {
    const std::scoped_lock lock(mutex_);
    if (stack_) return stack_;
    throw Error(ErrorKind::internal, {.what = "the volume is finished or was given up",
                                      .where = where_,
                                      .why = "nothing can be written to it any more",
                                      .hint = "report this"});
  }
  // The partial files go when the last thread that still writes comes back, not when the writer does.
  void give_up() {
    const std::scoped_lock lock(mutex_);
    stack_.reset();
    open_ = {};
  }
  void wait_for_others() {
    constexpr std::chrono::seconds longest{60};
    if (!open_.wait_alone(longest))
      throw Error(ErrorKind::disk, {.what = "other processes still have the unfinished volume open",
                                    .where = where_,
                                    .why = format("waited for {} s", longest.count()),
                                    .hint = "wait until they have ended, and run the command again"});
  }

  // Integers slice by slice: the rounded copy stays small.
  void put(StackWriter& stack, std::int64_t z0, std::int64_t z1, const float* slices) {
    if (shape_.type == PixelType::f32) {
      stack.write(z0, z1 - z0, slices);
      for (std::int64_t z = z0; z < z1; ++z) remember(z, slices + (z - z0) * shape_.columns * shape_.rows);
      return;
    }
    const std::int64_t n = shape_.columns * shape_.rows;
    std::vector<unsigned char> rounded(static_cast<std::size_t>(shape_.image_bytes()));
    for (std::int64_t z = z0; z < z1; ++z, slices += n) {
      const bool numbers = shape_.type == PixelType::u8    ? round_pixels<std::uint8_t>(slices, n, rounded.data())
                           : shape_.type == PixelType::u16 ? round_pixels<std::uint16_t>(slices, n, rounded.data())
                                                           : round_pixels<std::int16_t>(slices, n, rounded.data());
      if (!numbers)
        throw Error(ErrorKind::input, {.what = "voxels that are not numbers cannot be written as integers",
                                       .where = format("{}, slice {}", where_, z),
                                       .why = {},
                                       .hint = "replace them first, or write floats"});
      stack.write(z, 1, rounded.data());
      remember(z, rounded.data());
    }
  }
  void remember(std::int64_t z, const void* stored) {
    if (!kept_) return;
    const std::uint64_t sum = row_checksum(z, 0, stored, shape_.image_bytes());
    const std::scoped_lock lock(mutex_);
    checksums_[static_cast<std::size_t>(z)] = sum;
  }

  mutable std::mutex mutex_;
  std::shared_ptr<StackWriter> stack_;
  StackShape shape_;
  bool kept_;
  std::string where_;
  WrittenSlices written_;
  std::int64_t memory_bytes_;
  std::vector<std::optional<std::uint64_t>> checksums_;  // of slices that were written here
  OutputLock open_;
};

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
         ending == ".npy" || ending == ".npz" || is_dicom_name(path) || is_tiff_name(path) || is_hdf5_name(path) ||
         is_zarr_name(path);
}

std::unique_ptr<StackWriter> create_stack(const StackTarget& target, std::int64_t room) {
  const fs::path& path = target.path;
  const std::string ending = lower_extension(path);
  if (is_zarr_name(path)) return create_zarr(target);
  if (is_dicom_name(path)) return create_dicom(target);
  if (find_number(path)) return create_tiff_folder(target);
  if (ending == ".mha" || ending == ".mhd") return create_meta_image(target, room);
  if (ending == ".nrrd" || ending == ".nhdr") return create_nrrd(target, room);
  if (is_tiff_name(path)) return create_tiff_stack(target);
  if (is_hdf5_name(path)) return create_hdf5_stack(target, "/volume");
  if (ending == ".raw") return create_raw_stack(target);
  if (ending == ".npy" || ending == ".npz") return create_numpy_stack(target);
  throw_unknown_ending(path);
}

}  // namespace

fs::path slice_pattern(const fs::path& path, std::int64_t slices) {
  // Five digits and more only where the slices need them, so that names sort the same everywhere.
  const std::size_t digits = std::max<std::size_t>(4, std::to_string(slices - 1).size());
  return names_folder(path) && !is_zarr_name(path) ? path / format("slice_%0{}d.tif", digits) : path;
}

namespace {

StackTarget target_of(const fs::path& path, const VolumeGrid& grid, const VolumeWriterOptions& options,
                      Unfinished unfinished) {
  check(grid, path);
  if (!is_volume_type(options.type))
    throw Error(ErrorKind::unsupported, {.what = format("a volume of {} voxels", name_of(options.type)),
                                         .where = path.string(),
                                         .why = "volumes are written as float32, uint8, uint16 or int16",
                                         .hint = "choose one of these"});
  StackTarget target;
  target.path = slice_pattern(path, grid.nz);
  // DICOM has no floats for CT: HU as integers.
  const PixelType type = options.type == PixelType::f32 && is_dicom_name(path) ? PixelType::i16 : options.type;
  target.shape = {.columns = grid.nx, .rows = grid.ny, .images = grid.nz, .type = type};
  target.text.grid = grid;
  target.text.unit = options.unit;
  std::replace(target.text.unit.begin(), target.text.unit.end(), '\n', ' ');  // headers are made of lines
  target.force = options.force;
  target.unfinished = unfinished;
  target.sharing = unfinished == Unfinished::removed ? Sharing::alone : options.sharing;
  target.threads = options.threads;
  return target;
}

std::unique_ptr<SlabWriter> open_writer(const fs::path& path, const VolumeGrid& grid,
                                        const VolumeWriterOptions& options, Unfinished unfinished) {
  const StackTarget target = target_of(path, grid, options, unfinished);
  const std::int64_t room =
      options.provenance_room > 0 ? std::max<std::int64_t>(options.provenance_room, 256) : default_provenance_room;
  auto stack = create_stack(target, room);
  OutputLock open;
  if (unfinished != Unfinished::removed) open = lock_unfinished(path, Sharing::with_others);
  return std::make_unique<SlabWriter>(std::move(stack), target, path.string(), std::move(open));
}

}  // namespace

std::unique_ptr<VolumeWriter> create_volume(const fs::path& path, const VolumeGrid& grid,
                                            const VolumeWriterOptions& options) {
  return open_writer(path, grid, options, Unfinished::removed);
}

std::unique_ptr<UnfinishedVolume> create_unfinished(const fs::path& path, const VolumeGrid& grid,
                                                    const VolumeWriterOptions& options) {
  if (!unfinished_exists(path)) remove_unfinished(path);  // what a run left that was killed while it created it
  return open_writer(path, grid, options, Unfinished::kept);
}

std::unique_ptr<UnfinishedVolume> reopen_unfinished(const fs::path& path, const VolumeGrid& grid,
                                                    const VolumeWriterOptions& options,
                                                    const std::vector<SliceRange>& finished) {
  auto writer = open_writer(path, grid, options, Unfinished::joined);
  for (const SliceRange& slices : finished) writer->written_elsewhere(slices.z0, slices.z1);
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

std::vector<OutputLock> reserve_volume(const fs::path& path, bool force, Progress& progress, Sharing sharing) {
  std::vector<OutputLock> locks;
  const fs::path pattern = slice_pattern(path, 1);
  if (is_zarr_name(path) || find_number(pattern)) {
    if (is_zarr_name(path)) check_zarr_target(path, force);
    locks.push_back(is_zarr_name(path) ? OutputLock(zarr_target(path), OutputLock::Folder::must_exist, sharing)
                                       : lock_slices(pattern, sharing));
    if (!locks.back().removed().empty()) progress.warning(locks.back().removed());
    return locks;
  }
  if (!is_volume_name(path)) throw_unknown_ending(path);
  for (const fs::path& file : files_of_volume(path)) locks.push_back(reserve_output(file, force, progress, sharing));
  return locks;
}

namespace {

// A folder of slices: of a DICOM series where it holds such files, else of TIFF files.
std::unique_ptr<VolumeReader> open_slices(const fs::path& path) {
  const bool pattern = find_number(path).has_value();
  std::error_code code;
  const fs::path folder = pattern && !fs::is_directory(path, code) ? path.parent_path() : path;
  if (pattern && !is_dicom_name(path)) return open_tiff_folder(path);
  std::vector<fs::path> files = dicom_files_of(folder);
  if (const auto place = find_number(path); pattern && place)
    std::erase_if(files, [&](const fs::path& file) {
      const std::string name = file.filename().string();
      const std::size_t around = place->prefix.size() + place->suffix.size();
      return name.size() <= around || !name.starts_with(place->prefix) || !name.ends_with(place->suffix) ||
             name.substr(place->prefix.size(), name.size() - around).find_first_not_of("0123456789") != name.npos;
    });
  if (files.empty()) return open_tiff_folder(path);
  return open_dicom_volume(files, slices_side_car(pattern ? path : folder / "%d.dcm"));
}

}  // namespace

std::unique_ptr<VolumeReader> open_volume(const fs::path& path) {
  if (const auto zarr = split_zarr_level(path)) return open_zarr(zarr->first, zarr->second);
  const auto [file, dataset] = split_dataset(path);
  std::error_code code;
  if (names_folder(path) || fs::is_directory(path, code) || (find_number(path) && !fs::exists(path, code)))
    return open_slices(path);
  switch (const FileKind kind = kind_of_file(file)) {
    case FileKind::meta_image:
      return open_meta_image(path);
    case FileKind::nrrd:
      return open_nrrd(path);
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
