// SPDX-License-Identifier: Apache-2.0
// What the readers of scans in HDF5 files share: the datasets by their paths, lengths in mm, the pixel.
#pragma once

#include <map>

#include "import/scanner.h"
#include "io/stored_values.h"

namespace lepus {

// The datasets of a file by their paths; whoever takes one says for what.
class StoredHeader {
public:
  explicit StoredHeader(const std::filesystem::path& file) : values_(list_stored_values(file)), file_(file) {}

  const std::filesystem::path& file() const { return file_; }
  const std::vector<StoredValue>& values() const { return values_; }
  const StoredValue* find(const std::string& path) const;
  const StoredValue* take(const std::string& path, const std::string& use);
  // The first of these that holds a number other than zero.
  const StoredValue* take_number(const std::vector<std::string>& paths, const std::string& use);
  std::vector<HeaderField> fields() const;

private:
  std::vector<StoredValue> values_;
  std::filesystem::path file_;
  std::map<std::string, std::string> uses_;
};

// Those of the files that hold a layout which is recognised by paths and shapes.
std::vector<std::filesystem::path> hdf5_files(const std::vector<std::filesystem::path>& files,
                                              bool (*recognised)(const std::vector<StoredValue>&));

ImportedScan begin_hdf5_scan(const StoredHeader& header, const char* scanner);

// Lengths carry their unit in an attribute; without one they are in metres. Error(input) where it is not known.
double length_mm(const StoredValue& value, const std::filesystem::path& file);

// Error(input) unless there is an angle for each view, or for each image.
void check_angle_count(const StoredValue& angles, std::int64_t views, std::int64_t images,
                       const std::filesystem::path& file);

// What a parallel beam's file need not say: its volume is then in pixels.
void set_pixel(ImportedScan& scan, const GivenNumbers& given, const StoredValue* width, const StoredValue* height);

// Behind a scintillator and optics the detector's own pixel is larger than what it sees of the object: a warning where
// `seen` was taken and another of these is in the file.
void warn_of_optics(const StoredHeader& header, const GivenNumbers& given, const StoredValue* seen,
                    const std::vector<std::string>& detector_paths, ImportedScan& scan);

void find_axis(ImportedScan& scan);  // in the frames

}  // namespace lepus
