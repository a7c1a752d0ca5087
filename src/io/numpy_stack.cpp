// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy and .npz, written as volumes [z][y][x] or frames [frame][row][column], little-endian, C order.
#include <array>
#include <optional>
#include <vector>

#include "core/crc32.h"
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

class NumpyStack : public PlainStack {
protected:
  using PlainStack::PlainStack;
  // Of a file that is joined: it is that of this array.
  void check_header(std::int64_t offset, const std::string& header) const {
    std::string there(header.size(), '\0');
    data_.read(offset, there.data(), static_cast<std::int64_t>(there.size()));
    if (there != header) throw_other_unfinished(data_.partial(), "its array has another type or shape");
  }
};

class NpyStack final : public NumpyStack {
public:
  explicit NpyStack(const StackTarget& target)
      : NumpyStack(target, target.path, target.shape.bytes() + 256), header_(array_header(target.shape)) {
    if (is_joined()) {
      check_header(0, header_);
    } else {
      if (target.text.grid) check_target(side_car_of(target.path), target.force);
      data_.append(header_);
    }
    begin_data(static_cast<std::int64_t>(header_.size()));
  }

  void finish(const std::string& provenance) override {
    if (!target_.text.grid) return data_.commit();
    const auto description =
        side_car(side_car_of(target_.path), to_json({.shape = target_.shape,
                                                     .text = target_.text,
                                                     .header_bytes = static_cast<std::int64_t>(header_.size()),
                                                     .big_endian = false,
                                                     .provenance = provenance},
                                                    true));
    commit_together({description.get(), &data_});
  }

private:
  std::string header_;
};

// The large array comes first, so that its place is known; the checksum that the archive wants is joined from those of
// the images, which come in any order.
class NpzStack final : public NumpyStack {
public:
  explicit NpzStack(const StackTarget& target)
      : NumpyStack(target, target.path, target.shape.bytes() + (64 << 10)),
        header_(array_header(target.shape)),
        checksums_(static_cast<std::size_t>(target.shape.images)) {
    entry_.name = target.text.grid ? "volume.npy" : "data.npy";
    entry_.bytes = static_cast<std::int64_t>(header_.size()) + target.shape.bytes();
    const std::string start = zip_record(entry_) + header_;
    if (is_joined())
      check_header(static_cast<std::int64_t>(start.size() - header_.size()), header_);
    else
      data_.append(start);
    start_ = static_cast<std::int64_t>(start.size());
    begin_data(start_);
  }

  void write(std::int64_t first, std::int64_t images, const void* pixels) override {
    PlainStack::write(first, images, pixels);
    const std::int64_t bytes = target_.shape.image_bytes();
    for (std::int64_t i = 0; i < images; ++i)
      checksums_[static_cast<std::size_t>(first + i)] = crc32(0, static_cast<const char*>(pixels) + i * bytes, bytes);
  }

  void finish(const std::string& provenance) override {
    entry_.checksum = checksum();
    const std::string record = zip_record(entry_);
    data_.write(0, record.data(), static_cast<std::int64_t>(record.size()));
    data_.resize(start_ + target_.shape.bytes());  // a run that was killed while it finished may have gone on from here
    std::vector<ZipEntry> entries{entry_};
    if (target_.text.grid) {
      const VolumeGrid& grid = *target_.text.grid;
      const std::array origin{grid.origin_mm.x, grid.origin_mm.y, grid.origin_mm.z},
          step{grid.step_mm.x, grid.step_mm.y, grid.step_mm.z};
      append_npz_array(data_, npz_array("origin_mm", origin.data(), 3), entries);
      append_npz_array(data_, npz_array("step_mm", step.data(), 3), entries);
      append_npz_array(data_, npz_text("unit", target_.text.unit.c_str()), entries);
      const ValueScale& scale = target_.text.scale;
      const std::array value_scale{scale.slope, scale.offset};
      if (!scale.is_identity()) append_npz_array(data_, npz_array("value_scale", value_scale.data(), 2), entries);
    }
    if (!provenance.empty()) append_npz_array(data_, npz_text("provenance", provenance.c_str()), entries);
    data_.append(zip_directory(entries, data_.end()));
    data_.commit();
  }

private:
  // Of the whole array. Images that another process wrote are read.
  std::uint32_t checksum() const {
    const std::int64_t bytes = target_.shape.image_bytes();
    std::uint32_t sum = crc32(0, header_.data(), static_cast<std::int64_t>(header_.size()));
    std::vector<char> image;
    for (std::size_t i = 0; i < checksums_.size(); ++i) {
      std::uint32_t here = checksums_[i].value_or(0);
      if (!checksums_[i]) {
        image.resize(static_cast<std::size_t>(bytes));
        read_back(static_cast<std::int64_t>(i), 1, image.data());
        here = crc32(0, image.data(), bytes);
      }
      sum = crc32_joined(sum, here, bytes);
    }
    return sum;
  }

  std::string header_;
  ZipEntry entry_;
  std::vector<std::optional<std::uint32_t>> checksums_;  // of each image that this process wrote
  std::int64_t start_ = 0;
};

}  // namespace

std::unique_ptr<StackWriter> create_numpy_stack(const StackTarget& target) {
  if (lower_extension(target.path) == ".npz") return std::make_unique<NpzStack>(target);
  return std::make_unique<NpyStack>(target);
}

}  // namespace lepus
