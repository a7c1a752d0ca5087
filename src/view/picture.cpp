// SPDX-License-Identifier: Apache-2.0
#include "view/picture.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/format.h"

namespace lepus::view {
namespace {

static_assert(std::endian::native == std::endian::little, "pictures are sent as they lie in memory");

constexpr std::int64_t maximum_pixels = std::int64_t{1} << 26, maximum_voxels = std::int64_t{1} << 28;

struct PictureAxes {
  std::size_t columns, rows;
};
PictureAxes axes_of(std::size_t axis) {
  return axis == 2 ? PictureAxes{0, 1} : axis == 1 ? PictureAxes{0, 2} : PictureAxes{1, 2};
}

// [first, end) of level 0 in voxels of a level: all that it touches.
std::pair<std::int64_t, std::int64_t> in_level(std::int64_t first, std::int64_t end, const Level& level,
                                               std::size_t axis) {
  const std::int64_t n = level.size()[axis];
  const std::int64_t begin = std::min(first / level.factor, n - 1);
  return {begin, std::clamp((end + level.factor - 1) / level.factor, begin + 1, n)};
}

void set_along(VolumePart& part, std::size_t axis, std::pair<std::int64_t, std::int64_t> range) {
  part.first[axis] = range.first;
  part.end[axis] = range.second;
}

// The part of a slab, and how it is drawn.
struct SlicePlan {
  const Level* level;
  std::int64_t number, step;
  VolumePart part;
};

SlicePlan plan_of(const SliceQuery& q, const OpenedVolume& volume) {
  const std::size_t columns = axes_of(q.axis).columns, rows = axes_of(q.axis).rows;
  const auto part_at = [&](const Level& level) {
    VolumePart part;
    set_along(part, columns, in_level(q.box[0], q.box[1], level, columns));
    set_along(part, rows, in_level(q.box[2], q.box[3], level, rows));
    const std::int64_t slices = q.mode == "one" ? 1 : q.slab;
    const std::int64_t first = std::max<std::int64_t>(0, q.index - (slices - 1) / 2);
    const std::int64_t end = std::min(volume.size()[q.axis], std::max(first, q.index - (slices - 1) / 2 + slices));
    set_along(part, q.axis, in_level(first, std::max(end, first + 1), level, q.axis));
    if (slices == 1) part.end[q.axis] = part.first[q.axis] + 1;
    return part;
  };
  const auto side = [&](const VolumePart& part) { return std::max(part.along(columns), part.along(rows)); };
  SlicePlan plan{};
  plan.number = q.level.value_or(0);
  if (!q.level)
    while (plan.number + 1 < static_cast<std::int64_t>(volume.levels.size()) &&
           side(part_at(volume.levels[static_cast<std::size_t>(plan.number)])) > q.maximum)
      ++plan.number;
  plan.level = &volume.levels[static_cast<std::size_t>(plan.number)];
  plan.part = part_at(*plan.level);
  plan.step = q.step.value_or((side(plan.part) + q.maximum - 1) / q.maximum);
  plan.part.step[columns] = plan.part.step[rows] = plan.step;
  if (plan.part.along(columns) * plan.part.along(rows) > maximum_pixels || plan.part.voxels() > maximum_voxels)
    throw Refusal(413, {.what = "this picture is too large",
                        .where = {},
                        .why = format("{} x {} pixels of {} slices", plan.part.along(columns), plan.part.along(rows),
                                      plan.part.along(q.axis)),
                        .hint = "ask for a part of it, for a larger step or for fewer slices"});
  return plan;
}

// NaN loses against any number.
void combine(const std::string& mode, const std::vector<float>& slice, std::vector<float>& sum,
             std::vector<std::int32_t>& counts) {
  for (std::size_t i = 0; i < slice.size(); ++i) {
    if (std::isnan(slice[i])) continue;
    if (counts[i]++ == 0) {
      sum[i] = slice[i];
    } else if (mode == "mean") {
      sum[i] += slice[i];
    } else {
      sum[i] = mode == "max" ? std::max(sum[i], slice[i]) : std::min(sum[i], slice[i]);
    }
  }
}

std::uint8_t grey(float value, double low, double scale) {
  double level = (static_cast<double>(value) - low) * scale;
  level = level > 0 ? level : 0;  // NaN too
  level = (level < 255 ? level : 255) + 0.5;
  return static_cast<std::uint8_t>(static_cast<std::int32_t>(level));
}

// 1 to 65535; infinities are cut off.
std::uint16_t step_of(float value, float low, float scale) {
  float level = (value - low) * scale;
  level = level > 0 ? std::min(level, 65534.0F) + 1.5F : 1.5F;  // 0 times infinity, too
  return std::isnan(value) ? std::uint16_t{0} : static_cast<std::uint16_t>(static_cast<std::int32_t>(level));
}

GreyRange not_empty(GreyRange range) {
  if (!(range.high > range.low)) range.high = range.low + std::max(1e-6, std::abs(range.low) * 1e-3);
  return range;
}

}  // namespace

std::optional<GreyRange> range_of(Query& query) {
  const auto given = query.numbers("window", 2);
  if (!given) return std::nullopt;
  if (!((*given)[1] > (*given)[0])) refuse_parameter("window", "its second value must be above the first");
  return GreyRange{(*given)[0], (*given)[1]};
}

PixelFormat format_of(Query& query) {
  const std::string word = query.word("format", {"u8", "u16", "f32", "u32"});
  if (word == "u8") return PixelFormat::u8;
  if (word == "u16") return PixelFormat::u16;
  return word == "f32" ? PixelFormat::f32 : PixelFormat::u32;
}

std::int64_t bytes_per_pixel(PixelFormat format) {
  return format == PixelFormat::u8 ? 1 : format == PixelFormat::u16 ? 2 : 4;
}

GreyRange range_of_values(const std::vector<float>& values) {
  float low = std::numeric_limits<float>::max(), high = std::numeric_limits<float>::lowest();
  for (const float value : values) {
    low = value < low && value >= std::numeric_limits<float>::lowest() ? value : low;  // NaN compares false
    high = value > high && value <= std::numeric_limits<float>::max() ? value : high;
  }
  return low <= high ? not_empty({low, high}) : GreyRange{};
}

GreyRange default_range(const ValueSample& sample) {
  return not_empty({sample.percentile(0.1).value_or(0), sample.percentile(99.9).value_or(1)});
}

std::string bytes_of(const std::vector<float>& values, PixelFormat format, const GreyRange& range) {
  std::string bytes(values.size() * static_cast<std::size_t>(bytes_per_pixel(format)), '\0');
  if (format == PixelFormat::f32) {
    std::memcpy(bytes.data(), values.data(), bytes.size());
  } else if (format == PixelFormat::u8) {
    const double scale = 255 / (range.high - range.low);
    for (std::size_t i = 0; i < values.size(); ++i) bytes[i] = static_cast<char>(grey(values[i], range.low, scale));
  } else if (format == PixelFormat::u16) {
    const auto low = static_cast<float>(range.low), scale = static_cast<float>(65534 / (range.high - range.low));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint16_t step = step_of(values[i], low, scale);
      std::memcpy(bytes.data() + 2 * i, &step, 2);
    }
  } else {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double limited = std::clamp(static_cast<double>(values[i]), 0.0, 4294967295.0);
      const auto label = std::isnan(values[i]) ? 0U : static_cast<std::uint32_t>(std::floor(limited + 0.5));
      std::memcpy(bytes.data() + 4 * i, &label, 4);
    }
  }
  return bytes;
}

SliceQuery slice_query(Query& query, const OpenedVolume& volume) {
  SliceQuery q;
  const std::string axis = query.word("axis", {"z", "y", "x"});
  q.axis = axis == "z" ? 2 : axis == "y" ? 1 : 0;
  const auto size = volume.size();
  q.index = query.integer("index", size[q.axis] / 2, 0, size[q.axis] - 1);
  q.level = query.integer_or_auto("level", 0, 0, static_cast<std::int64_t>(volume.levels.size()) - 1);
  q.step = query.integer_or_auto("step", 1, 1, std::int64_t{1} << 31);
  q.maximum = query.integer("max", 1024, 1, 8192);
  q.slab = query.integer("slab", 1, 1, size[q.axis]);
  q.mode = query.word("mode", {"one", "max", "min", "mean"});
  const auto [columns, rows] = axes_of(q.axis);
  q.box = {0, size[columns], 0, size[rows]};
  if (const auto given = query.integers("box", 4)) {
    std::ranges::copy(*given, q.box.begin());
    const auto inside = [](std::int64_t low, std::int64_t high, std::int64_t n) {
      return low >= 0 && low < high && high <= n;
    };
    if (!inside(q.box[0], q.box[1], size[columns]) || !inside(q.box[2], q.box[3], size[rows]))
      refuse_parameter("box", format("the slice has {} x {} voxels", size[columns], size[rows]));
  }
  return q;
}

SlicePicture plan_slice(const SliceQuery& query, const OpenedVolume& volume) {
  const SlicePlan plan = plan_of(query, volume);
  const auto [columns, rows] = axes_of(query.axis);
  return {plan.part.along(columns), plan.part.along(rows), plan.number, plan.step, plan.step * plan.level->factor, {}};
}

SlicePicture slice_of(const SliceQuery& query, const OpenedVolume& volume, PartCache& cache) {
  const SlicePlan plan = plan_of(query, volume);
  SlicePicture picture = plan_slice(query, volume);
  const auto pixels = static_cast<std::size_t>(picture.width * picture.height);
  picture.values.resize(pixels);
  const std::int64_t first = plan.part.first[query.axis], end = plan.part.end[query.axis];
  VolumePart one = plan.part;
  const auto read = [&](std::int64_t at, std::vector<float>& values) {
    one.first[query.axis] = at;
    one.end[query.axis] = at + 1;
    read_level(*plan.level, one, cache, values.data());
  };
  if (end - first == 1) {
    read(first, picture.values);
    return picture;
  }
  std::vector<float> slice(pixels);
  std::vector<std::int32_t> counts(pixels);
  std::ranges::fill(picture.values, std::numeric_limits<float>::quiet_NaN());
  for (std::int64_t at = first; at < end; ++at) {
    read(at, slice);
    combine(query.mode, slice, picture.values, counts);
  }
  if (query.mode == "mean")
    for (std::size_t i = 0; i < pixels; ++i)
      if (counts[i] > 1) picture.values[i] /= static_cast<float>(counts[i]);
  return picture;
}

std::array<std::int64_t, 6> box_of(Query& query, const OpenedVolume& volume) {
  const auto size = volume.size();
  std::array<std::int64_t, 6> box{0, size[0], 0, size[1], 0, size[2]};
  if (const auto given = query.integers("box", 6)) {
    std::ranges::copy(*given, box.begin());
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (box[2 * axis] < 0 || box[2 * axis] >= box[2 * axis + 1] || box[2 * axis + 1] > size[axis])
        refuse_parameter("box", format("the volume has {} x {} x {} voxels", size[0], size[1], size[2]));
  }
  return box;
}

BoxPart plan_box(const BoxQuery& query, const OpenedVolume& volume) {
  const auto part_at = [&](const Level& level) {
    VolumePart part;
    for (std::size_t axis = 0; axis < 3; ++axis)
      set_along(part, axis, in_level(query.box[2 * axis], query.box[2 * axis + 1], level, axis));
    return part;
  };
  const auto side = [](const VolumePart& part) { return std::max({part.along(0), part.along(1), part.along(2)}); };
  BoxPart plan;
  while (plan.level + 1 < volume.levels.size() && side(part_at(volume.levels[plan.level])) > query.maximum)
    ++plan.level;
  plan.part = part_at(volume.levels[plan.level]);
  const std::int64_t step = (side(plan.part) + query.maximum - 1) / query.maximum;
  plan.part.step = {step, step, step};
  return plan;
}

std::string box_bytes(const BoxPart& plan, const OpenedVolume& volume, PartCache& cache, PixelFormat format,
                      const GreyRange& range) {
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(plan.part.voxels() * bytes_per_pixel(format)));
  VolumePart slab = plan.part;
  std::vector<float> values(static_cast<std::size_t>(plan.part.along(0) * plan.part.along(1)));
  for (std::int64_t z = plan.part.first[2]; z < plan.part.end[2]; z += plan.part.step[2]) {
    slab.first[2] = z;
    slab.end[2] = z + 1;
    read_level(volume.levels[plan.level], slab, cache, values.data());
    bytes += bytes_of(values, format, range);
  }
  return bytes;
}

}  // namespace lepus::view
