// SPDX-License-Identifier: Apache-2.0
// Exact Euclidean distances: for every voxel that is one, the squared distance from its centre to that of the nearest
// voxel that is zero; zero elsewhere. Along x, then y, then z (Saito, Toriwaki 1994; Felzenszwalb, Huttenlocher 2012).
// Voxels outside the volume are neither one nor zero, as in SciPy, unless they are asked to be zero. Where nothing is
// zero: `far`.
// Integers where voxels are cubes (in voxels^2), doubles where they are not (in mm^2): both exact up to the last bit.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "analysis/bit_volume.h"
#include <lepus/math.h>

namespace lepus::analysis {

template <class T>
inline constexpr T far = std::numeric_limits<T>::max() / 4;  // room to add the square of a coordinate

// Squared lengths of steps along x, y and z: 1, 1, 1 counts voxels.
template <class T>
struct SquaredSteps {
  T x = 1, y = 1, z = 1;
};

// The lower envelope of parabolas, one column: g[i] = min over j of f[j] + (i - j)^2 step. The plain O(n^2) definition
// is what the tests hold it against.
template <class T>
class ColumnTransform {
public:
  ColumnTransform(std::int64_t n, T step);

  // 16 neighbouring columns of n elements, `stride` apart, in place; lanes <= 16 of them are there. Values are at most
  // `cap` afterwards (and exact below it).
  void apply(T* data, std::int64_t stride, std::int64_t lanes);
  static constexpr std::int64_t maximum_lanes = 16;

private:
  void envelope(std::int64_t lane);
  bool search(std::int64_t i, T* out) const;

  std::int64_t n_;
  T step_;
  Buffer<T> copy_;  // n rows of 16 lanes
  Buffer<T> result_;
  Buffer<std::int64_t> sites_, starts_;
};

// One slice, along x and y. `cap`: larger values are not needed, and may be given as anything not below it.
template <class T>
void squared_distances_in_slice(const Word* bits, const VolumeSize& size, const SquaredSteps<T>& steps, T cap,
                                ColumnTransform<T>& along_y, T* out);

// What lies beyond the volume. Along an axis of one voxel there is nothing in either case: a slice is flat.
enum class Beyond { nothing, zeros };

// The whole volume, in memory or in a scratch file.
template <class T>
class DistanceVolume {
public:
  DistanceVolume(const BitVolume& bits, const SquaredSteps<T>& steps, WorkMemory& memory, Context& context,
                 Beyond beyond = Beyond::nothing);

  const T* slice(std::int64_t z, T* buffer) const { return store_.slice(z, buffer); }
  std::int64_t slice_size() const { return store_.slice_size(); }
  T largest() const { return largest_; }  // `far` where no voxel is zero

private:
  SliceStore<T> store_;
  T largest_ = 0;
};

extern template class ColumnTransform<std::int32_t>;
extern template class ColumnTransform<double>;
extern template class DistanceVolume<std::int32_t>;
extern template class DistanceVolume<double>;

}  // namespace lepus::analysis
