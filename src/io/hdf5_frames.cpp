// SPDX-License-Identifier: Apache-2.0
// HDF5 datasets [frames][rows][columns] as frames. Contiguous ones are read straight from the file, by all threads at
// once; chunked, compressed, virtual and unusual ones as hyperslabs through the library, one thread at a time.
#include "io/file.h"
#include "io/frame_sources.h"
#include "io/stored_images.h"

#ifndef LEPUS_HAVE_HDF5

namespace lepus {

StoredFrames open_hdf5_frames(const std::vector<std::filesystem::path>& files, const std::string&) {
  throw_missing_library("HDF5", "libhdf5-dev", files.front().string());
}
std::vector<StoredImages> list_stored_images(const std::filesystem::path& file) {
  throw_missing_library("HDF5", "libhdf5-dev", file.string());
}

}  // namespace lepus

#else

#include <algorithm>

#include "core/format.h"
#include "io/hdf5_file.h"
#include "io/pixels.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

class Hdf5Frames final : public FrameSource {
public:
  Hdf5Frames(std::vector<fs::path> files, std::string dataset, std::vector<Hdf5Images> parts)
      : files_(std::move(files)), dataset_(std::move(dataset)), parts_(std::move(parts)) {
    for (const Hdf5Images& part : parts_) {
      first_.push_back(frames_);
      frames_ += part.images;
    }
  }
  ~Hdf5Frames() override {
    const Hdf5Lock lock;
    opened_dataset_.reset();
    opened_file_.reset();
  }

  std::int64_t columns() const override { return parts_.front().columns; }
  std::int64_t rows() const override { return parts_.front().rows; }
  std::int64_t frames() const override { return frames_; }
  PixelType pixel_type() const override { return parts_.front().type; }
  std::string name(std::int64_t frame) const override {
    const std::size_t k = part_of(frame);
    return image_name(files_[k].string() + ":" + dataset_, frame - first_[k], parts_[k].rank == 2);
  }

  void read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const override {
    check_band(*this, frame, row0, row1);
    if (row0 == row1) return;
    const std::size_t k = part_of(frame);
    const Hdf5Lock lock;
    if (opened_ != k || !opened_dataset_.valid()) {
      opened_dataset_.reset();
      opened_file_.reset();
      opened_file_ = open_hdf5(files_[k]);
      opened_dataset_ = open_hdf5_dataset(opened_file_, dataset_, files_[k]);
      opened_ = k;
    }
    const Hdf5Id space(H5Dget_space(opened_dataset_), H5Sclose);
    const hsize_t start[3] = {static_cast<hsize_t>(frame - first_[k]), static_cast<hsize_t>(row0), 0};
    const hsize_t count[3] = {1, static_cast<hsize_t>(row1 - row0), static_cast<hsize_t>(columns())};
    const int skip = 3 - parts_[k].rank;
    const Hdf5Id memory(H5Screate_simple(3, count, nullptr), H5Sclose);
    if (H5Sget_simple_extent_ndims(space) != parts_[k].rank ||
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start + skip, nullptr, count + skip, nullptr) < 0 ||
        H5Dread(opened_dataset_, hdf5_type(pixel_type()), memory, space, H5P_DEFAULT, out) < 0)
      throw_hdf5("HDF5 frame cannot be read", name(frame), hdf5_message());
  }

private:
  std::size_t part_of(std::int64_t frame) const {
    return static_cast<std::size_t>(std::upper_bound(first_.begin(), first_.end(), frame) - first_.begin()) - 1;
  }

  std::vector<fs::path> files_;
  std::string dataset_;
  std::vector<Hdf5Images> parts_;  // one per file
  std::vector<std::int64_t> first_;
  std::int64_t frames_ = 0;
  // The file read last stays open; guarded by the library's lock.
  mutable std::size_t opened_ = 0;
  mutable Hdf5Id opened_file_, opened_dataset_;
};

}  // namespace

StoredFrames open_hdf5_frames(const std::vector<fs::path>& files, const std::string& dataset_name) {
  std::string dataset = dataset_name.empty() ? "/exchange/data" : dataset_name;
  if (dataset.front() != '/') dataset = "/" + dataset;
  std::vector<Hdf5Images> parts;
  for (const fs::path& path : files) {
    const Hdf5Lock lock;
    const Hdf5Id file = open_hdf5(path);
    parts.push_back(inspect_hdf5(file, dataset, path));
    const Hdf5Images &first = parts.front(), &here = parts.back();
    if (here.columns != first.columns || here.rows != first.rows || here.type != first.type)
      throw_other_size(path.string() + ":" + dataset, describe(first.columns, first.rows, first.type),
                       describe(here.columns, here.rows, here.type), files.front().string());
    check_same_scale(here.scale, first.scale, path);
  }
  const bool plain = std::all_of(parts.begin(), parts.end(), [&](const Hdf5Images& part) {
    return part.offset && part.big_endian == parts.front().big_endian;
  });
  const ValueScale scale = parts.front().scale;
  if (!plain) return {std::make_unique<Hdf5Frames>(files, dataset, std::move(parts)), scale};
  PlainImages images;
  for (const Hdf5Images& part : parts) images.files.push_back(part.file);
  images.columns = parts.front().columns;
  images.rows = parts.front().rows;
  images.type = parts.front().type;
  images.big_endian = parts.front().big_endian;
  for (std::size_t i = 0; i < files.size(); ++i)
    images.runs.push_back({.file = i,
                           .offset = *parts[i].offset,
                           .count = parts[i].images,
                           .label = files[i].string() + ":" + dataset,
                           .alone = parts[i].rank == 2});
  return {plain_frames(std::move(images)), scale};
}

std::vector<StoredImages> list_stored_images(const fs::path& path) {
  const Hdf5Lock lock;
  const Hdf5Id file = open_hdf5(path);
  std::vector<StoredImages> all;
  for (const std::string& name : list_hdf5_images(file)) try {
      const Hdf5Images found = inspect_hdf5(file, name, path);
      all.push_back({name, found.images, found.rows, found.columns, found.type, {}});
    } catch (const Error& error) {
      all.push_back({.dataset = name, .problem = error.parts().what});
    }
  return all;
}

}  // namespace lepus

#endif
