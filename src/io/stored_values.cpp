// SPDX-License-Identifier: Apache-2.0
#include "io/stored_values.h"

#include <algorithm>
#include <cstring>

#include "core/format.h"
#include "io/file.h"

#ifdef LEPUS_HAVE_HDF5
#include "io/hdf5_file.h"
#include "io/number_file.h"
#endif

namespace lepus {
namespace fs = std::filesystem;

std::int64_t StoredValue::count() const {
  std::int64_t elements = 1;
  for (const std::int64_t n : shape) elements *= n;
  return elements;
}

std::string StoredValue::shown() const {
  std::string words = text;
  for (std::size_t i = 0; i < std::min<std::size_t>(numbers.size(), 8); ++i)
    words += format("{}{}", i ? " " : "", numbers[i]);
  if (numbers.size() > 8 || (numbers.empty() && text.empty())) {
    std::string sizes;
    for (const std::int64_t n : shape) sizes += format("{}{}", sizes.empty() ? "" : " x ", n);
    words += format("{}({})", words.empty() ? "" : " ... ", sizes.empty() ? "not shown" : sizes);
  }
  return unit.empty() ? words : words + " " + unit;
}

#ifndef LEPUS_HAVE_HDF5

std::vector<StoredValue> list_stored_values(const fs::path& file, StoredDetail) {
  throw_missing_library("HDF5", "libhdf5-dev", file.string());
}
void add_stored_values(const fs::path& file, const std::vector<ValueToStore>&) {
  throw_missing_library("HDF5", "libhdf5-dev", file.string());
}

#else

namespace {

// One text of either kind; those of variable length are what most writers of NeXus files make.
std::string text_of_dataset(hid_t dataset, hid_t type) {
  constexpr std::size_t longest = 4096;
  if (H5Tis_variable_str(type) > 0) {
    char* text = nullptr;
    if (H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &text) < 0 || !text) return {};
    std::string copy(text, strnlen(text, longest));
    H5free_memory(text);
    return copy;
  }
  const std::size_t size = H5Tget_size(type);
  if (size == 0 || size > (1 << 16)) return {};
  std::string text(size, '\0');
  if (H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()) < 0) return {};
  text.resize(std::min({text.find('\0'), text.size(), longest}));
  return text;
}

// h5py stores a truth value as an enumeration of 0 and 1.
bool holds_numbers(hid_t type) {
  if (H5Tget_class(type) != H5T_ENUM) return hdf5_pixel_type(type).has_value();
  const Hdf5Id base(H5Tget_super(type), H5Tclose);
  return base.valid() && hdf5_pixel_type(base).has_value();
}

// The first numbers of a list, without the rest of it.
std::vector<double> first_numbers(hid_t dataset, hid_t space, hsize_t count) {
  constexpr hsize_t most = 64;
  const hsize_t wanted = std::min(count, most);
  std::vector<double> numbers(wanted);
  const Hdf5Id memory(H5Screate_simple(1, &wanted, nullptr), H5Sclose);
  const hsize_t start = 0;
  const bool list = H5Sget_simple_extent_ndims(space) == 1;
  if (list && H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &wanted, nullptr) < 0) return {};
  if (H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, numbers.data()) < 0) return {};
  return numbers;
}

}  // namespace

std::vector<StoredValue> list_stored_values(const fs::path& path, StoredDetail detail) {
  constexpr std::size_t maximum_values = 20000;
  const Hdf5Lock lock;
  const Hdf5Id file = open_hdf5(path);
  std::vector<StoredValue> values;
  walk_hdf5_datasets(file, [&](hid_t dataset, const std::string& name) {
    StoredValue value{.path = name, .shape = {}, .numbers = {}, .text = {}, .unit = {}};
    const Hdf5Id space(H5Dget_space(dataset), H5Sclose);
    const Hdf5Id type(H5Dget_type(dataset), H5Tclose);
    const int rank = H5Sget_simple_extent_ndims(space);
    std::vector<hsize_t> sizes(static_cast<std::size_t>(std::max(rank, 0)));
    if (rank > 0) H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
    for (const hsize_t n : sizes)
      value.shape.push_back(static_cast<std::int64_t>(std::min<hsize_t>(n, hsize_t{1} << 40)));
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    const bool more = values.size() + 1 < maximum_values;
    if (detail == StoredDetail::shapes) {
      values.push_back(std::move(value));
      return more;
    }
    if (H5Tget_class(type) == H5T_STRING && count == 1)
      value.text = text_of_dataset(dataset, type);
    else if (rank <= 1 && count > 0 && holds_numbers(type))
      value.numbers = first_numbers(dataset, space, static_cast<hsize_t>(count));
    value.unit = read_hdf5_any_text(dataset, "units");
    values.push_back(std::move(value));
    return more;
  });
  return values;
}

void add_stored_values(const fs::path& path, const std::vector<ValueToStore>& values) {
  const Hdf5Lock lock;
  const Hdf5Id file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
  const auto require = [&](bool good) {
    if (!good) throw_hdf5("HDF5 file cannot be written", path.string(), hdf5_message());
  };
  require(file.valid());
  const Hdf5Id creation(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(creation, 1);
  for (const ValueToStore& value : values) {
    const bool number = !value.numbers.empty(), images = !value.pixels.empty();
    const hsize_t size = value.numbers.size(), columns = static_cast<hsize_t>(value.columns),
                  rows = static_cast<hsize_t>(value.rows);
    const hsize_t stack[3] = {images ? value.pixels.size() / (rows * columns) : 0, rows, columns};
    const Hdf5Id space(images     ? H5Screate_simple(3, stack, nullptr)
                       : size > 1 ? H5Screate_simple(1, &size, nullptr)
                                  : H5Screate(H5S_SCALAR),
                       H5Sclose);
    const Hdf5Id text_type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(text_type, std::max<std::size_t>(value.text.size(), 1));
    const hid_t type = images ? H5T_STD_U16LE : number ? H5T_IEEE_F64LE : static_cast<hid_t>(text_type);
    const Hdf5Id dataset(H5Dcreate2(file, value.path.c_str(), type, space, creation, H5P_DEFAULT, H5P_DEFAULT),
                         H5Dclose);
    require(dataset.valid());
    const void* const bytes = images   ? static_cast<const void*>(value.pixels.data())
                              : number ? static_cast<const void*>(value.numbers.data())
                                       : value.text.data();
    require(H5Dwrite(dataset, number ? H5T_NATIVE_DOUBLE : type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes) >= 0);
    if (!value.unit.empty()) require(write_hdf5_text(dataset, "units", value.unit));
  }
}

#endif

}  // namespace lepus
