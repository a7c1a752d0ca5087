// SPDX-License-Identifier: Apache-2.0
#include "view/opened_volume.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/format.h"
#include "core/json.h"
#include "io/pixels.h"
#include "io/stack.h"
#include "view/in_parallel.h"
#include "view/running_volume.h"
#include <lepus/error.h>

namespace lepus::view {
namespace {

constexpr std::int64_t whole_sample = std::int64_t{1} << 21;      // volumes up to this are looked at whole
constexpr std::int64_t thinnest_block = 16, thickest_block = 64;  // columns; 16 floats are a cache line
constexpr std::int64_t longest_run_bytes = 1 << 16;               // of rows that are read together

std::string short_name(const std::string& numpy_name) {
  static const std::map<std::string, std::string> names{{"uint8", "u8"},    {"int8", "i8"},    {"uint16", "u16"},
                                                        {"int16", "i16"},   {"uint32", "u32"}, {"int32", "i32"},
                                                        {"float32", "f32"}, {"float64", "f64"}};
  const auto found = names.find(numpy_name);
  return found == names.end() ? numpy_name : found->second;
}

// How many times coarser a grid is; nothing where the axes differ, or it is no whole number.
std::optional<std::int64_t> factor_between(const VolumeGrid& fine, const VolumeGrid& coarse) {
  const double x = coarse.step_mm.x / fine.step_mm.x, y = coarse.step_mm.y / fine.step_mm.y,
               z = coarse.step_mm.z / fine.step_mm.z;
  const double factor = std::round(x);
  const auto differs = [&](double other) { return !(std::abs(other - factor) < 1e-6 * factor); };
  if (!(factor >= 2 && factor <= 1 << 20) || differs(x) || differs(y) || differs(z)) return std::nullopt;
  const auto whole = static_cast<std::int64_t>(factor);
  const auto fits = [&](std::int64_t n, std::int64_t m) { return m >= n / whole && m <= (n + whole - 1) / whole; };
  if (!fits(fine.nx, coarse.nx) || !fits(fine.ny, coarse.ny) || !fits(fine.nz, coarse.nz)) return std::nullopt;
  return whole;
}

void add_zarr_levels(const std::filesystem::path& folder, OpenedVolume& volume) {
  for (int number = 1; number < 32; ++number) {
    std::shared_ptr<const VolumeReader> reader;
    try {
      reader = open_zarr(folder, number);
    } catch (const Error&) {
      return;  // there are no more, or it cannot be read: the file itself can
    }
    if (const auto factor = factor_between(volume.grid, reader->grid());
        factor && *factor > volume.levels.back().factor)
      volume.levels.push_back({*factor, std::move(reader), PartCache::new_source()});
  }
}

// Rows of a plain file, each a read of its own, by several threads where they are many.
void read_rows(const VolumeReader& volume, const VolumePart& part, float* out) {
  constexpr std::int64_t rows_worth_it = 1024;
  const std::int64_t slices = part.along(2), slice = part.along(0) * part.along(1);
  const std::int64_t pieces =
      part.along(1) * slices < rows_worth_it ? 1 : std::min<std::int64_t>(slices, 4 * threads_that_read);
  in_parallel(threads_that_read, pieces, [&](std::int64_t piece) {
    const std::int64_t begin = piece * slices / pieces, end = (piece + 1) * slices / pieces;
    VolumePart some = part;
    some.first[2] = part.first[2] + begin * part.step[2];
    some.end[2] = std::min(part.end[2], part.first[2] + end * part.step[2]);
    if (begin < end) read_part(volume, some, out + begin * slice);
  });
}

// Of plain files rows of some slices, of packed ones some slices, of pyramids the coarsest level that has enough.
ValueSample sample_of(const OpenedVolume& volume) {
  const Level* level = &volume.levels.front();
  for (const Level& coarser : volume.levels)
    if (coarser.reader->grid().voxels() >= whole_sample / 4) level = &coarser;
  const VolumeGrid& grid = level->reader->grid();
  VolumePart part{{0, 0, 0}, level->size(), {1, 1, 1}};
  if (grid.voxels() > whole_sample) {
    const std::int64_t slices = std::min<std::int64_t>(grid.nz, 16);
    const std::int64_t rows = std::clamp<std::int64_t>(whole_sample / (slices * grid.nx), 1, grid.ny);
    part.step = {1, grid.ny / rows, grid.nz / slices};
    part.step[0] = std::max<std::int64_t>(1, part.voxels() / (2 * whole_sample));
    part.first = {part.step[0] / 2, part.step[1] / 2, part.step[2] / 2};
  }
  ValueSample sample;
  sample.values.resize(static_cast<std::size_t>(part.voxels()));
  if (is_plain(*level)) {
    read_rows(*level->reader, part, sample.values.data());
  } else {
    read_part(*level->reader, part, sample.values.data());
  }
  sample.looked_at = part.voxels();
  sample.whole = sample.looked_at == volume.grid.voxels();
  std::erase_if(sample.values, [](float value) { return !std::isfinite(value); });
  std::ranges::sort(sample.values);
  return sample;
}

// Copies what of a brick is in the part.
void copy_from_brick(const std::vector<float>& values, const VolumePart& brick, const VolumePart& part, float* out) {
  std::array<std::int64_t, 3> begin{}, end{};  // steps of the part that lie in the brick
  for (std::size_t axis = 0; axis < 3; ++axis) {
    begin[axis] = part.steps_before(axis, brick.first[axis]);
    end[axis] = part.steps_before(axis, brick.end[axis]);
  }
  for (std::int64_t k = begin[2]; k < end[2]; ++k)
    for (std::int64_t j = begin[1]; j < end[1]; ++j) {
      const std::int64_t z = part.first[2] + k * part.step[2] - brick.first[2];
      const std::int64_t y = part.first[1] + j * part.step[1] - brick.first[1];
      const float* from = values.data() + (z * brick.along(1) + y) * brick.along(0) + part.first[0] - brick.first[0];
      float* to = out + (k * part.along(1) + j) * part.along(0);
      for (std::int64_t i = begin[0]; i < end[0]; ++i) to[i] = from[i * part.step[0]];
    }
}

// How many slices across x or y are read together: a read of the file brings as much as it can without taking longer.
std::int64_t block_thickness(std::size_t axis, const Level& level, std::int64_t slice_bytes, std::int64_t cache_bytes) {
  const std::int64_t row_bytes = 4 * level.size()[0];
  const std::int64_t thickest = axis == 0 ? thickest_block : std::max<std::int64_t>(1, longest_run_bytes / row_bytes);
  std::int64_t thickness = axis == 0 ? thinnest_block : 1;
  while (2 * thickness <= thickest && 2 * thickness * slice_bytes <= cache_bytes / 8) thickness *= 2;
  return thickness;
}

// Of a plain file a slice across x costs a read per voxel and one across y a read per row; their neighbours in the
// file cost the same: whoever scrolls asks for them next.
bool read_from_block(const Level& level, const VolumePart& part, PartCache& cache, float* out) {
  const std::size_t axis = part.along(0) == 1 ? 0 : 1;
  if (part.along(axis) != 1 || part.along(1 - axis) < 2 || part.along(2) < 2) return false;
  const std::int64_t slice_bytes = 4 * part.along(1 - axis) * part.along(2);
  const std::int64_t thickness = block_thickness(axis, level, slice_bytes, cache.limit());
  if (thickness == 1 || thickness * slice_bytes > cache.limit() / 4) return false;
  VolumePart block = part;
  block.step[axis] = 1;
  block.first[axis] = part.first[axis] / thickness * thickness;
  block.end[axis] = std::min(block.first[axis] + thickness, level.size()[axis]);
  const auto values =
      cache.get(level.source, block, [&](const VolumePart& wide, float* to) { read_rows(*level.reader, wide, to); });
  const std::int64_t run = axis == 0 ? 1 : part.along(0), distance = run * block.along(axis);
  const float* from = values->data() + (part.first[axis] - block.first[axis]) * run;
  for (std::int64_t i = 0; i < part.voxels() / run; ++i) out = std::copy_n(from + i * distance, run, out);
  return true;
}

}  // namespace

std::optional<double> ValueSample::percentile(double percent) const {
  if (values.empty()) return std::nullopt;
  const double at = percent / 100 * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  const double share = at - static_cast<double>(below);
  if (values[below] == values[above]) return values[below];  // which the shares of it add up to only nearly
  return (1 - share) * static_cast<double>(values[below]) + share * static_cast<double>(values[above]);
}

std::shared_ptr<const OpenedVolume> open_for_viewing(const std::filesystem::path& path) {
  auto volume = std::make_shared<OpenedVolume>();
  volume->path = path;
  std::shared_ptr<const VolumeReader> reader;
  if (is_partial_name(path)) {
    reader = open_running_volume(path);
  } else {
    reader = open_volume(path);
  }
  volume->grid = reader->grid();
  volume->type = short_name(reader->pixel_type());
  volume->unit = reader->unit().empty() ? "raw" : reader->unit();
  const auto provenance = json_or_discarded(reader->provenance());
  if (provenance.is_object() && provenance.contains("field_of_view_mm") && provenance["field_of_view_mm"].is_number())
    volume->field_of_view_mm = provenance["field_of_view_mm"].get<double>();
  volume->levels.push_back({1, std::move(reader), PartCache::new_source()});
  if (const auto zarr = split_zarr_level(path); zarr && zarr->second == 0) add_zarr_levels(zarr->first, *volume);
  volume->sample = sample_of(*volume);
  return volume;
}

std::shared_ptr<const OpenedVolume> with_pyramid(const OpenedVolume& volume, const std::filesystem::path& pyramid) {
  auto more = std::make_shared<OpenedVolume>(volume);
  more->levels.resize(1);
  add_zarr_levels(pyramid, *more);
  return more;
}

VolumeWriterOptions options_of_copy(const VolumeReader& volume) {
  VolumeWriterOptions options;
  options.unit = volume.unit();
  options.threads = 1;
  if (const auto type = pixel_type_named(volume.pixel_type());
      type && (*type == PixelType::u8 || *type == PixelType::u16 || *type == PixelType::i16)) {
    options.type = *type;
    options.scale = volume.scale();
  }
  return options;
}

bool is_plain(const Level& level) { return brick_of(*level.reader) == std::array<std::int64_t, 3>{1, 1, 1}; }

void read_level(const Level& level, const VolumePart& part, PartCache& cache, float* out) {
  if (is_plain(level)) {
    if (!read_from_block(level, part, cache, out)) read_rows(*level.reader, part, out);
    return;
  }
  const auto brick = brick_of(*level.reader);
  const auto size = level.size();
  std::vector<VolumePart> wanted;
  for (std::int64_t z = part.first[2] / brick[2]; z * brick[2] < part.end[2]; ++z)
    for (std::int64_t y = part.first[1] / brick[1]; y * brick[1] < part.end[1]; ++y)
      for (std::int64_t x = part.first[0] / brick[0]; x * brick[0] < part.end[0]; ++x) {
        const std::array<std::int64_t, 3> at{x, y, z};
        VolumePart whole;
        bool touched = true;  // steps may pass over it
        for (std::size_t axis = 0; axis < 3; ++axis) {
          whole.first[axis] = at[axis] * brick[axis];
          whole.end[axis] = std::min(size[axis], whole.first[axis] + brick[axis]);
          touched = touched && part.steps_before(axis, whole.first[axis]) < part.steps_before(axis, whole.end[axis]);
        }
        if (touched) wanted.push_back(whole);
      }
  in_parallel(threads_that_unpack, static_cast<std::int64_t>(wanted.size()), [&](std::int64_t i) {
    const VolumePart& whole = wanted[static_cast<std::size_t>(i)];
    const auto values =
        cache.get(level.source, whole, [&](const VolumePart& one, float* to) { read_part(*level.reader, one, to); });
    copy_from_brick(*values, whole, part, out);
  });
}

}  // namespace lepus::view
