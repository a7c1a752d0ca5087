// SPDX-License-Identifier: Apache-2.0
// HDF5 files through the C library, which is not thread-safe and likes to print: every use happens under one lock with
// its printing switched off, and its messages become Error(input) with the name of the file. Include only where
// LEPUS_HAVE_HDF5 is defined.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <hdf5.h>

#include "io/frames.h"
#include "io/volume_file.h"

namespace lepus {

// Hold one while calling the library.
class Hdf5Lock {
public:
  Hdf5Lock();
  ~Hdf5Lock();
  Hdf5Lock(const Hdf5Lock&) = delete;
  Hdf5Lock& operator=(const Hdf5Lock&) = delete;

private:
  std::unique_lock<std::recursive_mutex> lock_;
  H5E_auto2_t handler_ = nullptr;
  void* data_ = nullptr;
};

// An identifier that is closed with the right function.
class Hdf5Id {
public:
  using Close = herr_t (*)(hid_t);
  Hdf5Id() = default;
  Hdf5Id(hid_t id, Close close) : id_(id), close_(close) {}
  Hdf5Id(Hdf5Id&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Id& operator=(Hdf5Id&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Hdf5Id() { reset(); }
  operator hid_t() const { return id_; }
  bool valid() const { return id_ >= 0; }
  herr_t reset() {  // the result of closing
    const hid_t id = std::exchange(id_, -1);
    return id >= 0 ? close_(id) : 0;
  }

private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

// The innermost message of the library's error stack.
std::string hdf5_message();
[[noreturn]] void throw_hdf5(const std::string& what, const std::string& where, const std::string& why);

Hdf5Id open_hdf5(const std::filesystem::path& path);  // read-only; Error(input)

struct Hdf5Images {
  std::filesystem::path file;  // that holds the pixels: another one where the dataset is an external link
  std::int64_t images = 0, rows = 0, columns = 0;
  int rank = 3;                        // 2: one image
  PixelType type = PixelType::f32;     // what reading gives
  std::optional<std::int64_t> offset;  // where the pixels lie one after another in the file
  bool big_endian = false;
  ValueScale scale = {};  // scale_factor and add_offset, the words of netCDF's conventions
};
// The shape of a dataset [images][rows][columns] or [rows][columns], checked against the size of the file; that its
// filters are there, and the files of a virtual dataset.
Hdf5Images inspect_hdf5(hid_t file, const std::string& dataset, const std::filesystem::path& path);
Hdf5Id open_hdf5_dataset(hid_t file, const std::string& dataset, const std::filesystem::path& path);
// Calls visit(dataset, path) for every dataset, those behind soft and external links too, until it returns false.
using Hdf5Visit = std::function<bool(hid_t dataset, const std::string& path)>;
void walk_hdf5_datasets(hid_t file, const Hdf5Visit& visit);
// Paths of all 2-D and 3-D datasets of numbers, those behind soft and external links too.
std::vector<std::string> list_hdf5_images(hid_t file);
// "/volume", or the only 3-D dataset of a file that somebody else wrote.
std::string volume_dataset(hid_t file);
// How objects are opened behind links, which must lead to plain files; `met`: gets those that external links lead to.
Hdf5Id hdf5_access(hid_t kind, std::vector<std::filesystem::path>* met = nullptr);
// The file in which a dataset lies, which its links may have led to from the one that was opened.
std::filesystem::path hdf5_file_of(hid_t dataset, const std::filesystem::path& opened);
// What a virtual dataset in `file` is made of.
struct Hdf5Source {
  std::string name, dataset;                 // as they are stored
  bool numbered = false;                     // the name has a %b: as many files as there are, perhaps none
  std::vector<std::filesystem::path> files;  // those that are there
};
std::vector<Hdf5Source> virtual_sources(hid_t creation, const std::filesystem::path& file);
// What a type in the file becomes in memory; nothing for text, compounds and the like.
std::optional<PixelType> hdf5_pixel_type(hid_t type);

hid_t hdf5_type(PixelType type);  // little-endian, in memory and in files that lepus writes

// Texts have a fixed length: those of variable length lie in a heap that libhdf5 1.10 reads without checking it, and a
// damaged file then ends the program. "" where there is none; one too long for an attribute (64 KiB) is a dataset.
std::string read_hdf5_text(hid_t object, const char* attribute);
// Of variable length, too: others write their attributes so. Only where nothing else will do.
std::string read_hdf5_any_text(hid_t object, const char* attribute);
std::string read_hdf5_text_dataset(hid_t file, const std::string& path);
bool write_hdf5_text_dataset(hid_t file, const std::string& path, const std::string& text);
inline constexpr std::size_t longest_hdf5_attribute = 60000;
std::optional<std::vector<double>> read_hdf5_numbers(hid_t object, const char* attribute, std::size_t count);
bool write_hdf5_text(hid_t object, const char* attribute, const std::string& text);
bool write_hdf5_numbers(hid_t object, const char* attribute, const std::vector<double>& numbers);

}  // namespace lepus
