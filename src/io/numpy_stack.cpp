// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy and .npz, written as volumes [z][y][x] or frames [frame][row][column], little-endian, C order.
#include <mutex>
#include <vector>

#include "core/output_file.h"
#include "io/file.h"
#include "io/json_text.h"
#include "io/npy_header.h"
#include "io/npz_file.h"
#include "io/stack.h"
#include "io/zip_archive.h"

namespace lepus {
namespace {

std::string array_header(const StackShape& shape) {
  return npy_header(numpy_name(shape.type), {shape.images, shape.rows, shape.columns});
}

class NpyStack final : public StackWriter {
public:
  explicit NpyStack(const StackTarget& target)
      : target_(target),
        data_(target.path, target.force, target.shape.bytes() + 256),
        side_car_(target.text.grid
                      ? std::make_unique<PartialFile>(side_car_of(target.path), target.force, std::int64_t{0})
                      : nullptr) {
    data_.append(array_header(target.shape));
    start_ = data_.end();
  }

  void write(std::int64_t first, std::int64_t images, const void* pixels) override {
    const std::int64_t bytes = target_.shape.image_bytes();
    data_.write(start_ + first * bytes, pixels, images * bytes);
  }

  void finish(const std::string& provenance) override {
    if (side_car_)
      side_car_->append(to_json({.shape = target_.shape,
                                 .text = target_.text,
                                 .header_bytes = start_,
                                 .big_endian = false,
                                 .provenance = provenance},
                                true));
    commit_together({&data_, side_car_.get()});
  }

private:
  StackTarget target_;
  PartialFile data_;
  std::unique_ptr<PartialFile> side_car_;
  std::int64_t start_ = 0;
};

// The large array comes first, so that its place is known; the checksum that the archive wants is joined from those of
// the images, which come in any order.
class NpzStack final : public StackWriter {
public:
  explicit NpzStack(const StackTarget& target)
      : target_(target),
        header_(array_header(target.shape)),
        entry_{.name = target.text.grid ? "volume.npy" : "data.npy",
               .bytes = static_cast<std::int64_t>(header_.size()) + target.shape.bytes()},
        file_(target.path, target.force, target.shape.bytes() + (64 << 10)),
        checksums_(static_cast<std::size_t>(target.shape.images)) {
    file_.append(zip_record(entry_) + header_);
    start_ = file_.end();
  }

  void write(std::int64_t first, std::int64_t images, const void* pixels) override {
    const std::int64_t bytes = target_.shape.image_bytes();
    file_.write(start_ + first * bytes, pixels, images * bytes);
    for (std::int64_t i = 0; i < images; ++i)
      checksums_[static_cast<std::size_t>(first + i)] =
          crc32_of(0, static_cast<const char*>(pixels) + i * bytes, bytes);
  }

  void finish(const std::string& provenance) override {
    entry_.checksum = crc32_of(0, header_.data(), static_cast<std::int64_t>(header_.size()));
    for (const std::uint32_t sum : checksums_)
      entry_.checksum = crc32_joined(entry_.checksum, sum, target_.shape.image_bytes());
    const std::string record = zip_record(entry_);
    file_.write(0, record.data(), static_cast<std::int64_t>(record.size()));
    std::vector<ZipEntry> entries{entry_};
    std::vector<double> origin, step;
    if (target_.text.grid) {
      const VolumeGrid& grid = *target_.text.grid;
      origin = {grid.origin_mm.x, grid.origin_mm.y, grid.origin_mm.z};
      step = {grid.step_mm.x, grid.step_mm.y, grid.step_mm.z};
      append_npz_array(file_, npz_array("origin_mm", origin.data(), 3), entries);
      append_npz_array(file_, npz_array("step_mm", step.data(), 3), entries);
      append_npz_array(file_, npz_text("unit", target_.text.unit.c_str()), entries);
    }
    if (!provenance.empty()) append_npz_array(file_, npz_text("provenance", provenance.c_str()), entries);
    file_.append(zip_directory(entries, file_.end()));
    file_.commit();
  }

private:
  StackTarget target_;
  std::string header_;
  ZipEntry entry_;
  PartialFile file_;
  std::vector<std::uint32_t> checksums_;  // of each image
  std::int64_t start_ = 0;
};

}  // namespace

std::unique_ptr<StackWriter> create_numpy_stack(const StackTarget& target) {
  if (lower_extension(target.path) == ".npz") return std::make_unique<NpzStack>(target);
  return std::make_unique<NpyStack>(target);
}

}  // namespace lepus
