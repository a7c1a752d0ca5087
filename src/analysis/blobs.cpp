// SPDX-License-Identifier: Apache-2.0
#include "analysis/blobs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/symmetric_matrix.h"
#include "analysis/value_sums.h"
#include "core/format.h"
#include <lepus/error.h>

namespace lepus::analysis {
namespace {

constexpr int directions = 13;

struct BlobSums {
  std::int64_t voxels = 0;
  std::array<std::int64_t, 3> first_moment{};
  std::array<WideSum, 6> second_moment;  // xx, yy, zz, xy, xz, yz
  ValueSums values;
  std::array<std::int64_t, directions> crossings{};
  std::array<std::int32_t, 3> low{std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::max(),
                                  std::numeric_limits<std::int32_t>::max()},
      high{};

  // Voxels [x0, x1) of row (y, z).
  void add_run(std::int64_t x0, std::int64_t x1, std::int64_t y, std::int64_t z) {
    const std::int64_t n = x1 - x0;
    const auto below = [](std::int64_t k) { return k * (k - 1) / 2; };                        // 0 + ... + k - 1
    const auto squares_below = [](std::int64_t k) { return (k - 1) * k * (2 * k - 1) / 6; };  // of their squares
    const std::int64_t sx = below(x1) - below(x0);
    voxels += n;
    first_moment[0] += sx;
    first_moment[1] += n * y;
    first_moment[2] += n * z;
    const std::array<std::int64_t, 6> products{
        squares_below(x1) - squares_below(x0), n * y * y, n * z * z, sx * y, sx * z, n * y * z};
    for (std::size_t i = 0; i < 6; ++i) second_moment[i].add(static_cast<std::uint64_t>(products[i]));
    const std::array<std::int64_t, 3> from{x0, y, z}, to{x1, y + 1, z + 1};
    for (std::size_t i = 0; i < 3; ++i) {
      low[i] = std::min(low[i], static_cast<std::int32_t>(from[i]));
      high[i] = std::max(high[i], static_cast<std::int32_t>(to[i]));
    }
  }

  void add(const BlobSums& other) {
    voxels += other.voxels;
    for (std::size_t i = 0; i < 3; ++i) {
      first_moment[i] += other.first_moment[i];
      low[i] = std::min(low[i], other.low[i]);
      high[i] = std::max(high[i], other.high[i]);
    }
    for (std::size_t i = 0; i < 6; ++i) second_moment[i].add(other.second_moment[i]);
    values.add(other.values);
    for (std::size_t i = 0; i < directions; ++i) crossings[i] += other.crossings[i];
  }
};

// A slice of labels with a border of zeros, so that every voxel has all neighbours.
class PaddedSlice {
public:
  explicit PaddedSlice(const VolumeSize& size) : nx_(size.nx), ny_(size.ny), labels_((nx_ + 2) * (ny_ + 2)) {
    std::fill(labels_.begin(), labels_.end(), Label{0});
  }
  void fill(const Label* labels) {
    for (std::int64_t y = 0; y < ny_; ++y) std::copy_n(labels + y * nx_, nx_, labels_.data() + (y + 1) * (nx_ + 2) + 1);
  }
  const Label* row(std::int64_t y) const { return labels_.data() + y * (nx_ + 2); }  // 0 to ny + 1

private:
  std::int64_t nx_, ny_;
  Buffer<Label> labels_;
};

// Where a[x] and b[x] differ the border of both is crossed once, in the direction k.
void count_crossings(const Label* a, const Label* b, std::int64_t n, std::size_t k, std::vector<BlobSums>& sums) {
  constexpr std::int64_t block = 16;
  for (std::int64_t x = 0; x < n; x += block) {
    const std::int64_t end = std::min(n, x + block);
    Label differ = 0;
    if (end - x == block)
      for (std::int64_t i = x; i < x + block; ++i) differ |= a[i] ^ b[i];
    else
      differ = 1;
    if (differ == 0) continue;
    for (std::int64_t i = x; i < end; ++i)
      if (a[i] != b[i]) {
        ++sums[a[i]].crossings[k];
        ++sums[b[i]].crossings[k];
      }
  }
}

// All pairs of one direction between two slices, or in one.
void count_direction(const PaddedSlice& from, const PaddedSlice& to, const VolumeSize& size, std::size_t k,
                     const std::array<int, 3>& d, std::vector<BlobSums>& sums) {
  const std::int64_t width = size.nx + 2, height = size.ny + 2;
  const std::int64_t x0 = std::max(0, -d[0]), n = width - std::abs(d[0]);
  for (std::int64_t y = std::max(0, -d[1]); y < std::min(height, height - d[1]); ++y)
    count_crossings(from.row(y) + x0, to.row(y + d[1]) + x0 + d[0], n, k, sums);
}

// One piece of the volume, slice after slice.
class PieceMeasure {
public:
  PieceMeasure(const VolumeSize& size, std::int64_t blobs)
      : size_(size), sums_(static_cast<std::size_t>(blobs) + 1), first_(size), before_(size), now_(size) {}

  void add_slice(std::int64_t z, const Label* labels, const float* values, const ValueScale& scale) {
    std::swap(before_, now_);
    now_.fill(labels);
    if (empty_) {
      first_.fill(labels);
      empty_ = false;
    } else {
      between(before_, now_);
    }
    const auto all = crofton_directions();
    for (std::size_t k = 0; k < all.size(); ++k)
      if (all[k][2] == 0) count_direction(now_, now_, size_, k, all[k], sums_);
    for (std::int64_t y = 0; y < size_.ny; ++y) {
      const Label* const row = labels + y * size_.nx;
      const float* const v = values + y * size_.nx;
      for (std::int64_t x = 0; x < size_.nx;) {
        const Label label = row[x];
        const std::int64_t x0 = x;
        while (x < size_.nx && row[x] == label) ++x;
        if (label == 0) continue;
        BlobSums& sum = sums_[label];
        sum.add_run(x0, x, y, z);
        for (std::int64_t i = x0; i < x; ++i) sum.values.add(scale.level(v[i]));
      }
    }
  }

  void between(const PaddedSlice& from, const PaddedSlice& to) {
    const auto all = crofton_directions();
    for (std::size_t k = 0; k < all.size(); ++k)
      if (all[k][2] == 1) count_direction(from, to, size_, k, all[k], sums_);
  }

  const PaddedSlice& first() const { return first_; }
  const PaddedSlice& last() const { return now_; }
  std::vector<BlobSums>& sums() { return sums_; }

private:
  VolumeSize size_;
  std::vector<BlobSums> sums_;
  PaddedSlice first_, before_, now_;
  bool empty_ = true;
};

Blob blob_of(const BlobSums& s, const VolumeGrid& grid, const std::vector<double>& weights, const ValueScale& scale) {
  const Vec3 step{std::abs(grid.step_mm.x), std::abs(grid.step_mm.y), std::abs(grid.step_mm.z)};
  const double voxel = step.x * step.y * step.z, n = static_cast<double>(s.voxels);
  Blob blob;
  blob.voxels = s.voxels;
  blob.volume_mm3 = n * voxel;
  const auto all = crofton_directions();
  for (std::size_t k = 0; k < all.size(); ++k) {
    const double dx = all[k][0] * step.x, dy = all[k][1] * step.y, dz = all[k][2] * step.z;
    const double along = std::sqrt(dx * dx + dy * dy + dz * dz);
    // Lines of this direction, one through each voxel, lie voxel / along mm^2 apart.
    blob.surface_mm2 += 2 * weights[k] * static_cast<double>(s.crossings[k]) * voxel / along;
  }
  blob.diameter_mm = std::cbrt(6 * blob.volume_mm3 / pi);
  blob.sphericity = pi * blob.diameter_mm * blob.diameter_mm / blob.surface_mm2;
  const double mx = static_cast<double>(s.first_moment[0]) / n, my = static_cast<double>(s.first_moment[1]) / n,
               mz = static_cast<double>(s.first_moment[2]) / n;
  for (std::size_t i = 0; i < 3; ++i) {
    blob.first[i] = s.low[i];
    blob.last[i] = s.high[i];
  }
  blob.centroid_mm = grid.centre(mx, my, mz);
  const auto moment = [&](std::size_t i, double a, double b) { return s.second_moment[i].value() / n - a * b; };
  // A voxel is a box, not a point: its own moments are 1/12 of its edges squared.
  const double gx = grid.step_mm.x, gy = grid.step_mm.y, gz = grid.step_mm.z;
  const Eigen3 eigen = eigen_of({(moment(0, mx, mx) + 1.0 / 12) * gx * gx, (moment(1, my, my) + 1.0 / 12) * gy * gy,
                                 (moment(2, mz, mz) + 1.0 / 12) * gz * gz, moment(3, mx, my) * gx * gy,
                                 moment(4, mx, mz) * gx * gz, moment(5, my, mz) * gy * gz});
  for (std::size_t i = 0; i < 3; ++i) {
    blob.axes_mm[i] = 2 * std::sqrt(5 * std::max(0.0, eigen.values[i]));  // of an ellipsoid: a^2 / 5
    blob.directions[i] = eigen.vectors[i];
  }
  blob.mean = s.values.mean(scale);
  blob.spread = s.values.spread(scale);
  return blob;
}

}  // namespace

std::vector<std::array<int, 3>> crofton_directions() {
  return {{1, 0, 0}, {0, 1, 0},  {1, 1, 0}, {1, -1, 0}, {0, 0, 1},  {1, 0, 1},  {-1, 0, 1},
          {0, 1, 1}, {0, -1, 1}, {1, 1, 1}, {-1, 1, 1}, {1, -1, 1}, {-1, -1, 1}};
}

std::vector<double> crofton_weights(Vec3 step_mm) {
  std::vector<Vec3> units;
  for (const auto& d : crofton_directions()) {
    const Vec3 v{d[0] * step_mm.x, d[1] * step_mm.y, d[2] * step_mm.z};
    units.push_back(v / norm(v));
  }
  // Points spread evenly over half of the sphere by the golden angle; each counts for the nearest direction.
  constexpr int points = 200000;
  std::vector<double> weights(units.size(), 0);
  for (int i = 0; i < points; ++i) {
    const double z = (i + 0.5) / points, r = std::sqrt(1 - z * z), angle = 2.399963229728653 * i;
    const Vec3 p{r * std::cos(angle), r * std::sin(angle), z};
    std::size_t nearest = 0;
    double best = -1;
    for (std::size_t k = 0; k < units.size(); ++k)
      if (const double c = std::abs(dot(p, units[k])); c > best) {
        best = c;
        nearest = k;
      }
    weights[nearest] += 1.0 / points;
  }
  return weights;
}

std::vector<Blob> measure_blobs(const LabelSource& labels, const VolumeReader& values, const Survey& looked,
                                WorkMemory& memory, Context& context) {
  const VolumeSize& size = labels.size();
  const int pieces = labels.pieces();
  const std::int64_t slice = size.nx * size.ny,
                     table = (labels.count() + 1) * static_cast<std::int64_t>(sizeof(BlobSums));
  const WorkMemory::Share share =
      memory.take(pieces * (table + slice * (4 * 4 + 12)), format("{} blobs", labels.count()),
                  "leave small ones out with --minimum-voxels");
  const ValueScale scale(looked);
  std::vector<PieceMeasure> measures;
  measures.reserve(static_cast<std::size_t>(pieces));
  for (int p = 0; p < pieces; ++p) measures.emplace_back(size, labels.count());
  Buffer<float> floats(slice * pieces);
  context.progress.begin("blobs", size.nz);
  labels.each_slice(context, [&](int piece, std::int64_t z, const Label* slice_labels) {
    float* const v = floats.data() + piece * slice;
    values.read(z, z + 1, v);
    measures[static_cast<std::size_t>(piece)].add_slice(z, slice_labels, v, scale);
    context.progress.advance(1);
  });
  context.progress.end();
  const PaddedSlice nothing(size);
  for (std::size_t p = 0; p < measures.size(); ++p)
    measures[p].between(p == 0 ? nothing : measures[p - 1].last(), measures[p].first());
  measures.back().between(measures.back().last(), nothing);
  for (std::size_t p = 1; p < measures.size(); ++p)
    for (std::size_t i = 1; i < measures[0].sums().size(); ++i) measures[0].sums()[i].add(measures[p].sums()[i]);
  const Vec3 step = values.grid().step_mm;
  const std::vector<double> weights = crofton_weights({std::abs(step.x), std::abs(step.y), std::abs(step.z)});
  std::vector<Blob> blobs;
  for (std::size_t i = 1; i < measures[0].sums().size(); ++i) {
    blobs.push_back(blob_of(measures[0].sums()[i], values.grid(), weights, scale));
    blobs.back().label = static_cast<Label>(i);
  }
  return blobs;
}

void sort_blobs(std::vector<Blob>& blobs, const std::string& key) {
  const auto by = [&](auto&& value) {
    std::stable_sort(blobs.begin(), blobs.end(), [&](const Blob& a, const Blob& b) { return value(a) > value(b); });
  };
  std::sort(blobs.begin(), blobs.end(), [](const Blob& a, const Blob& b) { return a.label < b.label; });
  if (key == "label") return;
  if (key == "volume" || key == "diameter") return by([](const Blob& b) { return b.voxels; });
  if (key == "surface") return by([](const Blob& b) { return b.surface_mm2; });
  if (key == "sphericity") return by([](const Blob& b) { return b.sphericity; });
  if (key == "mean") return by([](const Blob& b) { return b.mean; });
  throw Error(ErrorKind::usage, {.what = format("blobs cannot be sorted by '{}'", key),
                                 .where = "option --sort",
                                 .why = {},
                                 .hint = "use volume, diameter, surface, sphericity, mean or label"});
}

}  // namespace lepus::analysis
