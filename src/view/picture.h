// SPDX-License-Identifier: Apache-2.0
// Pictures of a volume: slices across an axis, slabs of them, boxes for 3-D, any plane; as floats, and as the bytes
// that are sent.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "view/opened_volume.h"
#include "view/request.h"
#include <lepus/math.h>

namespace lepus::view {

struct GreyRange {
  double low = 0, high = 1;
};
enum class PixelFormat { u8, u16, f32, u32 };
std::int64_t bytes_per_pixel(PixelFormat format);

std::optional<GreyRange> range_of(Query& query);  // window=LO,HI
PixelFormat format_of(Query& query);
// 0.1 to 99.9 % of the sample; 0 to 1 where nothing is finite, and never empty.
GreyRange default_range(const ValueSample& sample);
// From the smallest finite value to the largest; 0 to 1 where there is none, and never empty.
GreyRange range_of_values(const std::vector<float>& values);

// Little-endian, to be sent: u8 by the range (rounded, cut off, NaN is 0), u16 likewise from 1 to 65535 (0 is NaN
// alone), u32 rounded.
std::string bytes_of(const std::vector<float>& values, PixelFormat format, const GreyRange& range);

struct SliceQuery {
  std::size_t axis = 2;  // 0 is x
  std::int64_t index = 0;
  std::optional<std::int64_t> level = 0, step = 1;  // nothing: such that no side passes `maximum`
  std::int64_t maximum = 1024;
  std::array<std::int64_t, 4> box{};  // columns and rows, of level 0
  std::int64_t slab = 1;
  std::string mode = "one";
};
SliceQuery slice_query(Query& query, const OpenedVolume& volume);

struct SlicePicture {
  std::int64_t width = 0, height = 0, level = 0, step = 1, factor = 1;
  std::vector<float> values;
};
// What it will be, without values.
SlicePicture plan_slice(const SliceQuery& query, const OpenedVolume& volume);
SlicePicture slice_of(const SliceQuery& query, const OpenedVolume& volume, PartCache& cache);

struct BoxQuery {
  std::array<std::int64_t, 6> box{};  // x0, x1, y0, y1, z0, z1
  std::int64_t maximum = 256;
};
// The voxels of level 0; all of them where no box is given.
std::array<std::int64_t, 6> box_of(Query& query, const OpenedVolume& volume);

struct BoxPart {
  std::size_t level = 0;
  VolumePart part;
};
BoxPart plan_box(const BoxQuery& query, const OpenedVolume& volume);
std::string box_bytes(const BoxPart& plan, const OpenedVolume& volume, PartCache& cache, PixelFormat format,
                      const GreyRange& range);

}  // namespace lepus::view
