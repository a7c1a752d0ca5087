// SPDX-License-Identifier: Apache-2.0
// Packs a volume as OME-Zarr: a pyramid of arrays, each half as large along every axis as the one before, in chunks of
// 64^3. Slices come in any order and by any thread: they wait in a scratch file per layer of chunks until the layer is
// whole, which is then packed and averaged into the next level, one layer at a time on all threads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/scratch_file.h"
#include "core/threads.h"
#include "io/stack.h"
#include "io/zarr_array.h"

namespace lepus {

class ZarrPyramid {
public:
  // Into a folder that is there and locked.
  ZarrPyramid(const StackTarget& target, std::filesystem::path folder);

  static std::int64_t memory_bytes(const StackTarget& target);  // at most, beside the voxels it is given
  void write(std::int64_t first, std::int64_t images, const void* pixels);
  void finish(const std::string& provenance);

private:
  // Rows [y0, y1) of slices [z0, z1) of a level, one after another.
  struct Block {
    std::int64_t z0, z1, y0, y1;
  };
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
  using Size = std::array<std::int64_t, 3>;  // z, y, x

  void add_level(const Size& shape, double scale);
  std::int64_t pixel_bytes() const { return bytes_per_pixel(target_.shape.type); }
  static std::int64_t slices_of(const Level& level, std::int64_t layer);
  void write_text(const std::filesystem::path& name, const std::string& text);
  void put(std::size_t number, const Block& block, const char* voxels);
  void pack(std::size_t number, std::int64_t k);
  void write_chunks(const ZarrArray& array, std::int64_t k, std::int64_t j, const Size& size, const char* band);
  void put_halved(std::size_t number, const Size& size, std::int64_t k, std::int64_t y0, const char* band);
  void in_parallel(std::int64_t count, const std::function<void(std::int64_t)>& body);

  StackTarget target_;
  std::filesystem::path folder_;
  ThreadPool threads_;
  std::mutex packing_;
  ZarrGroup group_;
  std::vector<std::unique_ptr<Level>> levels_;
};

}  // namespace lepus
