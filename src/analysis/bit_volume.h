// SPDX-License-Identifier: Apache-2.0
// A volume of yes and no, one bit a voxel: which voxels are inside, which belong to the phase that is looked at. 1024^3
// voxels are 128 MiB; what does not fit into the memory lies in a scratch file.
#pragma once

#include <cstdint>
#include <functional>

#include "analysis/bit_rows.h"
#include "analysis/work_memory.h"
#include "core/context.h"

namespace lepus::analysis {

struct VolumeSize {
  std::int64_t nx = 0, ny = 0, nz = 0;
  std::int64_t voxels() const { return nx * ny * nz; }
};

class BitVolume {
public:
  BitVolume(WorkMemory& memory, const VolumeSize& size)
      : size_(size), row_words_(words_for(size.nx)), store_(memory, row_words_ * size.ny, size.nz, "voxels as bits") {}

  const VolumeSize& size() const { return size_; }
  std::int64_t row_words() const { return row_words_; }
  std::int64_t slice_words() const { return row_words_ * size_.ny; }

  // Slice z: its rows one after another. `buffer` has room for a slice and is used where the bits are on disk.
  const Word* slice(std::int64_t z, Word* buffer) const { return store_.slice(z, buffer); }
  void read_row(std::int64_t y, std::int64_t z, Word* words) const {
    store_.read(z, y * row_words_, row_words_, words);
  }
  void write(std::int64_t z, const Word* words) { store_.write(z, 0, slice_words(), words); }

  // Calls body(z, words, worker) for every slice, changed words are written back where it returns true.
  void each_slice(Context& context, const std::function<bool(std::int64_t z, Word* words, int worker)>& body);
  std::int64_t count(Context& context) const;  // of ones

private:
  VolumeSize size_;
  std::int64_t row_words_;
  SliceStore<Word> store_;
};

// Buffers of one slice for each worker.
class WorkerSlices {
public:
  WorkerSlices(const BitVolume& bits, int workers) : words_(bits.slice_words()), all_(words_ * workers) {}
  Word* operator[](int worker) { return all_.data() + worker * words_; }

private:
  std::int64_t words_;
  Buffer<Word> all_;
};

}  // namespace lepus::analysis
