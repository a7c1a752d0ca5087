// SPDX-License-Identifier: Apache-2.0
// The HDF5 library behind a lock; types, texts and attributes. hdf5_layout.cpp has the datasets.
#ifdef LEPUS_HAVE_HDF5

#include "io/hdf5_file.h"

#include <algorithm>

#include "core/format.h"
#include "io/file.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

std::recursive_mutex& library_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

}  // namespace

Hdf5Lock::Hdf5Lock() : lock_(library_mutex()) {
  H5Eget_auto2(H5E_DEFAULT, &handler_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Hdf5Lock::~Hdf5Lock() { H5Eset_auto2(H5E_DEFAULT, handler_, data_); }

std::string hdf5_message() {
  std::string message;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned, const H5E_error2_t* error, void* data) -> herr_t {
        auto& text = *static_cast<std::string*>(data);
        if (text.empty() && error->desc) text = error->desc;
        return 0;
      },
      &message);
  return message;
}

void throw_hdf5(const std::string& what, const std::string& where, const std::string& why) {
  throw Error(ErrorKind::input, {.what = what, .where = where, .why = why, .hint = "check or write the file again"});
}

Hdf5Id open_hdf5(const fs::path& path) {
  const InputFile readable(path);  // a missing or unreadable file gets the same message as in every other format
  const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
#if H5_VERSION_GE(1, 10, 7)
  H5Pset_file_locking(access, 0, 1);  // a scan on a read-only or network disk
#endif
  Hdf5Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), H5Fclose);
  if (!file.valid()) throw_hdf5("not a readable HDF5 file", path.string(), hdf5_message());
  return file;
}

std::optional<PixelType> hdf5_pixel_type(hid_t type) {
  const std::size_t size = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_INTEGER: {
      const bool is_signed = H5Tget_sign(type) == H5T_SGN_2;
      if (size == 1) return is_signed ? PixelType::i8 : PixelType::u8;
      if (size == 2) return is_signed ? PixelType::i16 : PixelType::u16;
      if (size == 4) return is_signed ? PixelType::i32 : PixelType::u32;
      if (size == 8) return PixelType::f64;
      return std::nullopt;
    }
    case H5T_FLOAT:
      if (size == 2 && H5Tequal(type, hdf5_type(PixelType::f16)) > 0) return PixelType::f16;
      if (size > sizeof(long double)) return std::nullopt;  // a damaged file; libhdf5 would make room for it
      return size <= 4 ? PixelType::f32 : PixelType::f64;
    default:
      return std::nullopt;
  }
}

namespace {

// The sign, 5 bits of exponent, 10 of mantissa; h5py knows it as float16.
hid_t make_half() {
  const hid_t type = H5Tcopy(H5T_IEEE_F32LE);
  H5Tset_fields(type, 15, 10, 5, 0, 10);
  H5Tset_size(type, 2);
  H5Tset_ebias(type, 15);
  return type;
}

}  // namespace

hid_t hdf5_type(PixelType type) {
  static const hid_t half = make_half();  // the library closes it
  switch (type) {
    case PixelType::u8:
      return H5T_STD_U8LE;
    case PixelType::i8:
      return H5T_STD_I8LE;
    case PixelType::u16:
      return H5T_STD_U16LE;
    case PixelType::i16:
      return H5T_STD_I16LE;
    case PixelType::u32:
      return H5T_STD_U32LE;
    case PixelType::i32:
      return H5T_STD_I32LE;
    case PixelType::f16:
      return half;
    case PixelType::f32:
      return H5T_IEEE_F32LE;
    case PixelType::f64:
      return H5T_IEEE_F64LE;
  }
  return -1;
}

namespace {

// The type of one text of fixed length that takes no more than `stored` bytes, else 0.
std::size_t fixed_text_length(hid_t type, hid_t space, hsize_t stored) {
  if (type < 0 || H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0 ||
      H5Sget_simple_extent_npoints(space) != 1)
    return 0;
  const std::size_t size = H5Tget_size(type);
  return size <= stored ? size : 0;
}

Hdf5Id text_type(std::size_t length) {
  Hdf5Id type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, std::max<std::size_t>(length, 1));
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

std::string until_zero(std::string text) {
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

}  // namespace

std::string read_hdf5_text(hid_t object, const char* name) {
  if (H5Aexists(object, name) <= 0) return {};
  const Hdf5Id attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  if (!attribute.valid()) return {};
  const Hdf5Id type(H5Aget_type(attribute), H5Tclose);
  const Hdf5Id space(H5Aget_space(attribute), H5Sclose);
  std::string text(fixed_text_length(type, space, std::min<hsize_t>(H5Aget_storage_size(attribute), 1 << 16)), '\0');
  if (text.empty() || H5Aread(attribute, type, text.data()) < 0) return {};
  return until_zero(std::move(text));
}

std::string read_hdf5_any_text(hid_t object, const char* name) {
  if (std::string text = read_hdf5_text(object, name); !text.empty() || H5Aexists(object, name) <= 0) return text;
  const Hdf5Id attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  const Hdf5Id type(H5Aget_type(attribute), H5Tclose);
  const Hdf5Id space(H5Aget_space(attribute), H5Sclose);
  if (!attribute.valid() || !type.valid() || H5Tis_variable_str(type) <= 0 || H5Sget_simple_extent_npoints(space) != 1)
    return {};
  char* text = nullptr;
  if (H5Aread(attribute, type, &text) < 0 || !text) return {};
  std::string copy = text;
  H5free_memory(text);
  return copy;
}

std::string read_hdf5_text_dataset(hid_t file, const std::string& path) {
  if (H5Lexists(file, path.c_str(), H5P_DEFAULT) <= 0) return {};
  const Hdf5Id dataset(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset.valid()) return {};
  const Hdf5Id type(H5Dget_type(dataset), H5Tclose);
  const Hdf5Id space(H5Dget_space(dataset), H5Sclose);
  std::string text(fixed_text_length(type, space, std::min<hsize_t>(H5Dget_storage_size(dataset), 256 << 20)), '\0');
  if (text.empty() || H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()) < 0) return {};
  return until_zero(std::move(text));
}

bool write_hdf5_text_dataset(hid_t file, const std::string& path, const std::string& text) {
  const Hdf5Id type = text_type(text.size());
  const Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose);
  Hdf5Id dataset(H5Dcreate2(file, path.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
  return dataset.valid() && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.c_str()) >= 0 &&
         dataset.reset() >= 0;
}

std::optional<std::vector<double>> read_hdf5_numbers(hid_t object, const char* name, std::size_t count) {
  if (H5Aexists(object, name) <= 0) return std::nullopt;
  const Hdf5Id attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  const Hdf5Id type(H5Aget_type(attribute), H5Tclose);
  const Hdf5Id space(H5Aget_space(attribute), H5Sclose);
  if (!attribute.valid() || !hdf5_pixel_type(type) ||
      H5Sget_simple_extent_npoints(space) != static_cast<hssize_t>(count))
    return std::nullopt;
  std::vector<double> numbers(count);
  if (H5Aread(attribute, H5T_NATIVE_DOUBLE, numbers.data()) < 0) return std::nullopt;
  return numbers;
}

bool write_hdf5_text(hid_t object, const char* name, const std::string& text) {
  const Hdf5Id type = text_type(text.size());
  const Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose);
  Hdf5Id attribute(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  return attribute.valid() && H5Awrite(attribute, type, text.c_str()) >= 0;
}

bool write_hdf5_numbers(hid_t object, const char* name, const std::vector<double>& numbers) {
  const hsize_t size = numbers.size();
  const Hdf5Id space(H5Screate_simple(1, &size, nullptr), H5Sclose);
  Hdf5Id attribute(H5Acreate2(object, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  return attribute.valid() && H5Awrite(attribute, H5T_NATIVE_DOUBLE, numbers.data()) >= 0;
}

}  // namespace lepus

#endif
