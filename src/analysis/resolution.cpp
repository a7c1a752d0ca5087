// SPDX-License-Identifier: Apache-2.0
#include "analysis/resolution.h"

#include <algorithm>
#include <cmath>
#include <complex>

#include "analysis/value_sums.h"
#include "core/format.h"
#include <lepus/error.h>

namespace lepus::analysis {
namespace {

// Bins of the distance from the axis around the edge.
struct EdgeBins {
  double first_mm = 0, width_mm = 0;
  std::int64_t count = 0;
  double centre_mm(std::int64_t i) const { return first_mm + (static_cast<double>(i) + 0.5) * width_mm; }
};

// An eighth of a voxel each where that leaves some eight voxels of a slice in every bin: an upright cylinder has the
// same distances in every slice.
EdgeBins bins_for(const Cylinder& c, double voxel_mm) {
  constexpr double voxels_in_bin = 8, largest_share = 0.25;
  EdgeBins bins;
  bins.width_mm = std::max(voxel_mm / 8, voxels_in_bin * voxel_mm * voxel_mm / (2 * pi * c.radius_mm));
  const double reach = std::min(c.radius_mm / 2, 24 * voxel_mm);
  if (bins.width_mm > largest_share * voxel_mm || reach < 4 * voxel_mm)
    throw Error(ErrorKind::input, {.what = "the cylinder is too small to measure the resolution with",
                                   .where = "resolution",
                                   .why = format("its radius is {:.3g} voxels", c.radius_mm / voxel_mm),
                                   .hint = "take one of at least 8 voxels radius"});
  bins.count = 2 * static_cast<std::int64_t>(std::ceil(reach / bins.width_mm));
  bins.first_mm = c.radius_mm - static_cast<double>(bins.count / 2) * bins.width_mm;
  return bins;
}

// What fell into a bin; also where in it, by integers.
struct BinSums {
  static constexpr double parts = 1 << 20;  // of a bin
  ValueSums values;
  std::int64_t place = 0;
  void add(double in_bin, std::uint64_t level) {
    values.add(level);
    place += std::llround(in_bin * parts);
  }
  void add(const BinSums& other) {
    values.add(other.values);
    place += other.place;
  }
  double mean_place() const { return static_cast<double>(place) / parts / static_cast<double>(values.count()); }
};

// visit(bin, value, worker) for every voxel around the edge; bins are no integers: what is behind the point says where.
template <class Visit>
void each_at_edge(const VolumeReader& volume, const Cylinder& c, const EdgeBins& bins, WorkMemory& memory,
                  Context& context, const Visit& visit) {
  const VolumeGrid& grid = volume.grid();
  const std::int64_t slice = grid.nx * grid.ny;
  const int workers = context.threads.size();
  const WorkMemory::Share share = memory.take(12 * slice * workers, "a slice for each thread", "use fewer --threads");
  Buffer<float> slices(slice * workers);
  context.progress.begin("edge", c.last_slice - c.first_slice);
  context.threads.parallel_for(c.first_slice, c.last_slice, 1, [&](std::int64_t z, std::int64_t, int worker) {
    float* const values = slices.data() + slice * worker;
    volume.read(z, z + 1, values);
    for (std::int64_t y = 0; y < grid.ny; ++y)
      for (std::int64_t x = 0; x < grid.nx; ++x) {
        const Vec3 p = grid.centre(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z));
        const double bin = (c.distance_mm(p) - bins.first_mm) / bins.width_mm;
        const float v = values[y * grid.nx + x];
        if (bin >= 0 && bin < static_cast<double>(bins.count) && std::isfinite(v)) visit(bin, v, worker);
      }
    context.progress.advance(1);
  });
  context.progress.end();
}

std::vector<BinSums> collect(const VolumeReader& volume, const Cylinder& c, const EdgeBins& bins,
                             const ValueScale& scale, WorkMemory& memory, Context& context) {
  const auto n = static_cast<std::size_t>(bins.count);
  std::vector<std::vector<BinSums>> own(static_cast<std::size_t>(context.threads.size()), std::vector<BinSums>(n));
  each_at_edge(volume, c, bins, memory, context, [&](double bin, float v, int worker) {
    own[static_cast<std::size_t>(worker)][static_cast<std::size_t>(bin)].add(bin - std::floor(bin), scale.level(v));
  });
  for (std::size_t w = 1; w < own.size(); ++w)
    for (std::size_t i = 0; i < n; ++i) own[0][i].add(own[w][i]);
  return own[0];
}

// The edge reaches out of the region, where there is one.
Survey with_edge(Survey looked, const VolumeReader& volume, const Cylinder& c, const EdgeBins& bins, WorkMemory& memory,
                 Context& context) {
  if (looked.is_whole()) return looked;
  RangeFinder range(context.threads.size());
  each_at_edge(volume, c, bins, memory, context, [&](double, float v, int worker) { range.add(v, worker); });
  return range.widened(looked);
}

// The mean values at the middle of every bin, linear between the mean places of what fell into them.
std::vector<double> edge_values(const std::vector<BinSums>& sums, const EdgeBins& bins, const ValueScale& scale) {
  std::vector<double> place, value;  // in bins
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i].values.count() == 0) continue;
    place.push_back(static_cast<double>(i) + sums[i].mean_place());
    value.push_back(sums[i].values.mean(scale));
  }
  if (2 * place.size() < sums.size() || place.front() > 4 || place.back() < static_cast<double>(sums.size()) - 4)
    throw Error(ErrorKind::input,
                {.what = "the edge of the cylinder is not whole",
                 .where = "resolution",
                 .why = format("finite voxels lie in {} of {} bins from {:.4g} to {:.4g} mm around its axis",
                               place.size(), sums.size(), bins.centre_mm(0), bins.centre_mm(bins.count - 1)),
                 .hint = "choose another cylinder with --cylinder x,y,radius"});
  std::vector<double> edge;
  std::size_t next = 1;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double at = static_cast<double>(i) + 0.5;
    while (next + 1 < place.size() && place[next] < at) ++next;
    const double share = std::clamp((at - place[next - 1]) / (place[next] - place[next - 1]), 0.0, 1.0);
    edge.push_back((1 - share) * value[next - 1] + share * value[next]);
  }
  return edge;
}

// The derivative of the edge, flat in its middle half and faded out towards both ends: what is far from the edge is no
// part of it.
std::vector<double> line_spread(const std::vector<double>& edge) {
  std::vector<double> spread;
  const auto n = static_cast<double>(edge.size() - 1);
  for (std::size_t i = 0; i + 1 < edge.size(); ++i) {
    const double out = std::abs((static_cast<double>(i) + 0.5) / n * 2 - 1);  // 0 at the edge, 1 at the ends
    const double window = out <= 0.5 ? 1 : 0.5 + 0.5 * std::cos(2 * pi * (out - 0.5));
    spread.push_back((edge[i + 1] - edge[i]) * window);
  }
  return spread;
}

// Around a radius at which the threshold is crossed, but not the middle of the edge, the edge is not seen whole.
void require_middle(double halfway_mm, double crossed_mm, const EdgeBins& bins, double threshold) {
  if (std::abs(halfway_mm - crossed_mm) <= static_cast<double>(bins.count) * bins.width_mm / 4) return;
  throw Error(ErrorKind::input,
              {.what = "the threshold is not that of the cylinder's edge",
               .where = "resolution",
               .why = format("the values cross {:.5g} at {:.4g} mm from the axis, and are halfway at {:.4g} mm",
                             threshold, crossed_mm, halfway_mm),
               .hint = "choose a region (--box) that holds both sides of the edge, or give --threshold as a number"});
}

double sinc(double x) { return x == 0 ? 1 : std::sin(pi * x) / (pi * x); }

// Where a falling curve first meets a level, linear between its points.
std::optional<double> meets(const std::vector<double>& x, const std::vector<double>& y, double level) {
  for (std::size_t i = 1; i < y.size(); ++i)
    if (y[i] < level) return x[i - 1] + (x[i] - x[i - 1]) * (y[i - 1] - level) / (y[i - 1] - y[i]);
  return std::nullopt;
}

}  // namespace

ResolutionResult measure_resolution(const VolumeReader& volume, const ResolutionOptions& options,
                                    const BitVolume& inside, const Survey& looked, const Histogram& histogram,
                                    double threshold, WorkMemory& memory, Context& context) {
  ResolutionResult result;
  result.found = !options.cylinder;
  result.cylinder = fit_cylinder(volume, options.cylinder, inside, looked, histogram, threshold, memory, context);
  const Vec3 step = volume.grid().step_mm;
  const double voxel_mm = std::min(std::abs(step.x), std::abs(step.y));
  const EdgeBins bins = bins_for(result.cylinder, voxel_mm);
  const ValueScale scale(with_edge(looked, volume, result.cylinder, bins, memory, context));
  result.edge = edge_values(collect(volume, result.cylinder, bins, scale, memory, context), bins, scale);
  for (std::int64_t i = 0; i < bins.count; ++i) result.distance_mm.push_back(bins.centre_mm(i));
  const auto ends = std::max<std::ptrdiff_t>(1, bins.count / 8);
  const auto mean = [&](auto from, auto to) {
    double sum = 0;
    for (auto i = from; i != to; ++i) sum += *i;
    return sum / static_cast<double>(to - from);
  };
  result.inner = mean(result.edge.begin(), result.edge.begin() + ends);
  result.outer = mean(result.edge.end() - ends, result.edge.end());

  // The radius where the values are halfway, of the edge as a falling curve from 1 to 0.
  std::vector<double> falling;
  for (const double v : result.edge) falling.push_back((v - result.outer) / (result.inner - result.outer));
  const double halfway_mm = meets(result.distance_mm, falling, 0.5).value_or(result.cylinder.radius_mm);
  require_middle(halfway_mm, result.cylinder.radius_mm, bins, threshold);
  result.cylinder.radius_mm = halfway_mm;

  const std::vector<double> spread = line_spread(result.edge);
  double all = 0;
  for (const double s : spread) all += s;
  constexpr int frequencies = 128;
  for (int k = 0; k <= frequencies; ++k) {
    const double f = k / (frequencies * voxel_mm);
    std::complex<double> sum = 0;
    for (std::size_t i = 0; i < spread.size(); ++i)
      sum += spread[i] * std::polar(1.0, -2 * pi * f * static_cast<double>(i) * bins.width_mm);
    // Bins are means over their width, and their differences means of the derivative: both are known, and taken out.
    const double known = sinc(f * bins.width_mm) * sinc(f * bins.width_mm);
    result.per_mm.push_back(f);
    result.transfer.push_back(std::abs(sum / all) / known);
  }
  result.half_per_mm = meets(result.per_mm, result.transfer, 0.5);
  result.tenth_per_mm = meets(result.per_mm, result.transfer, 0.1);
  return result;
}

}  // namespace lepus::analysis
