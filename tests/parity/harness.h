// SPDX-License-Identifier: Apache-2.0
// Backprojection of any backend over the parity cases. Buffers are surrounded by values that must not be read (NaN) or
// written (a sentinel); comparisons are written so that NaN fails.
#pragma once

#include <cstdint>
#include <vector>

#include "device/backend.h"
#include "cases.h"
#include "geometry/row_band.h"

namespace lepus::parity {

// Filtered views: structure and noise; everything around the rows that a view holds is NaN.
class Views {
public:
  Views(const ScanGeometry& geometry, const std::vector<RowBand>& held);
  BandSet wedge(const Backprojector& b, std::int64_t first, std::int64_t count) const;

private:
  std::int64_t columns_, stride_ = 0;
  std::vector<RowBand> held_;
  std::vector<std::vector<float>> data_;
};

std::vector<RowBand> whole_views(const ScanGeometry& geometry);

struct Cut {
  std::int64_t slices = 1 << 20, views = 1 << 20;
  int threads = 1;
};

// The volume, x fastest; the slabs and wedges as `cut` has them.
std::vector<float> backproject(const Backprojector& b, const VolumeGrid& grid, const Views& views, const Cut& cut);

struct Difference {
  double rms = 0, largest = 0;  // over the reference's rms, over its largest value
};

// skip_borders: leave out voxels that some view sees so near to the border of two pixels that rounding may choose
// either.
Difference difference(const Case& c, const std::vector<float>& a, const std::vector<float>& reference,
                      bool skip_borders);

// Coordinates in single precision limit both: about 3e-6 and 1.4e-5 are expected.
inline constexpr double rms_bar = 1e-5, largest_bar = 1e-4;

}  // namespace lepus::parity
