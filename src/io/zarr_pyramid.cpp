// SPDX-License-Identifier: Apache-2.0
#include "io/zarr_pyramid.h"

#include <algorithm>
#include <cmath>
#include <thread>

#include "core/format.h"
#include "core/output_file.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t chunk_edge = 64, coarsest_edge = 128;

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

void make_folder(const fs::path& folder) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (code)
    throw Error(ErrorKind::disk, {.what = "cannot make a folder",
                                  .where = folder.string(),
                                  .why = code.message(),
                                  .hint = "check the free space and the permissions there"});
}

// The folder's lock is that of all its files.
void write_part(const fs::path& file, const void* data, std::int64_t bytes) {
  PartialFile part(OutputLock(), file, false, bytes);
  part.append(data, bytes);
  part.commit();
}

}  // namespace

ZarrPyramid::ZarrPyramid(const StackTarget& target, fs::path folder)
    : target_(target), folder_(std::move(folder)), threads_(target.threads) {
  group_.unit = target.text.unit;
  const VolumeGrid& grid = *target.text.grid;
  Size shape{grid.nz, grid.ny, grid.nx};
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
std::int64_t ZarrPyramid::memory_bytes(const StackTarget& target) {
  const std::int64_t chunk = chunk_edge * chunk_edge * chunk_edge * bytes_per_pixel(target.shape.type);
  const std::int64_t band = (target.shape.columns + chunk_edge - 1) / chunk_edge * chunk;
  const int threads = target.threads > 0 ? target.threads : static_cast<int>(std::thread::hardware_concurrency());
  return 2 * band + band / 4 + 2 * chunk * std::max(1, threads);
}

void ZarrPyramid::write(std::int64_t first, std::int64_t images, const void* pixels) {
  put(0, {first, first + images, 0, target_.shape.rows}, static_cast<const char*>(pixels));
}

void ZarrPyramid::finish(const std::string& provenance) {
  group_.provenance = provenance;
  group_.complete = true;
  write_text(".zattrs", zarr_group_json(group_));
}

void ZarrPyramid::in_parallel(std::int64_t count, const std::function<void(std::int64_t)>& body) {
  threads_.parallel_for(0, count, 1, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) body(i);
  });
}

void ZarrPyramid::add_level(const Size& shape, double scale) {
  const VolumeGrid& grid = *target_.text.grid;
  const std::string name = format("{}", levels_.size());
  auto level = std::make_unique<Level>();
  level->array.folder = folder_ / name;
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

std::int64_t ZarrPyramid::slices_of(const Level& level, std::int64_t layer) {
  return std::min(level.array.chunks[0], level.array.shape[0] - layer * level.array.chunks[0]);
}

void ZarrPyramid::write_text(const fs::path& name, const std::string& text) {
  write_part(folder_ / name, text.data(), static_cast<std::int64_t>(text.size()));
}

void ZarrPyramid::put(std::size_t number, const Block& block, const char* voxels) {
  Level& level = *levels_[number];
  const std::int64_t ny = level.array.shape[1], nx = level.array.shape[2];
  const std::int64_t row_bytes = nx * pixel_bytes(), rows = block.y1 - block.y0, thick = level.array.chunks[0];
  for (std::int64_t z = block.z0; z < block.z1;) {
    const std::int64_t k = z / thick, end = std::min(block.z1, (k + 1) * thick);
    const std::int64_t written = (end - z) * rows;
    Layer& layer = level.layers[static_cast<std::size_t>(k)];
    std::call_once(layer.made, [&] {
      layer.voxels.emplace(
          folder_, slices_of(level, k) * ny * row_bytes,
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
void ZarrPyramid::pack(std::size_t number, std::int64_t k) {
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

void ZarrPyramid::write_chunks(const ZarrArray& array, std::int64_t k, std::int64_t j, const Size& size,
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

void ZarrPyramid::put_halved(std::size_t number, const Size& size, std::int64_t k, std::int64_t y0, const char* band) {
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

}  // namespace lepus
