// SPDX-License-Identifier: Apache-2.0
// Writes OME-Zarr: a pyramid of arrays, each half as large along every axis as the one before, in chunks of 64^3.
// Slices come in any order and by any thread: they wait in a scratch file per layer of chunks until the layer is whole,
// which is then packed and averaged into the next level, one layer at a time on all threads.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <mutex>
#include <optional>

#include "core/format.h"
#include "core/output_file.h"
#include "core/output_folder.h"
#include "core/scratch_file.h"
#include "core/threads.h"
#include "io/file.h"
#include "io/json_text.h"
#include "io/stack.h"
#include "io/zarr_array.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t chunk_edge = 64, coarsest_edge = 128;

// Rows [y0, y1) of slices [z0, z1) of a level, one after another.
struct Block {
  std::int64_t z0, z1, y0, y1;
};

// The mean of 2 x 2 x 2 voxels, of fewer at the end of an axis with an odd number of them.
template <class Pixel>
void halve(const Pixel* from, const std::array<std::int64_t, 3>& size, Pixel* to, std::int64_t z_out) {
  const auto [nz, ny, nx] = size;
  const std::int64_t my = (ny + 1) / 2, mx = (nx + 1) / 2, z_end = std::min(nz, 2 * z_out + 2);
  for (std::int64_t y = 0; y < my; ++y)
    for (std::int64_t x = 0; x < mx; ++x) {
      double sum = 0;
      int count = 0;
      for (std::int64_t k = 2 * z_out; k < z_end; ++k)
        for (std::int64_t j = 2 * y; j < std::min(ny, 2 * y + 2); ++j)
          for (std::int64_t i = 2 * x; i < std::min(nx, 2 * x + 2); ++i, ++count)
            sum += static_cast<double>(from[(k * ny + j) * nx + i]);
      const double mean = sum / count;
      to[(z_out * my + y) * mx + x] = static_cast<Pixel>(std::is_integral_v<Pixel> ? std::floor(mean + 0.5) : mean);
    }
}

class ZarrStack final : public StackWriter {
public:
  explicit ZarrStack(const StackTarget& target)
      : target_(target), folder_(target.path, silent_), threads_(target.threads) {
    group_.unit = target.text.unit;
    const VolumeGrid& grid = *target.text.grid;
    std::array<std::int64_t, 3> shape{grid.nz, grid.ny, grid.nx};
    double scale = 1;
    do {
      if (!levels_.empty()) {
        for (std::int64_t& n : shape) n = (n + 1) / 2;
        scale *= 2;
      }
      add_level(shape, scale);
    } while (*std::max_element(shape.begin(), shape.end()) > coarsest_edge);
    write_text(".zgroup", "{\n \"zarr_format\": 2\n}\n");
  }

  // A band of 64 rows of a layer of every level, what it is averaged to, and a chunk and its packed form per thread.
  std::int64_t memory_bytes() const override {
    const std::int64_t chunk = chunk_edge * chunk_edge * chunk_edge * pixel_bytes();
    const std::int64_t band = levels_.front()->array.chunks_along()[2] * chunk;
    return 2 * band + band / 4 + 2 * chunk * threads_.size();
  }

  void write(std::int64_t first, std::int64_t images, const void* pixels) override {
    put(0, {first, first + images, 0, target_.shape.rows}, static_cast<const char*>(pixels));
  }

  void finish(const std::string& provenance) override {
    group_.provenance = provenance;
    group_.complete = true;
    write_text(".zattrs", zarr_group_json(group_));
    folder_.commit(target_.force ? PartialFolder::Replace::whole : PartialFolder::Replace::nothing);
  }

private:
  void in_parallel(std::int64_t count, const std::function<void(std::int64_t)>& body) {
    threads_.parallel_for(0, count, 1, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i) body(i);
    });
  }

  // 64 slices that are waiting to be packed.
  struct Layer {
    std::once_flag made;
    std::optional<ScratchFile> voxels;
    std::atomic<std::int64_t> rows_missing = 0;
  };
  struct Level {
    ZarrArray array;
    std::vector<Layer> layers;
  };

  void add_level(const std::array<std::int64_t, 3>& shape, double scale) {
    const VolumeGrid& grid = *target_.text.grid;
    const std::string name = format("{}", levels_.size());
    auto level = std::make_unique<Level>();
    level->array.folder = folder_.path() / name;
    level->array.type = target_.shape.type;
    level->array.shape = shape;
    for (std::size_t i = 0; i < 3; ++i) level->array.chunks[i] = std::min(chunk_edge, shape[i]);
    level->layers = std::vector<Layer>(static_cast<std::size_t>(level->array.chunks_along()[0]));
    for (std::size_t k = 0; k < level->layers.size(); ++k)
      level->layers[k].rows_missing = slices_of(*level, static_cast<std::int64_t>(k)) * shape[1];
    make_folder(level->array.folder);
    write_text(fs::path(name) / ".zarray", zarr_array_json(level->array));
    // Voxel 0 of a coarser level lies in the middle of those that it is made of.
    const auto along = [&](double origin, double step) { return origin + step * (scale - 1) / 2; };
    group_.levels.push_back({name,
                             {grid.step_mm.x * scale, grid.step_mm.y * scale, grid.step_mm.z * scale},
                             {along(grid.origin_mm.x, grid.step_mm.x), along(grid.origin_mm.y, grid.step_mm.y),
                              along(grid.origin_mm.z, grid.step_mm.z)}});
    levels_.push_back(std::move(level));
  }

  std::int64_t pixel_bytes() const { return bytes_per_pixel(target_.shape.type); }
  static std::int64_t slices_of(const Level& level, std::int64_t layer) {
    return std::min(level.array.chunks[0], level.array.shape[0] - layer * level.array.chunks[0]);
  }
  void write_text(const fs::path& name, const std::string& text) {
    write_part(folder_.path() / name, text.data(), static_cast<std::int64_t>(text.size()));
  }
  static void make_folder(const fs::path& folder) {
    std::error_code code;
    fs::create_directories(folder, code);
    if (code)
      throw Error(ErrorKind::disk, {.what = "cannot make a folder",
                                    .where = folder.string(),
                                    .why = code.message(),
                                    .hint = "check the free space and the permissions there"});
  }
  // The folder's lock is that of all its files.
  static void write_part(const fs::path& file, const void* data, std::int64_t bytes) {
    PartialFile part(OutputLock(), file, false, bytes);
    part.append(data, bytes);
    part.commit();
  }

  void put(std::size_t number, const Block& block, const char* voxels) {
    Level& level = *levels_[number];
    const std::int64_t ny = level.array.shape[1], nx = level.array.shape[2];
    const std::int64_t row_bytes = nx * pixel_bytes(), rows = block.y1 - block.y0, thick = level.array.chunks[0];
    for (std::int64_t z = block.z0; z < block.z1;) {
      const std::int64_t k = z / thick, end = std::min(block.z1, (k + 1) * thick);
      const std::int64_t written = (end - z) * rows;
      Layer& layer = level.layers[static_cast<std::size_t>(k)];
      std::call_once(layer.made, [&] {
        layer.voxels.emplace(
            folder_.path(), slices_of(level, k) * ny * row_bytes,
            ScratchFile::Words{"slices that wait to be packed", "free some space or write to another disk"});
      });
      for (; z < end; ++z)
        layer.voxels->write(((z - k * thick) * ny + block.y0) * row_bytes, voxels + (z - block.z0) * rows * row_bytes,
                            rows * row_bytes);
      if (layer.rows_missing.fetch_sub(written) != written) continue;
      std::unique_lock lock(packing_, std::defer_lock);
      if (number == 0) lock.lock();  // coarser levels are packed under it
      pack(number, k);
    }
  }

  // A layer that is whole: to chunks, band after band of rows, and to the next level.
  void pack(std::size_t number, std::int64_t k) {
    Level& level = *levels_[number];
    Layer& layer = level.layers[static_cast<std::size_t>(k)];
    const std::int64_t ny = level.array.shape[1], nx = level.array.shape[2];
    const std::int64_t slices = slices_of(level, k), tall = level.array.chunks[1];
    std::vector<char> band;
    for (std::int64_t y0 = 0; y0 < ny; y0 += tall) {
      const std::int64_t rows = std::min(tall, ny - y0);
      const std::int64_t slice_bytes = rows * nx * pixel_bytes();
      band.resize(static_cast<std::size_t>(slices * slice_bytes));
      for (std::int64_t z = 0; z < slices; ++z)
        layer.voxels->read((z * ny + y0) * nx * pixel_bytes(), band.data() + z * slice_bytes, slice_bytes);
      write_chunks(level.array, k, y0 / tall, {slices, rows, nx}, band.data());
      if (number + 1 < levels_.size()) put_halved(number + 1, {slices, rows, nx}, k, y0, band.data());
    }
    layer.voxels.reset();
  }

  void write_chunks(const ZarrArray& array, std::int64_t k, std::int64_t j, const std::array<std::int64_t, 3>& size,
                    const char* band) {
    const std::int64_t slices = size[0], rows = size[1], nx = size[2];
    const std::int64_t cy = array.chunks[1], cx = array.chunks[2];
    const std::int64_t pixel = pixel_bytes(), chunks = array.chunks_along()[2];
    make_folder(array.chunk_file(k, j, 0).parent_path());
    in_parallel(chunks, [&](std::int64_t i) {
      std::vector<char> chunk(static_cast<std::size_t>(array.chunk_bytes()));  // zero beyond the volume
      const std::int64_t x0 = i * cx, columns = std::min(cx, nx - x0);
      for (std::int64_t z = 0; z < slices; ++z)
        for (std::int64_t y = 0; y < rows; ++y)
          std::copy_n(band + ((z * rows + y) * nx + x0) * pixel, columns * pixel,
                      chunk.data() + (z * cy + y) * cx * pixel);
      const std::string packed = pack_chunk(chunk.data(), array.chunk_bytes(), pixel);
      write_part(array.chunk_file(k, j, i), packed.data(), static_cast<std::int64_t>(packed.size()));
    });
  }

  void put_halved(std::size_t number, const std::array<std::int64_t, 3>& size, std::int64_t k, std::int64_t y0,
                  const char* band) {
    const std::int64_t slices = (size[0] + 1) / 2, rows = (size[1] + 1) / 2, columns = (size[2] + 1) / 2;
    std::vector<char> halved(static_cast<std::size_t>(slices * rows * columns * pixel_bytes()));
    in_parallel(slices, [&](std::int64_t z) {
      const auto as = [&]<class Pixel>(const Pixel*) {
        halve(reinterpret_cast<const Pixel*>(band), size, reinterpret_cast<Pixel*>(halved.data()), z);
      };
      switch (target_.shape.type) {
        case PixelType::u8:
          return as(static_cast<const std::uint8_t*>(nullptr));
        case PixelType::u16:
          return as(static_cast<const std::uint16_t*>(nullptr));
        case PixelType::i16:
          return as(static_cast<const std::int16_t*>(nullptr));
        default:
          return as(static_cast<const float*>(nullptr));
      }
    });
    const std::int64_t z0 = k * levels_[number - 1]->array.chunks[0] / 2;
    put(number, {z0, z0 + slices, y0 / 2, y0 / 2 + rows}, halved.data());
  }

  StackTarget target_;
  Progress silent_;  // whoever reserved the output has said what was left there
  PartialFolder folder_;
  ThreadPool threads_;
  std::mutex packing_;
  ZarrGroup group_;
  std::vector<std::unique_ptr<Level>> levels_;
};

}  // namespace

bool is_zarr_name(const fs::path& path) {
  return lower_extension(path.has_filename() ? path : path.parent_path()) == ".zarr";
}

void check_zarr_target(const fs::path& path, bool force) {
  const fs::path target = zarr_target(path);
  const auto refuse = [&](const char* what, const std::string& why, const char* hint) {
    throw Error(ErrorKind::disk, {.what = what, .where = path.string(), .why = why, .hint = hint});
  };
  std::error_code code;
  const fs::path folder = fs::absolute(followed(target)).parent_path();
  if (!fs::is_directory(folder, code))
    refuse("cannot write", format("there is no folder {}", folder.string()), "make the folder first");
  const fs::file_status status = fs::status(target, code);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status))
    refuse("cannot write", "it is a file, and a Zarr volume is a folder", "choose another name");
  if (fs::is_empty(target, code)) return;
  if (!force) refuse("folder exists already", "nothing is overwritten unasked", "choose another name or use --force");
  if (!is_zarr(target))
    refuse("cannot write", "the folder holds something else than a Zarr volume", "choose another name");
}

fs::path zarr_target(const fs::path& path) { return path.has_filename() ? path : path.parent_path(); }

std::unique_ptr<StackWriter> create_zarr(const StackTarget& target) {
  if (!have_zarr()) throw_missing_library("OME-Zarr", "libblosc-dev, libzstd-dev or zlib1g-dev", target.path.string());
  check_zarr_target(target.path, target.force);
  check_free_space(zarr_target(target.path), target.shape.bytes());
  return std::make_unique<ZarrStack>(target);
}

}  // namespace lepus
