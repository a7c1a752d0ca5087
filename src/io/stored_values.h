// SPDX-License-Identifier: Apache-2.0
// What an HDF5 file says about a scan: its datasets with their shapes, units and, where they are short, values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lepus {

struct StoredValue {
  std::string path;                 // "/entry/instrument/detector/x_pixel_size"
  std::vector<std::int64_t> shape;  // empty: a single value
  std::vector<double> numbers;      // the first of them, at most 64; none for a text
  std::string text, unit;           // a text; the attribute "units"

  std::int64_t count() const;  // of all elements
  std::string shown() const;   // for people: the text, or the shape and the first numbers
};

// In the order of their names, those behind links too. Throws Error(unsupported) in a build without HDF5. Shapes alone
// are enough to recognise a layout, and safe: texts of variable length are not, in a file that was damaged.
enum class StoredDetail { shapes, values };
std::vector<StoredValue> list_stored_values(const std::filesystem::path& file,
                                            StoredDetail detail = StoredDetail::values);

// Single numbers, lists and texts for a file that has its images already.
struct ValueToStore {
  std::string path;
  std::vector<double> numbers = {};        // one: a single value
  std::string text = {}, unit = {};        // a text where there are no numbers
  std::vector<std::uint16_t> pixels = {};  // images instead, of this size
  std::int64_t columns = 0, rows = 0;
};
void add_stored_values(const std::filesystem::path& file, const std::vector<ValueToStore>& values);

}  // namespace lepus
