// SPDX-License-Identifier: Apache-2.0
// What corrections work on: a stack of pictures of one size, in host or in device memory. A band of detector rows of
// all views lies as [row][view][column]; it is a stack of sinograms (one per row) and a stack of frames (one per view)
// at once, without a copy.
#pragma once

#include <cstdint>

#include "geometry/row_band.h"
#include "project/host_device.h"

namespace lepus {

// `count` pictures of height x width floats. Rows are row_stride floats apart, pictures plane_stride.
struct Planes {
  float* data = nullptr;
  std::int64_t width = 0, height = 0, row_stride = 0;
  std::int64_t count = 1, plane_stride = 0;

  LEPUS_HD float* row(std::int64_t plane, std::int64_t y) const { return data + plane * plane_stride + y * row_stride; }
};

// Rows [rows.first, rows.last) of all views of a detector of `detector_rows` rows.
struct SinogramBand {
  float* data = nullptr;
  std::int64_t columns = 0, views = 0;
  RowBand rows;
  std::int64_t detector_rows = 0;

  std::int64_t floats() const { return rows.size() * views * columns; }
  Planes sinograms(RowBand part) const {  // width: columns, height: views, one per row of `part`
    return {data + (part.first - rows.first) * views * columns, columns, views, columns, part.size(), views * columns};
  }
  Planes frames() const {  // width: columns, height: rows of the band, one per view
    return {data, columns, rows.size(), views * columns, views, columns};
  }
};

}  // namespace lepus
