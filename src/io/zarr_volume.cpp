// SPDX-License-Identifier: Apache-2.0
// Volumes in Zarr arrays, read chunk by chunk. Nothing is kept between two calls: of a chunk that blosc packed only the
// blocks that a slab needs are unpacked, so that thin slabs of large volumes need little memory and little time.
#include <algorithm>
#include <limits>

#include "core/format.h"
#include "core/io_threads.h"
#include "io/file.h"
#include "io/frame_sources.h"
#include "io/header_text.h"
#include "io/pixels.h"
#include "io/stack.h"
#include "io/volume_part.h"
#include "io/zarr_array.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

// No packing makes much more of nothing, nor less of voxels than zstd of equal ones (2^15:1); memory is taken after
// this.
std::string read_packed(const fs::path& file, std::int64_t chunk_bytes) {
  const InputFile input(file);
  if (input.size() > 2 * chunk_bytes + (1 << 20) || chunk_bytes / (1 << 16) > input.size())
    throw Error(ErrorKind::input, {.what = "a chunk of the volume is damaged",
                                   .where = file.string(),
                                   .why = format("it has {} bytes for {} of voxels", input.size(), chunk_bytes),
                                   .hint = "copy the volume again, or write it anew"});
  std::string packed(static_cast<std::size_t>(input.size()), '\0');
  input.read(0, packed.data(), input.size());
  return packed;
}

class ZarrVolume final : public VolumeReader, public PartReader {
public:
  ZarrVolume(ZarrArray array, VolumeInfo info, bool complete)
      : array_(std::move(array)), info_(std::move(info)), complete_(complete) {}

  const VolumeGrid& grid() const override { return info_.grid; }
  std::string format() const override { return info_.format; }
  std::string pixel_type() const override { return name_of(array_.type); }
  std::string provenance() const override { return info_.provenance; }
  std::string unit() const override { return info_.unit; }
  ValueScale scale() const override { return array_.scale; }

  void read(std::int64_t z0, std::int64_t z1, float* out) const override {
    if (z0 < 0 || z1 > info_.grid.nz || z0 > z1)
      throw Error(ErrorKind::internal, {.what = "slices outside the volume",
                                        .where = array_.folder.string(),
                                        .why = lepus::format("[{}, {}) of {}", z0, z1, info_.grid.nz),
                                        .hint = "report this"});
    if (z0 == z1) return;
    read_part({{0, 0, z0}, {info_.grid.nx, info_.grid.ny, z1}, {1, 1, 1}}, out);
  }

  std::array<std::int64_t, 3> brick() const override { return {array_.chunks[2], array_.chunks[1], array_.chunks[0]}; }

  void read_part(const VolumePart& part, float* out) const override {
    std::vector<std::array<std::int64_t, 3>> chunks;
    const auto& [cz, cy, cx] = array_.chunks;
    for (std::int64_t z = part.first[2] / cz; z * cz < part.end[2]; ++z)
      for (std::int64_t y = part.first[1] / cy; y * cy < part.end[1]; ++y)
        for (std::int64_t x = part.first[0] / cx; x * cx < part.end[0]; ++x) chunks.push_back({z, y, x});
    // Each thread holds a chunk: of large ones fewer are unpacked at a time.
    constexpr std::int64_t at_once_bytes = std::int64_t{64} << 20;
    const auto threads = std::clamp<std::int64_t>(at_once_bytes / array_.chunk_bytes(), 1, io_threads());
    io_parallel(static_cast<std::int64_t>(chunks.size()), static_cast<int>(threads),
                [&](std::int64_t i) { read_chunk(chunks[static_cast<std::size_t>(i)], part, out); });
  }

private:
  // Which of the part's voxels along an axis, counted in steps, lie in a chunk.
  struct Steps {
    std::int64_t begin, end;
  };
  static Steps steps_in(const VolumePart& part, std::size_t axis, std::int64_t chunk, std::int64_t length) {
    return {part.steps_before(axis, chunk * length), part.steps_before(axis, (chunk + 1) * length)};
  }

  // What of one chunk is in the part.
  void read_chunk(const std::array<std::int64_t, 3>& chunk, const VolumePart& part, float* out) const {
    std::vector<char> voxels;
    const auto& [cz, cy, cx] = array_.chunks;
    const Steps zs = steps_in(part, 2, chunk[0], cz), ys = steps_in(part, 1, chunk[1], cy),
                xs = steps_in(part, 0, chunk[2], cx);
    if (zs.begin == zs.end || ys.begin == ys.end || xs.begin == xs.end) return;
    const auto voxel = [&](std::size_t axis, std::int64_t step) { return part.first[axis] + step * part.step[axis]; };
    const std::int64_t first_slice = voxel(2, zs.begin), count = xs.end - xs.begin, step = part.step[0];
    const bool there = unpack(chunk, first_slice - chunk[0] * cz, voxel(2, zs.end - 1) + 1 - first_slice, voxels);
    std::vector<float> row(static_cast<std::size_t>(step == 1 ? 0 : cx));
    const std::int64_t pixel = bytes_per_pixel(array_.type), in_row = voxel(0, xs.begin) - chunk[2] * cx;
    for (std::int64_t k = zs.begin; k < zs.end; ++k)
      for (std::int64_t j = ys.begin; j < ys.end; ++j) {
        float* to = out + (k * part.along(1) + j) * part.along(0) + xs.begin;
        if (!there) {
          std::fill_n(to, count, static_cast<float>(*array_.fill));
          array_.scale.apply(to, count);
          continue;
        }
        const std::int64_t line = (voxel(2, k) - first_slice) * cy + voxel(1, j) - chunk[1] * cy;
        const char* from = voxels.data() + (line * cx + in_row) * pixel;
        if (step == 1) {
          convert_to_float(array_.type, from, count, to);
        } else {
          convert_to_float(array_.type, from, (count - 1) * step + 1, row.data());
          for (std::int64_t i = 0; i < count; ++i) to[i] = row[static_cast<std::size_t>(i * step)];
        }
        array_.scale.apply(to, count);
      }
  }

  // `slices` slices of a chunk from `first` on; false where there is none.
  bool unpack(const std::array<std::int64_t, 3>& chunk, std::int64_t first, std::int64_t slices,
              std::vector<char>& voxels) const {
    const fs::path file = array_.chunk_file(chunk[0], chunk[1], chunk[2]);
    std::error_code code;
    if (!fs::exists(file, code)) {
      if (array_.fill && !complete_) return false;
      throw Error(ErrorKind::input, {.what = "a chunk of the volume is missing",
                                     .where = file.string(),
                                     .why = complete_ ? "all were written" : "the array has no fill_value",
                                     .hint = "copy the volume again, or write it anew"});
    }
    const std::int64_t pixel = bytes_per_pixel(array_.type), slice = array_.chunks[1] * array_.chunks[2] * pixel;
    const std::string packed = read_packed(file, array_.chunk_bytes());
    voxels.resize(static_cast<std::size_t>(slices * slice));
    unpack_chunk(array_.codec, packed, array_.chunk_bytes(), first * slice, slices * slice, voxels.data(),
                 file.string());
    if (array_.big_endian) swap_bytes(voxels.data(), slices * slice / pixel, pixel);
    return true;
  }

  ZarrArray array_;
  VolumeInfo info_;
  bool complete_;
};

// A few bytes of JSON can claim any size: at least one chunk of 2^16 must be there, as no real data is packed tighter.
void check_chunks_exist(const ZarrArray& array) {
  const auto [z, y, x] = array.chunks_along();
  const auto chunks = checked_product(z, y, x);
  const std::int64_t wanted = chunks ? (*chunks - 1) / (1 << 16) + 1 : std::numeric_limits<std::int64_t>::max();
  std::int64_t found = 0;
  std::error_code code;
  for (fs::recursive_directory_iterator entry(array.folder, code), end; !code && entry != end && found < wanted;
       entry.increment(code))
    if (entry->is_regular_file(code) && !entry->path().filename().string().starts_with('.')) ++found;
  if (found < wanted)
    throw Error(ErrorKind::input, {.what = "the Zarr array holds no data, or far less than it speaks of",
                                   .where = array.folder.string(),
                                   .why = format("{} x {} x {} voxels, {} chunks are there", array.shape[2],
                                                 array.shape[1], array.shape[0], found),
                                   .hint = "copy the volume again, or write it anew"});
}

fs::path level_folder(const fs::path& folder, const std::string& path) {
  fs::path result = beside(folder / ".zattrs", path);
  return result.has_filename() ? result : result.parent_path();
}

}  // namespace

std::unique_ptr<VolumeReader> open_zarr(const fs::path& folder, std::int64_t level) {
  if (!have_zarr()) throw_missing_library("OME-Zarr", "libblosc-dev, libzstd-dev or zlib1g-dev", folder.string());
  std::error_code code;
  if (fs::exists(folder / "zarr.json", code))
    throw_unsupported_header(folder, "it is of Zarr version 3", "write version 2, as OME-Zarr 0.4 has it");
  VolumeInfo info;
  info.format = "Zarr";
  info.grid.step_mm = {1, 1, 1};
  ZarrArray array;
  bool complete = false;
  if (const auto group = read_zarr_group(folder)) {
    const auto levels = static_cast<std::int64_t>(group->levels.size());
    if (level >= levels)
      throw Error(ErrorKind::usage, {.what = format("there is no level {}", level),
                                     .where = folder.string(),
                                     .why = format("levels are counted from 0, and the last one is {}", levels - 1),
                                     .hint = "give one of these"});
    const ZarrLevel& chosen = group->levels[static_cast<std::size_t>(level)];
    array = read_zarr_array(level_folder(folder, chosen.path));
    info.format = "OME-Zarr";
    info.grid.step_mm = chosen.step_mm;
    info.grid.origin_mm = chosen.origin_mm;
    info.unit = group->unit;
    info.provenance = group->provenance;
    complete = group->complete;
  } else if (fs::exists(folder / ".zarray", code)) {
    if (level != 0) throw_bad_header(folder, "it is one array without levels");
    array = read_zarr_array(folder);
  } else {
    throw_bad_header(folder, "it is a group without multiscales; name the array in it");
  }
  info.grid.nx = array.shape[2];
  info.grid.ny = array.shape[1];
  info.grid.nz = array.shape[0];
  check_grid(info.grid, array.type, folder);
  check_chunks_exist(array);
  return std::make_unique<ZarrVolume>(std::move(array), std::move(info), complete);
}

std::optional<std::pair<fs::path, std::int64_t>> split_zarr_level(const fs::path& path) {
  if (is_zarr(path)) return std::pair{path, std::int64_t{0}};
  const std::string text = path.string();
  const std::size_t mark = text.rfind('#');
  const fs::path folder = text.substr(0, mark);
  if (!is_zarr(folder)) {
    std::error_code code;
    if (!is_zarr_name(folder) || fs::is_regular_file(folder, code)) return std::nullopt;
    const bool there = fs::exists(folder, code);
    throw Error(ErrorKind::input, {.what = there ? "this folder is no Zarr volume" : "folder not found",
                                   .where = folder.string(),
                                   .why = there ? "it holds neither .zarray nor .zgroup" : "No such file or directory",
                                   .hint = "check the name"});
  }
  if (mark == std::string::npos) return std::pair{folder, std::int64_t{0}};
  const std::string number = text.substr(mark + 1);
  if (number.empty() || number.size() > 9 || number.find_first_not_of("0123456789") != std::string::npos)
    throw Error(ErrorKind::usage, {.what = format("there is no level '{}'", number),
                                   .where = text,
                                   .why = "levels are counted from 0",
                                   .hint = "write v.zarr#2 for the third"});
  return std::pair{folder, std::int64_t{std::stoi(number)}};
}

}  // namespace lepus
