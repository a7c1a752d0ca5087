// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy and .npz: which arrays there are and where. What an .npy has no place for stands in the JSON beside it,
// in an .npz in arrays of their own: origin_mm, step_mm, unit, provenance, value_scale (slope, offset).
#include <algorithm>

#include "core/format.h"
#include "io/file.h"
#include "io/header_text.h"
#include "io/inflate.h"
#include "io/json_text.h"
#include "io/npy_header.h"
#include "io/zip_archive.h"

namespace lepus {
namespace fs = std::filesystem;

namespace {

StoredArray array_of(const InputFile& file, const ZipEntry& entry) {
  StoredArray array;
  if (entry.packed) {
    Inflater inflater(file, entry.data, entry.packed_bytes, false);
    array = parse_npy_header([&](void* out, std::int64_t bytes) { return inflater.read(out, bytes); }, file.path());
    array.packed = StoredArray::Packed{.offset = entry.data, .bytes = entry.packed_bytes, .zlib = false};
  } else {
    std::int64_t at = entry.data;
    const std::int64_t end = entry.data + entry.bytes;
    array = parse_npy_header(
        [&](void* out, std::int64_t bytes) {
          const std::int64_t count = std::min(bytes, end - at);
          file.read(at, out, count);
          at += count;
          return count;
        },
        file.path());
    array.offset += entry.data;
  }
  array.name = entry.name.substr(0, entry.name.size() - 4);
  return array;
}

// A text that lepus wrote as an array of bytes.
std::string text_of(const InputFile& file, const ZipEntry& entry, const StoredArray& array) {
  constexpr std::int64_t longest = std::int64_t{256} << 20;
  const std::int64_t bytes = entry.data + entry.bytes - array.offset;
  if (entry.packed || bytes < 0 || bytes > longest) return {};
  std::string text(static_cast<std::size_t>(bytes), '\0');
  file.read(array.offset, text.data(), bytes);
  return text;
}

void set_scale(StoredArray& array, const ValueScale& scale) {
  if (scale.is_identity()) return;
  array.number = StoredNumber::scaled;
  array.scale = scale;
}

Vec3 vector_of(const fs::path& file, const StoredArray& array) {
  const std::vector<double> v = read_numbers(file, array, 3);
  if (v.size() != 3) throw_bad_header(file, format("{} has {} numbers, expected 3", array.name, v.size()));
  return {v[0], v[1], v[2]};
}

ValueScale scale_of(const fs::path& file, const StoredArray& array) {
  const std::vector<double> v = read_numbers(file, array, 2);
  if (v.size() != 2 || !ValueScale{v[0], v[1]}.is_usable())
    throw_bad_header(file, format("{} is not a slope and an offset", array.name));
  return {v[0], v[1]};
}

}  // namespace

ArrayFile read_npy(const fs::path& path) {
  const InputFile file(path);
  std::int64_t at = 0;
  ArrayFile found{.format = "NumPy array", .arrays = {}, .unit = {}, .provenance = {}};
  found.arrays.push_back(parse_npy_header(
      [&](void* out, std::int64_t bytes) {
        const std::int64_t count = std::min(bytes, file.size() - at);
        file.read(at, out, count);
        at += count;
        return count;
      },
      path));
  const fs::path side_car = side_car_of(path);
  std::error_code code;
  if (!fs::is_regular_file(side_car, code)) return found;
  const StackDescription d = stack_from_json(read_text_file(side_car, std::int64_t{256} << 20), side_car.string());
  const std::vector<std::int64_t> size{d.shape.images, d.shape.rows, d.shape.columns};
  if (found.arrays.front().shape != size)
    throw_bad_header(path, format("{} describes {} x {} x {} pixels, the array has another shape", side_car.string(),
                                  d.shape.columns, d.shape.rows, d.shape.images));
  if (const StoredArray& array = found.arrays.front();
      array.number != StoredNumber::pixel || array.type != d.shape.type)
    throw_bad_header(path, format("{} describes pixels of type {}, the array has another: was it written over?",
                                  side_car.string(), name_of(d.shape.type)));
  if (d.text.grid) {
    found.origin_mm = d.text.grid->origin_mm;
    found.step_mm = d.text.grid->step_mm;
  }
  found.unit = d.text.unit;
  found.provenance = d.provenance;
  set_scale(found.arrays.front(), d.text.scale);
  return found;
}

ArrayFile read_npz(const fs::path& path) {
  const InputFile file(path);
  ArrayFile found{.format = "NumPy archive", .arrays = {}, .unit = {}, .provenance = {}};
  ValueScale scale;
  for (const ZipEntry& entry : read_zip_directory(file)) {
    if (!entry.name.ends_with(".npy")) continue;
    StoredArray array = array_of(file, entry);
    if (array.name == "unit") found.unit = text_of(file, entry, array);
    if (array.name == "provenance") found.provenance = text_of(file, entry, array);
    if (array.name == "origin_mm") found.origin_mm = vector_of(path, array);
    if (array.name == "step_mm") found.step_mm = vector_of(path, array);
    if (array.name == "value_scale") scale = scale_of(path, array);
    found.arrays.push_back(std::move(array));
  }
  for (StoredArray& array : found.arrays)
    if (array.name == "volume") set_scale(array, scale);
  if (!is_json(found.provenance, path.string())) found.provenance.clear();
  return found;
}

}  // namespace lepus
