// SPDX-License-Identifier: Apache-2.0
// Writes TIFF: pixels first, all pages one after another, and the directories at the end, when the description of the
// first page is known. One file for the stack, or one per image. BigTIFF where 32-bit offsets might not do.
// https://www.itu.int/itudoc/itu-t/com16/tiff-fx/docs/tiff6.pdf, https://www.awaresystems.be/imaging/tiff/bigtiff.html
#include <cmath>
#include <cstring>

#include "core/format.h"
#include "core/output_file.h"
#include "io/file.h"
#include "io/json_text.h"
#include "io/stack.h"
#include "io/tiff_file.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t data_offset = 16;  // after either header

template <class T>
void put(std::string& bytes, T value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes.append(raw, sizeof value);
}

// One directory under construction: entries of 12 (classic) or 20 bytes (BigTIFF), in the order of their tags.
class Directory {
public:
  explicit Directory(bool big) : big_(big) {}
  void add_short(std::uint16_t tag, std::uint16_t value) { add(tag, 3, 1, value); }
  void add_long(std::uint16_t tag, std::int64_t value) { add(tag, 4, 1, static_cast<std::uint64_t>(value)); }
  void add_offset(std::uint16_t tag, std::int64_t value) {
    add(tag, big_ ? 16 : 4, 1, static_cast<std::uint64_t>(value));
  }
  // Values too long for the entry lie at `offset` in the file.
  void add_stored(std::uint16_t tag, std::uint16_t type, std::int64_t count, std::int64_t offset) {
    add(tag, type, static_cast<std::uint64_t>(count), static_cast<std::uint64_t>(offset));
  }
  // 8 bytes of a rational fit into an entry of BigTIFF.
  void add_rational(std::uint16_t tag, std::uint32_t numerator, std::uint32_t denominator, std::int64_t offset) {
    add(tag, 5, 1, big_ ? numerator | std::uint64_t{denominator} << 32 : static_cast<std::uint64_t>(offset));
  }
  std::string bytes(std::int64_t next) const {
    std::string result;
    if (big_)
      put(result, std::uint64_t{count_});
    else
      put(result, static_cast<std::uint16_t>(count_));
    result += entries_;
    if (big_)
      put(result, static_cast<std::uint64_t>(next));
    else
      put(result, static_cast<std::uint32_t>(next));
    return result;
  }

private:
  void add(std::uint16_t tag, std::uint16_t type, std::uint64_t count, std::uint64_t value) {
    put(entries_, tag);
    put(entries_, type);
    if (big_) {
      put(entries_, count);
      put(entries_, value);
    } else {
      put(entries_, static_cast<std::uint32_t>(count));
      put(entries_, static_cast<std::uint32_t>(value));
    }
    ++count_;
  }
  bool big_;
  std::uint16_t count_ = 0;
  std::string entries_;
};

struct Rational {
  std::uint32_t numerator = 0, denominator = 1;
};

// Pixels per centimetre, to nine digits; zero where it cannot be written.
Rational resolution(double step_mm) {
  const double value = 10 / std::abs(step_mm);
  if (!(value > 1e-9) || !(value < 4e9)) return {};
  double denominator = 1;
  while (denominator < 1e9 && value * denominator * 10 < 4e9) denominator *= 10;
  return {static_cast<std::uint32_t>(std::llround(value * denominator)), static_cast<std::uint32_t>(denominator)};
}

std::uint16_t sample_format(PixelType type) {
  switch (type) {
    case PixelType::f16:
    case PixelType::f32:
    case PixelType::f64:
      return 3;
    case PixelType::i8:
    case PixelType::i16:
    case PixelType::i32:
      return 2;
    default:
      return 1;
  }
}

void require_libtiff([[maybe_unused]] const fs::path& path) {
#ifndef LEPUS_HAVE_TIFF
  // Writing needs no library; but a lepus that cannot read its own files back would surprise more than it helps.
  throw_missing_library("TIFF", "libtiff-dev", path.string());
#endif
}

class TiffStack final : public PlainStack {
public:
  // `held`: the lock of what it is a part of.
  TiffStack(const StackTarget& target, OutputLock held)
      : PlainStack(target, std::move(held), target.path, bytes_of(target)),
        big_(bytes_of(target) > target.big_tiff_above) {
    std::string header = "II";
    put(header, static_cast<std::uint16_t>(big_ ? 43 : 42));
    if (big_) put(header, std::uint32_t{8});  // offsets of 8 bytes
    const std::size_t fixed = header.size();
    header.resize(data_offset);
    if (is_joined()) {
      std::string there(fixed, '\0');
      data_.read(0, there.data(), static_cast<std::int64_t>(fixed));
      if (!header.starts_with(there)) throw_other_unfinished(data_.partial(), "it is not such a TIFF file");
    } else {
      data_.append(header);
    }
    begin_data(data_offset);
  }

  void finish(const std::string& provenance) override {
    complete(target_.text.grid ? to_json({.shape = target_.shape,
                                          .text = target_.text,
                                          .header_bytes = data_offset,
                                          .big_endian = false,
                                          .provenance = provenance},
                                         false)
                               : std::string());
    data_.commit();
  }

  // Writes the directories and closes the file, which keeps its temporary name.
  void complete(const std::string& description) {
    data_.resize(data_offset + target_.shape.bytes());  // what a run that was killed while it finished had added goes
    align();
    const std::int64_t description_at = data_.end();
    if (!description.empty()) data_.append(description.c_str(), static_cast<std::int64_t>(description.size()) + 1);
    align();
    Rational across, down;
    if (target_.text.grid) {
      across = resolution(target_.text.grid->step_mm.x);
      down = resolution(target_.text.grid->step_mm.y);
    }
    const std::int64_t resolution_at = data_.end();
    std::string rationals;
    for (const std::uint32_t part : {across.numerator, across.denominator, down.numerator, down.denominator})
      put(rationals, part);
    data_.append(rationals);

    const std::int64_t first = data_.end();
    std::string directories;
    for (std::int64_t page = 0; page < target_.shape.images; ++page) {
      Directory directory(big_);
      directory.add_long(256, target_.shape.columns);
      directory.add_long(257, target_.shape.rows);
      directory.add_short(258, static_cast<std::uint16_t>(8 * bytes_per_pixel(target_.shape.type)));
      directory.add_short(259, 1);  // no compression
      directory.add_short(262, 1);  // zero is black
      if (page == 0 && !description.empty())
        directory.add_stored(270, 2, static_cast<std::int64_t>(description.size()) + 1, description_at);
      directory.add_offset(273, data_offset + page * target_.shape.image_bytes());
      directory.add_short(277, 1);
      directory.add_long(278, target_.shape.rows);
      directory.add_offset(279, target_.shape.image_bytes());
      if (across.numerator > 0 && down.numerator > 0) {
        directory.add_rational(282, across.numerator, across.denominator, resolution_at);
        directory.add_rational(283, down.numerator, down.denominator, resolution_at + 8);
        directory.add_short(296, 3);  // per centimetre
      }
      directory.add_short(339, sample_format(target_.shape.type));
      const auto length = static_cast<std::int64_t>(directory.bytes(0).size());
      const std::int64_t here = first + static_cast<std::int64_t>(directories.size());
      const std::int64_t padded = (length + 7) / 8 * 8;
      std::string bytes = directory.bytes(page + 1 < target_.shape.images ? here + padded : 0);
      bytes.resize(static_cast<std::size_t>(padded));
      directories += bytes;
    }
    data_.append(directories);
    std::string pointer;
    if (big_)
      put(pointer, static_cast<std::uint64_t>(first));
    else
      put(pointer, static_cast<std::uint32_t>(first));
    data_.write(big_ ? 8 : 4, pointer.data(), static_cast<std::int64_t>(pointer.size()));
    data_.close();
  }
  PartialFile& file() { return data_; }

private:
  static std::int64_t bytes_of(const StackTarget& target) { return target.shape.bytes() + target.shape.images * 300; }
  void align() { data_.append(std::string(static_cast<std::size_t>((8 - data_.end() % 8) % 8), '\0')); }

  bool big_;
};

// One file per image; all get their final names together. Geometry and provenance are in a JSON file beside them, which
// what is kept has from the start and which is renamed last, or goes: frames have neither.
class TiffFolder final : public StackWriter {
public:
  explicit TiffFolder(const StackTarget& target)
      : target_(target),
        place_(*find_number(target.path)),
        lock_(lock_slices(target.path, target.sharing)),
        images_(static_cast<std::size_t>(target.shape.images)) {
    if (target.unfinished != Unfinished::joined) check_names();
    if (target.text.grid || is_kept())
      side_car_ =
          std::make_unique<PartialFile>(lock_, slices_side_car(target.path), target.force, 0, target.unfinished);
  }

  void write(std::int64_t first, std::int64_t images, const void* pixels) override {
    io_parallel(images, io_threads(), [&](std::int64_t i) {
      const std::int64_t k = first + i;
      StackTarget one = target_;
      one.path = numbered(target_.path, place_, k);
      one.shape.images = 1;
      if (is_kept()) {
        std::error_code code;
        fs::remove(unfinished_name(one.path), code);  // of a run that was killed before it was whole
        one.unfinished = Unfinished::kept;
      }
      auto image = std::make_unique<TiffStack>(one, lock_);
      image->write(0, 1, static_cast<const char*>(pixels) + i * target_.shape.image_bytes());
      image->complete({});
      images_[static_cast<std::size_t>(k)] = std::move(image);
    });
  }

  void read_back(std::int64_t first, std::int64_t images, void* pixels) const override {
    const std::int64_t bytes = target_.shape.image_bytes();
    for (std::int64_t k = first; k < first + images; ++k)
      written_image(k)->read(data_offset, static_cast<char*>(pixels) + (k - first) * bytes, bytes);
  }

  void flush(std::int64_t first, std::int64_t images) override {
    for (std::int64_t k = first; k < first + images; ++k) written_image(k)->sync();
  }

  void finish(const std::string& provenance) override {
    if (target_.text.grid) {
      side_car_->resize(0);
      side_car_->append(to_json({.shape = target_.shape,
                                 .text = target_.text,
                                 .header_bytes = 0,
                                 .big_endian = false,
                                 .provenance = provenance},
                                true));
    }
    std::vector<std::unique_ptr<PartialFile>> others;
    std::vector<PartialFile*> files;
    for (std::int64_t k = 0; k < target_.shape.images; ++k) {
      const auto& image = images_[static_cast<std::size_t>(k)];
      if (!image) others.push_back(written_image(k));
      files.push_back(image ? &image->file() : others.back().get());
    }
    if (target_.text.grid) files.push_back(side_car_.get());
    commit_together(files);
    std::error_code code;
    if (side_car_ && !target_.text.grid) fs::remove(side_car_->partial(), code);
  }

private:
  bool is_kept() const { return target_.unfinished != Unfinished::removed; }

  void check_names() const {
    check_numbered_targets(target_.path, target_.shape.images, target_.force);
    check_free_space(target_.path, target_.shape.bytes() + target_.shape.images * 512);
  }

  // By whichever process.
  std::unique_ptr<PartialFile> written_image(std::int64_t k) const {
    auto file =
        std::make_unique<PartialFile>(lock_, numbered(target_.path, place_, k), target_.force, 0, Unfinished::joined);
    const std::int64_t bytes = data_offset + target_.shape.image_bytes();
    if (file->end() < bytes)
      throw_other_unfinished(file->partial(), format("it has {} bytes, {} are needed", file->end(), bytes));
    return file;
  }

  StackTarget target_;
  NumberPlace place_;
  OutputLock lock_;                                 // of all of them, and of the folder that it made
  std::vector<std::unique_ptr<TiffStack>> images_;  // that this process wrote: closed, under their partial names
  std::unique_ptr<PartialFile> side_car_;
};

}  // namespace

std::unique_ptr<StackWriter> create_tiff_stack(const StackTarget& target) {
  require_libtiff(target.path);
  if (target.unfinished != Unfinished::joined) check_target(target.path, target.force);
  return std::make_unique<TiffStack>(target, OutputLock(target.path, OutputLock::Folder::must_exist, target.sharing));
}

fs::path slices_side_car(const fs::path& pattern) {
  return pattern.parent_path() / (find_number(pattern)->prefix + std::string(slices_side_car_ending));
}

OutputLock lock_slices(const fs::path& pattern, Sharing sharing) {
  return OutputLock(slices_side_car(pattern), OutputLock::Folder::is_made, sharing);
}

std::unique_ptr<StackWriter> create_tiff_folder(const StackTarget& target) {
  require_libtiff(target.path);
  return std::make_unique<TiffFolder>(target);
}

}  // namespace lepus
