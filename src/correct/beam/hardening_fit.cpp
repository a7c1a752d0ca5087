// SPDX-License-Identifier: Apache-2.0
#include "correct/beam/hardening_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/memory.h"
#include "correct/beam/hardening_curve.h"
#include "filter/filter_sinogram.h"
#include "geometry/camera.h"
#include "geometry/row_band.h"

namespace lepus {
namespace {

constexpr std::int64_t fit_size = 128;       // voxels across: cupping is smooth
constexpr double surface_voxels = 3;         // left out on both sides of the surface, where voxels are mixed
constexpr std::int64_t minimum_inside = 50;  // voxels

// Flatness hardly tells the first coefficient from the others: of curves that are as flat, the mildest. Ten times more
// begins to cost flatness (docs/corrections/hardening.md), none makes half-fan scans fit noise.
constexpr double mildness = 1e-5;

// The threshold between two classes that differ most (Otsu 1979).
double otsu(const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double low = *least, width = *most - *least;
  if (!(width > 0)) return low;
  constexpr std::size_t bins = 256;
  std::vector<double> histogram(bins);
  for (const double value : values)
    histogram[std::min(bins - 1, static_cast<std::size_t>((value - low) / width * bins))] += 1;
  double total = 0, moment = 0;
  for (std::size_t i = 0; i < bins; ++i) {
    total += histogram[i];
    moment += histogram[i] * static_cast<double>(i);
  }
  double below = 0, below_moment = 0, best = -1;
  std::size_t at = 0;
  for (std::size_t i = 0; i + 1 < bins; ++i) {
    below += histogram[i];
    below_moment += histogram[i] * static_cast<double>(i);
    if (below == 0 || below == total) continue;
    const double difference = below_moment / below - (moment - below_moment) / (total - below);
    const double between = below * (total - below) * difference * difference;
    if (between > best) {
      best = between;
      at = i;
    }
  }
  return low + width * static_cast<double>(at + 1) / bins;
}

// Distance of every voxel to the nearest one of another kind, in voxels: two passes with steps of 1 and sqrt(2).
std::vector<double> distances(const std::vector<unsigned char>& kind, std::int64_t size, unsigned char to) {
  std::vector<double> d(kind.size());
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = kind[i] == to ? 0 : std::numeric_limits<double>::infinity();
  const auto nearer = [&](std::int64_t x, std::int64_t y, std::int64_t dx, std::int64_t dy) {
    if (x + dx < 0 || x + dx >= size || y + dy < 0 || y + dy >= size) return;
    double& here = d[static_cast<std::size_t>(y * size + x)];
    here = std::min(
        here, d[static_cast<std::size_t>((y + dy) * size + x + dx)] + (dx != 0 && dy != 0 ? std::sqrt(2.0) : 1.0));
  };
  for (std::int64_t y = 0; y < size; ++y)
    for (std::int64_t x = 0; x < size; ++x) {
      nearer(x, y, -1, 0);
      nearer(x, y, -1, -1);
      nearer(x, y, 0, -1);
      nearer(x, y, 1, -1);
    }
  for (std::int64_t y = size - 1; y >= 0; --y)
    for (std::int64_t x = size - 1; x >= 0; --x) {
      nearer(x, y, 1, 0);
      nearer(x, y, 1, 1);
      nearer(x, y, 0, 1);
      nearer(x, y, -1, 1);
    }
  return d;
}

bool in_field_of_view(const MidPlane& plane, std::size_t i, double rim) {
  return plane.radius(static_cast<std::int64_t>(i)) <= static_cast<double>(plane.size) / 2 - rim;
}

}  // namespace

double MidPlane::radius(std::int64_t i) const {
  const double middle = 0.5 * static_cast<double>(size - 1);
  return std::hypot(static_cast<double>(i % size) - middle, static_cast<double>(i / size) - middle);
}

std::int64_t mid_plane_row(const ScanGeometry& geometry) {
  const Vec3 q = transform(geometry.matrices.front(), {0, 0, 0});
  const double v = geometry.beam == Beam::cone ? q.y / q.z : q.y;
  return std::clamp<std::int64_t>(std::llround(v), 0, geometry.rows - 1);
}

MidPlane reconstruct_mid_plane(const float* sinogram, std::int64_t row, const ScanGeometry& geometry, std::int64_t size,
                               ThreadPool& threads) {
  MidPlane plane;
  plane.size = size;
  plane.voxel_mm = 2 * field_of_view_radius_mm(geometry) / static_cast<double>(size);
  plane.values.assign(static_cast<std::size_t>(size * size), 0.0);

  RampOptions ramp;
  ramp.window = Window::hann;
  ramp.cutoff = std::clamp(2 * pitch_at_axis(camera_of(geometry, 0)).width_mm / plane.voxel_mm, 0.02, 1.0);
  const FilteredSinogram filtered = filter_sinogram(geometry, FdkWeights(geometry), ramp, sinogram, row, threads);
  const ScanGeometry& wide = filtered.geometry;

  const double middle = 0.5 * static_cast<double>(size - 1);
  threads.parallel_for(0, size, 1, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t j = begin; j < end; ++j)
      for (std::int64_t view = 0; view < wide.views(); ++view) {
        const Matrix34& m = wide.matrices[static_cast<std::size_t>(view)];
        const float* line = filtered.of_view(view);
        const double y = (static_cast<double>(j) - middle) * plane.voxel_mm;
        double* values = plane.values.data() + j * size;
        for (std::int64_t i = 0; i < size; ++i) {
          const double x = (static_cast<double>(i) - middle) * plane.voxel_mm;
          const double w = m(2, 0) * x + m(2, 1) * y + m(2, 3);
          const double u = (m(0, 0) * x + m(0, 1) * y + m(0, 3)) / w;
          if (!(w > 0 && u >= 0 && u <= static_cast<double>(wide.columns - 1))) continue;
          const auto left = std::min(static_cast<std::int64_t>(u), wide.columns - 2);
          const double share = u - static_cast<double>(left);
          const auto a = static_cast<double>(line[left]), b = static_cast<double>(line[left + 1]);
          values[i] += (a + share * (b - a)) / (w * w);
        }
      }
  });
  return plane;
}

std::vector<unsigned char> object_of(const MidPlane& plane) {
  std::vector<double> seen;
  for (std::size_t i = 0; i < plane.values.size(); ++i)
    if (in_field_of_view(plane, i, 1)) seen.push_back(plane.values[i]);
  const double threshold = otsu(seen);
  std::vector<unsigned char> kind(plane.values.size());
  for (std::size_t i = 0; i < kind.size(); ++i) kind[i] = plane.values[i] > threshold && in_field_of_view(plane, i, 1);
  const std::vector<double> to_air = distances(kind, plane.size, 0), to_object = distances(kind, plane.size, 1);
  for (std::size_t i = 0; i < kind.size(); ++i)
    kind[i] = to_air[i] > surface_voxels ? 2 : to_object[i] > surface_voxels && in_field_of_view(plane, i, 2) ? 1 : 0;
  return kind;
}

double mean_inside(const MidPlane& plane, const std::vector<unsigned char>& object) {
  double sum = 0, n = 0;
  for (std::size_t i = 0; i < object.size(); ++i)
    if (object[i] == 2) sum += plane.values[i], n += 1;
  return n > 0 ? sum / n : 0;
}

double unevenness(const MidPlane& plane, const std::vector<unsigned char>& object) {
  const double mean = mean_inside(plane, object);
  double squares = 0, n = 0;
  for (std::size_t i = 0; i < object.size(); ++i)
    if (object[i] == 2) squares += (plane.values[i] - mean) * (plane.values[i] - mean), n += 1;
  return mean == 0 ? 0 : std::sqrt(squares / n) / std::abs(mean);
}

double cupping(const MidPlane& plane, const std::vector<unsigned char>& object) {
  std::vector<unsigned char> inside(object.size());
  for (std::size_t i = 0; i < object.size(); ++i) inside[i] = object[i] == 2;
  const std::vector<double> depth = distances(inside, plane.size, 0);
  std::vector<double> sorted;
  for (std::size_t i = 0; i < object.size(); ++i)
    if (inside[i]) sorted.push_back(depth[i]);
  if (sorted.size() < 4) return 0;
  std::sort(sorted.begin(), sorted.end());
  const double shallow = sorted[sorted.size() / 4], deep = sorted[sorted.size() * 3 / 4];
  double rim = 0, rims = 0, core = 0, cores = 0;
  for (std::size_t i = 0; i < object.size(); ++i) {
    if (!inside[i]) continue;
    if (depth[i] <= shallow) rim += plane.values[i], rims += 1;
    if (depth[i] >= deep) core += plane.values[i], cores += 1;
  }
  return rim == 0 ? 0 : 1 - (core / cores) / (rim / rims);
}

HardeningFit fit_hardening(const float* sinogram, std::int64_t row, const ScanGeometry& geometry, int degree,
                           ThreadPool& threads) {
  const std::int64_t floats = geometry.views() * geometry.columns;
  HardeningFit fit;
  for (std::int64_t i = 0; i < floats; ++i) fit.largest = std::max(fit.largest, static_cast<double>(sinogram[i]));
  if (!(fit.largest > 0)) return fit;
  // Powers of p / largest: of like size, whatever the object.
  std::vector<MidPlane> planes;
  Buffer<float> powers(floats);
  for (int power = 1; power <= degree; ++power) {
    for (std::int64_t i = 0; i < floats; ++i) {
      const double p = static_cast<double>(sinogram[i]) / fit.largest;
      powers[i] = static_cast<float>(power == 1 ? p : std::pow(std::max(p, 0.0), power));
    }
    planes.push_back(reconstruct_mid_plane(powers.data(), row, geometry, fit_size, threads));
  }
  const std::vector<unsigned char> object = object_of(planes.front());
  std::int64_t air = 0;
  for (std::size_t i = 0; i < object.size(); ++i) {
    fit.inside += object[i] == 2;
    air += object[i] == 1;
    fit.reaches_the_rim = fit.reaches_the_rim || (object[i] == 2 && !in_field_of_view(planes.front(), i, 3));
  }
  if (fit.inside < minimum_inside) return fit;
  LeastSquares squares(static_cast<std::size_t>(degree));
  for (std::size_t i = 0; i < object.size(); ++i) {
    if (object[i] == 0) continue;
    std::vector<double> values;
    values.reserve(planes.size());
    for (const MidPlane& plane : planes) values.push_back(plane.values[i]);
    const bool inside = object[i] == 2;
    squares.add(values, inside ? 1 : 0, 1 / static_cast<double>(inside ? fit.inside : air));
  }
  std::vector<double> c = squares.solve(mildness);
  if (c.empty() || !(c[0] > 0)) return fit;
  MidPlane corrected = planes.front();
  for (std::size_t i = 0; i < corrected.values.size(); ++i) {
    corrected.values[i] = 0;
    for (std::size_t k = 0; k < c.size(); ++k) corrected.values[i] += c[k] * planes[k].values[i];
  }
  fit.cupping_before = cupping(planes.front(), object);
  fit.cupping_after = cupping(corrected, object);
  fit.unevenness_before = unevenness(planes.front(), object);
  fit.unevenness_after = unevenness(corrected, object);
  // The slices were of p / largest: back to p, and to the mean that the object had.
  const double scale = mean_inside(planes.front(), object) / mean_inside(corrected, object);
  for (std::size_t k = 0; k < c.size(); ++k) c[k] *= scale / std::pow(fit.largest, static_cast<double>(k));
  fit.coefficients = std::move(c);
  return fit;
}

}  // namespace lepus
