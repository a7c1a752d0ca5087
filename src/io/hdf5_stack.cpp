// SPDX-License-Identifier: Apache-2.0
// HDF5 files with one dataset [images][rows][columns], written and read as volumes or written as frames. The library
// lays the file out at the start and adds the provenance at the end; the pixels in between are written as to any other
// file, so that a full disk is noticed where it happens.
#include "io/file.h"
#include "io/frame_sources.h"
#include "io/stack.h"

#ifndef LEPUS_HAVE_HDF5

namespace lepus {

std::unique_ptr<StackWriter> create_hdf5_stack(const StackTarget& target, const std::string&) {
  throw_missing_library("HDF5", "libhdf5-dev", target.path.string());
}
std::unique_ptr<VolumeReader> open_hdf5_volume(const std::filesystem::path& path, const std::string&) {
  throw_missing_library("HDF5", "libhdf5-dev", path.string());
}

}  // namespace lepus

#else

#include <algorithm>

#include "core/format.h"
#include "core/input_file.h"
#include "core/output_file.h"
#include "io/hdf5_file.h"
#include "io/header_text.h"
#include "io/json_text.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t metadata_bytes = 64 << 10;  // about what the library needs beside the pixels

class Hdf5Stack final : public PlainStack {
public:
  Hdf5Stack(const StackTarget& target, std::string dataset)
      : PlainStack(target, target.path, target.shape.bytes() + metadata_bytes), dataset_(std::move(dataset)) {
    begin_data(is_joined() ? lay_out_beside(Copy::nothing) : lay_out(data_.partial()));
  }

  void finish(const std::string& provenance) override {
    if (is_joined()) lay_out_beside(Copy::all_but_pixels);
    data_.close();
    if (!provenance.empty()) {
      const Hdf5Lock lock;
      Hdf5Id file(H5Fopen(data_.partial().c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
      if (!file.valid()) fail();
      Hdf5Id id(H5Dopen2(file, dataset_.c_str(), H5P_DEFAULT), H5Dclose);
      if (!id.valid() || !(provenance.size() <= longest_hdf5_attribute
                               ? write_hdf5_text(id, "lepus_provenance", provenance)
                               : write_hdf5_text_dataset(file, dataset_ + "_provenance", provenance)))
        fail();
      if (id.reset() < 0 || file.reset() < 0) fail();
    }
    data_.commit();
  }

private:
  // A file with holes for pixels; where they begin. The pixels are written without the library and its lock: they lie
  // one after another.
  std::int64_t lay_out(const fs::path& path) const {
    const Hdf5Lock lock;
    Hdf5Id file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    if (!file.valid()) fail();
    const StackShape& shape = target_.shape;
    const hsize_t sizes[3] = {static_cast<hsize_t>(shape.images), static_cast<hsize_t>(shape.rows),
                              static_cast<hsize_t>(shape.columns)};
    const Hdf5Id space(H5Screate_simple(3, sizes, nullptr), H5Sclose);
    const Hdf5Id links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    H5Pset_create_intermediate_group(links, 1);
    const Hdf5Id creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_layout(creation, H5D_CONTIGUOUS);
    H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    Hdf5Id id(H5Dcreate2(file, dataset_.c_str(), hdf5_type(shape.type), space, links, creation, H5P_DEFAULT), H5Dclose);
    if (!id.valid()) fail();
    const haddr_t offset = H5Dget_offset(id);
    if (offset == HADDR_UNDEF) fail();
    if (target_.text.grid) {
      const VolumeGrid& grid = *target_.text.grid;
      if (!write_hdf5_numbers(id, "origin_mm", {grid.origin_mm.x, grid.origin_mm.y, grid.origin_mm.z}) ||
          !write_hdf5_numbers(id, "step_mm", {grid.step_mm.x, grid.step_mm.y, grid.step_mm.z}) ||
          !write_hdf5_text(id, "axes", "z y x") || !write_hdf5_text(id, "unit", target_.text.unit))
        fail();
      const ValueScale& scale = target_.text.scale;
      if (!scale.is_identity() && (!write_hdf5_numbers(id, "scale_factor", {scale.slope}) ||
                                   !write_hdf5_numbers(id, "add_offset", {scale.offset})))
        fail();
    }
    if (id.reset() < 0 || file.reset() < 0) fail();
    return static_cast<std::int64_t>(offset);
  }

  // The file that is joined laid out anew, since its last writer may have been killed while the library changed it.
  enum class Copy { nothing, all_but_pixels };
  std::int64_t lay_out_beside(Copy copy) {
    const Hdf5Lock lock;  // one at a time has this name
    const PartialFile beside(OutputLock(), data_.target(), true, 0);
    const std::int64_t start = lay_out(beside.partial());
    if (copy == Copy::nothing) return start;
    const std::int64_t pixels_end = start + target_.shape.bytes(), end = InputFile(beside.partial()).size();
    data_.resize(end);
    std::string bytes;
    for (const auto& [from, to] : {std::pair{std::int64_t{0}, start}, std::pair{pixels_end, end}}) {
      bytes.resize(static_cast<std::size_t>(std::max<std::int64_t>(0, to - from)));
      beside.read(from, bytes.data(), static_cast<std::int64_t>(bytes.size()));
      data_.write(from, bytes.data(), static_cast<std::int64_t>(bytes.size()));
    }
    return start;
  }

  [[noreturn]] void fail() const {
    throw Error(ErrorKind::disk, {.what = "cannot write HDF5 file",
                                  .where = target_.path.string(),
                                  .why = hdf5_message(),
                                  .hint = "check the free space and the permissions of its folder"});
  }

  std::string dataset_;
};

Vec3 vector_of(const std::vector<double>& v) { return {v[0], v[1], v[2]}; }

}  // namespace

std::string volume_dataset(hid_t file) {
  if (H5Lexists(file, "/volume", H5P_DEFAULT) > 0) return "/volume";
  std::vector<std::string> stacks;
  for (const std::string& name : list_hdf5_images(file)) {
    const Hdf5Id dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
    const Hdf5Id space(H5Dget_space(dataset), H5Sclose);
    if (H5Sget_simple_extent_ndims(space) == 3) stacks.push_back(name);
  }
  return stacks.size() == 1 ? stacks.front() : "/volume";
}

std::unique_ptr<StackWriter> create_hdf5_stack(const StackTarget& target, const std::string& dataset) {
  return std::make_unique<Hdf5Stack>(target, dataset.front() == '/' ? dataset : "/" + dataset);
}

std::unique_ptr<VolumeReader> open_hdf5_volume(const fs::path& path, const std::string& dataset_name) {
  VolumeInfo info;
  std::string dataset = dataset_name;
  {
    const Hdf5Lock lock;
    const Hdf5Id file = open_hdf5(path);
    if (dataset.empty()) dataset = volume_dataset(file);
    const Hdf5Images images = inspect_hdf5(file, dataset, path);
    const Hdf5Id id = open_hdf5_dataset(file, dataset, path);
    info.grid = {.nx = images.columns, .ny = images.rows, .nz = images.images, .origin_mm = {}, .step_mm = {1, 1, 1}};
    if (const auto origin = read_hdf5_numbers(id, "origin_mm", 3)) info.grid.origin_mm = vector_of(*origin);
    if (const auto step = read_hdf5_numbers(id, "step_mm", 3)) info.grid.step_mm = vector_of(*step);
    check_grid(info.grid, images.type, path);
    info.unit = read_hdf5_text(id, "unit");
    info.scale = images.scale;
    info.provenance = read_hdf5_text(id, "lepus_provenance");
    if (info.provenance.empty()) info.provenance = read_hdf5_text_dataset(file, dataset + "_provenance");
    if (!is_json(info.provenance, path.string())) info.provenance.clear();
    info.format = "HDF5";
  }
  return volume_of_frames(open_hdf5_frames({path}, dataset).images, std::move(info));
}

}  // namespace lepus

#endif
