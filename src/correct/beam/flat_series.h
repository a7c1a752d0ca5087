// SPDX-License-Identifier: Apache-2.0
// Flats taken before, during and after a scan: the open beam of every view by linear interpolation between the mean
// flats that were taken next to it. Flats (dark already subtracted) at positions in views -> I0 of any view.
#pragma once

#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "project/host_device.h"

namespace lepus {

// Between which two flats a view lies, and how near it is to the second.
struct FlatShare {
  std::int32_t before = 0, after = 0;
  float share = 0;  // of `after`; 0 where both are the same
};

// I0 of a pixel of value `before` in one flat and `after` in the next; written once for host and device.
LEPUS_HD inline float interpolated_flat(float before, float after, float share) {
  return before + share * (after - before);
}

// What a grey level made with `mean` is multiplied with to be one made with `flat`; 1 where the pixel is dead.
LEPUS_HD inline float flat_factor(float mean, float flat) { return mean > 0 && flat > 0 ? mean / flat : 1.0F; }

class FlatSeries {
public:
  // positions: of each flat in views, ascending: 0 is before the first view, v before view v, `views` after the last.
  // flats: one plane of rows x columns each. Throws Error(input) where the lists do not fit, positions do not ascend,
  // or a value is not finite.
  FlatSeries(std::int64_t columns, std::int64_t rows, std::int64_t views, std::vector<double> positions,
             std::vector<Buffer<float>> flats);

  std::int64_t columns() const { return columns_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t count() const { return static_cast<std::int64_t>(flats_.size()); }
  std::int64_t bytes() const;

  // A view is exposed in the middle of its step: view v counts as v + 1/2. Views before the first flat and after the
  // last take that flat.
  FlatShare share(std::int64_t view) const;

  // What a kernel needs: one entry per view, and the planes one after another.
  std::vector<FlatShare> shares() const;
  const float* plane(std::int64_t flat) const { return flats_[static_cast<std::size_t>(flat)].data(); }

  // I0 of one row of a view.
  void row(std::int64_t view, std::int64_t row, float* i0) const;

  // Pixels (row * columns + column, ascending) that are not above zero in every flat: no grey level can be made there.
  std::vector<std::int64_t> unusable() const;

private:
  std::int64_t columns_, rows_, views_;
  std::vector<double> positions_;
  std::vector<Buffer<float>> flats_;
};

// The definition in double precision, of one pixel: its value in each flat, at the flats' positions.
double interpolated_flat_reference(const std::vector<double>& positions, const std::vector<double>& values,
                                   std::int64_t view);

}  // namespace lepus
