// SPDX-License-Identifier: Apache-2.0
// A volume of any format, written slab by slab: float voxels become what the file stores, each slice once, with its
// checksum where the volume is kept.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "io/stack.h"
#include "io/written_slices.h"

namespace lepus {

class SlabWriter final : public UnfinishedVolume {
public:
  // `open`: of an unfinished volume, what all processes that have it open share.
  SlabWriter(std::unique_ptr<StackWriter> stack, const StackTarget& target, std::string where, OutputLock open);

  std::int64_t memory_bytes() const override { return memory_bytes_; }
  std::int64_t cut_off() const override { return cut_off_; }
  void write(std::int64_t z0, std::int64_t z1, const float* slices) override;
  // The same of slices that are of the file's type already, one after another.
  void write_stored(std::int64_t z0, std::int64_t z1, const void* slices);
  void finish(const std::string& provenance) override;
  void flush(std::int64_t z0, std::int64_t z1) override { current()->flush(z0, z1 - z0); }
  std::uint64_t checksum(std::int64_t z0, std::int64_t z1) const override;
  std::int64_t cut_off_in(std::int64_t z0, std::int64_t z1) const;  // of slices that were written here
  void written_elsewhere(std::int64_t z0, std::int64_t z1) override { written_.add(z0, z1); }
  void require_there() const;                           // Error(disk) where what is kept is gone
  const FileNumber& number() const { return number_; }  // of what is kept, when it was opened

private:
  std::shared_ptr<StackWriter> current() const;
  void give_up();
  void wait_for_others();
  void write_with(std::int64_t z0, std::int64_t z1, const std::function<void(StackWriter&)>& put);
  void put(StackWriter& stack, std::int64_t z0, std::int64_t z1, const float* slices);
  void put_as_it_is(StackWriter& stack, std::int64_t z0, std::int64_t z1, const void* slices);
  void put_stored(StackWriter& stack, std::int64_t z, const float* slice);
  void remember(std::int64_t z, const void* stored, std::int64_t cut_off);

  mutable std::mutex mutex_;
  std::shared_ptr<StackWriter> stack_;
  StackShape shape_;
  ValueScale scale_;
  bool kept_;
  std::string where_;
  WrittenSlices written_;
  std::int64_t memory_bytes_;
  std::atomic<std::int64_t> cut_off_ = 0;
  struct Remembered {
    std::uint64_t checksum = 0;
    std::int64_t cut_off = 0;
  };
  std::vector<std::optional<Remembered>> remembered_;  // slices that were written here
  FileNumber number_;
  OutputLock open_;
};

enum class Slices {
  of_volume,
  of_scan  // its frames: images without a place in space, as create_frames writes them
};
std::unique_ptr<SlabWriter> open_slab_writer(const std::filesystem::path& path, const VolumeGrid& grid,
                                             const VolumeWriterOptions& options, Unfinished unfinished,
                                             Slices slices = Slices::of_volume);
// What a run left that was killed while it created such a one; a whole one stays.
void remove_half_made(const std::filesystem::path& path);
// A finished volume of one file becomes as it was before finish(); false where there is none.
bool rename_to_unfinished(const std::filesystem::path& path);
// Whether an unfinished volume of that format can be gone on with: all but DICOM and slices with header and tail
// (.vol).
bool can_be_resumed(const std::filesystem::path& path);

}  // namespace lepus
