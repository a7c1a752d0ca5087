// SPDX-License-Identifier: Apache-2.0
// What frame files and volume files have in common: a stack of equal images, written in any order into a file that gets
// its final name at the end. FrameWriter and VolumeWriter are thin layers over these, one factory per format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/io_threads.h"
#include "core/output_file.h"
#include "core/output_lock.h"
#include "io/frames.h"
#include "io/volume_file.h"

namespace lepus {

struct StackShape {
  std::int64_t columns = 0, rows = 0, images = 0;
  PixelType type = PixelType::f32;
  std::int64_t image_bytes() const { return columns * rows * bytes_per_pixel(type); }
  std::int64_t bytes() const { return image_bytes() * images; }
};

// What a file says about its pixels: a volume has a grid, frames have none.
struct StackText {
  std::optional<VolumeGrid> grid;
  std::string unit;
  ValueScale scale = {};
};

class StackWriter {
public:
  virtual ~StackWriter() = default;  // without finish() nothing stays, unless it is kept
  // Images [first, first + images), each once; any thread may, and several at a time.
  virtual void write(std::int64_t first, std::int64_t images, const void* pixels) = 0;
  // Of a stack that is kept: images that were written, by whomever; and they are on the disk.
  virtual void read_back(std::int64_t first, std::int64_t images, void* pixels) const;
  virtual void flush(std::int64_t first, std::int64_t images);
  virtual std::int64_t memory_bytes() const { return 0; }  // at most, beside the pixels it is given
  // After every image was written.
  virtual void finish(const std::string& provenance) = 0;  // one line of JSON, or ""
};

struct StackTarget {
  std::filesystem::path path;
  StackShape shape;
  StackText text;
  bool force = false;
  std::string dataset = {};                     // of frames in HDF5; "": the usual one
  Unfinished unfinished = Unfinished::removed;  // of volumes
  Sharing sharing = Sharing::alone;
  int threads = 0;                              // for packing, where a format does; 0: one per hardware thread
  std::int64_t big_tiff_above = 3'900'000'000;  // bytes; below 2^32 by what the directories may take
};

inline constexpr std::int64_t default_provenance_room = 64 << 10;

// Images one after another in one file: MetaImage, NRRD, TIFF stacks, HDF5 and raw files.
class PlainStack : public StackWriter {
public:
  void write(std::int64_t first, std::int64_t images, const void* pixels) override;
  void read_back(std::int64_t first, std::int64_t images, void* pixels) const override;
  void flush(std::int64_t first, std::int64_t images) override;

protected:
  PlainStack(const StackTarget& target, const std::filesystem::path& file, std::int64_t bytes);
  // One of many files under one lock.
  PlainStack(const StackTarget& target, OutputLock held, const std::filesystem::path& file, std::int64_t bytes);
  // Where the first image lies, as soon as it is known. Error(input) where the file that is joined is another one.
  void begin_data(std::int64_t offset);
  bool is_joined() const { return target_.unfinished == Unfinished::joined; }
  // A small file that says what the volume is, to be renamed before it.
  std::unique_ptr<PartialFile> side_car(const std::filesystem::path& file, const std::string& text) const;

  StackTarget target_;
  PartialFile data_;

private:
  std::int64_t data_start_ = 0;
  MeasuredThreads threads_{io_threads()};
};

// What all processes that have the unfinished volume open hold, and whoever finishes or removes it alone.
OutputLock lock_unfinished(const std::filesystem::path& path, Sharing sharing);
bool unfinished_is_held(const std::filesystem::path& path);
// The device and number of a file or folder, which stay when it is renamed into place; none where it is not there.
using FileNumber = std::optional<std::pair<std::uint64_t, std::uint64_t>>;
FileNumber number_of_unfinished(const std::filesystem::path& path);
FileNumber number_of_finished(const std::filesystem::path& path);
// Throws Error(disk): it was there when the run began.
[[noreturn]] void throw_unfinished_gone(const std::filesystem::path& path);
// What of an unfinished volume is there from the beginning to the end.
std::filesystem::path marking_file(const std::filesystem::path& path);
// Throws Error(input): what was kept under this name is no part of this volume.
[[noreturn]] void throw_other_unfinished(const std::filesystem::path& partial, const std::string& why);

std::unique_ptr<StackWriter> create_tiff_stack(const StackTarget& target);
std::unique_ptr<StackWriter> create_tiff_folder(const StackTarget& target);  // path has a %04d
std::unique_ptr<StackWriter> create_hdf5_stack(const StackTarget& target, const std::string& dataset);
std::unique_ptr<StackWriter> create_raw_stack(const StackTarget& target);
std::unique_ptr<StackWriter> create_numpy_stack(const StackTarget& target);  // .npy, .npz
std::unique_ptr<StackWriter> create_meta_image(const StackTarget& target, std::int64_t provenance_room);
std::unique_ptr<StackWriter> create_nrrd(const StackTarget& target, std::int64_t provenance_room);
std::unique_ptr<StackWriter> create_labelled_slices(const StackTarget& target);  // path has a %04d
std::unique_ptr<StackWriter> create_zarr(const StackTarget& target);             // of a volume

// A reader of volumes is a source of frames (the slices) and what the file says about them.
struct VolumeInfo {
  VolumeGrid grid;
  std::string format, unit, provenance;
  ValueScale scale = {};
};
std::unique_ptr<VolumeReader> volume_of_frames(std::unique_ptr<FrameSource> slices, VolumeInfo info);

// The images of a file that holds one stack, which may be a volume's slices or a scan's frames.
struct StoredStack {
  std::unique_ptr<FrameSource> images;
  VolumeInfo info;
};
// Of frames the grid means nothing: their third axis may count seconds or degrees.
enum class StackOf { slices, frames };
StoredStack read_meta_image(const std::filesystem::path& path, StackOf content);
StoredStack read_nrrd(const std::filesystem::path& path, StackOf content);
// Where the voxels are: the file that the header names, or this one.
std::filesystem::path data_of_meta_image(const std::filesystem::path& path);
std::filesystem::path data_of_nrrd(const std::filesystem::path& path);
std::unique_ptr<VolumeReader> open_tiff_volume(const std::filesystem::path& path);
std::unique_ptr<VolumeReader> open_tiff_folder(const std::filesystem::path& path);
// Null where it is no folder of such slices.
std::unique_ptr<VolumeReader> open_labelled_slices(const std::filesystem::path& path);
std::unique_ptr<VolumeReader> open_hdf5_volume(const std::filesystem::path& path, const std::string& dataset);
// Other files in which a dataset lies, as links, virtual datasets and external storage lead to them; those that are
// not there are left out. "": the dataset that open_hdf5_volume takes.
std::vector<std::filesystem::path> files_behind_hdf5(const std::filesystem::path& path, const std::string& dataset);
std::unique_ptr<VolumeReader> open_raw_volume(const std::filesystem::path& path);
std::unique_ptr<VolumeReader> open_zarr(const std::filesystem::path& folder, std::int64_t level);
std::unique_ptr<VolumeReader> open_zeiss_volume(const std::filesystem::path& path);

// In the folder of a Zarr volume that is kept: all voxels, plain, until they are packed.
inline constexpr const char* kept_voxels = "voxels";
// "v.zarr" and "v.zarr/" are written as Zarr; "v.zarr/" -> "v.zarr".
bool is_zarr_name(const std::filesystem::path& path);
std::filesystem::path zarr_target(const std::filesystem::path& path);
// Throws Error(disk) where it cannot become a volume: another one is there (unless forced), or something else.
void check_zarr_target(const std::filesystem::path& path, bool force);
// "v.zarr#2" -> the folder and the level, 0 where it names none; nothing where the folder is no Zarr, Error(input)
// where it only has the name of one.
std::optional<std::pair<std::filesystem::path, std::int64_t>> split_zarr_level(const std::filesystem::path& path);

// What a folder's slices are called: "slices/" -> "slices/slice_%04d.tif"; other paths stay as they are.
std::filesystem::path slice_pattern(const std::filesystem::path& path, std::int64_t slices);

// "slices/%04d.tif" -> "slices/volume.json", whose lock is that of all slices.
std::filesystem::path slices_side_car(const std::filesystem::path& pattern);
inline constexpr std::string_view slices_side_car_ending = "volume.json";  // behind what stands before the number
OutputLock lock_slices(const std::filesystem::path& pattern, Sharing sharing = Sharing::alone);

// "slices/%04d.tif" -> "slices/0017.tif"; find_number says whether there is such a place.
struct NumberPlace {
  std::string prefix, suffix;  // of the file name
  int width = 0;
};
std::optional<NumberPlace> find_number(const std::filesystem::path& path);
std::filesystem::path numbered(const std::filesystem::path& pattern, const NumberPlace& place, std::int64_t index);
bool is_numbered(const std::string& file_name, const NumberPlace& place);
// Throws Error(disk) where one of these images is there already (unless `force`), or one beyond them, which would stay
// among them.
void check_numbered_targets(const std::filesystem::path& pattern, std::int64_t images, bool force);

}  // namespace lepus
