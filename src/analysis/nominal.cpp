// SPDX-License-Identifier: Apache-2.0
// Sums are of integers: areas count in 1024ths, in bins of the distance that are far finer than a voxel.
#include "analysis/nominal.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/surface_crossings.h"
#include "core/format.h"
#include <lepus/error.h>

namespace lepus::analysis {
namespace {

constexpr std::int64_t fine_bins = 1 << 20;
constexpr double area_parts = 1024;
constexpr std::size_t chart_bins = 64;
constexpr double view_pixels = 384;

// A picture of the distances from one side: the point nearest to the viewer in each pixel.
class SurfaceView {
public:
  SurfaceView(const VolumeGrid& grid, Axis axis) : axis_(axis) {
    const Vec3 a = grid.centre(0, 0, 0),
               b = grid.centre(static_cast<double>(grid.nx - 1), static_cast<double>(grid.ny - 1),
                               static_cast<double>(grid.nz - 1));
    low_ = {std::min(a.x, b.x), std::min(a.y, b.y), std::min(a.z, b.z)};
    const Vec3 wide{std::abs(b.x - a.x), std::abs(b.y - a.y), std::abs(b.z - a.z)};
    const double voxel = std::max({std::abs(grid.step_mm.x), std::abs(grid.step_mm.y), std::abs(grid.step_mm.z)});
    // Points lie a voxel apart at most: with larger pixels no holes are left between them.
    pixel_mm_ = std::max(1.25 * voxel, std::max({wide.x, wide.y, wide.z}) / view_pixels);
    width_ = static_cast<std::int64_t>((axis == Axis::x ? wide.y : wide.x) / pixel_mm_) + 1;
    height_ = static_cast<std::int64_t>((axis == Axis::z ? wide.y : wide.z) / pixel_mm_) + 1;
    pixels_.assign(static_cast<std::size_t>(width_ * height_), {});
  }
  void add(Vec3 p, float distance) {
    const Vec3 q = p - low_;
    const double right = axis_ == Axis::x ? q.y : q.x, up = axis_ == Axis::z ? q.y : q.z;
    const double near = axis_ == Axis::x ? p.x : axis_ == Axis::y ? -p.y : p.z;
    const auto x = static_cast<std::int64_t>(right / pixel_mm_), y = static_cast<std::int64_t>(up / pixel_mm_);
    if (x < 0 || y < 0 || x >= width_ || y >= height_) return;
    keep(pixels_[static_cast<std::size_t>((height_ - 1 - y) * width_ + x)], {near, distance});
  }
  void add(const SurfaceView& other) {
    for (std::size_t i = 0; i < pixels_.size(); ++i) keep(pixels_[i], other.pixels_[i]);
  }
  Slice slice() const {
    Slice s;
    s.request.axis = axis_;
    s.width = width_;
    s.height = height_;
    s.pixel_width_mm = s.pixel_height_mm = pixel_mm_;
    for (const Pixel& p : pixels_) s.values.push_back(p.distance);
    return s;
  }

private:
  struct Pixel {
    double near = -std::numeric_limits<double>::infinity();
    float distance = std::numeric_limits<float>::quiet_NaN();
  };
  // Of two as near the larger distance, so that their order does not matter.
  static void keep(Pixel& pixel, const Pixel& other) {
    if (other.near > pixel.near || (other.near == pixel.near && other.distance > pixel.distance)) pixel = other;
  }
  Axis axis_;
  Vec3 low_;
  double pixel_mm_ = 1;
  std::int64_t width_ = 0, height_ = 0;
  std::vector<Pixel> pixels_;
};

// What one thread has found.
struct PointSums {
  std::vector<std::int64_t> bins = std::vector<std::int64_t>(fine_bins, 0);
  std::int64_t points = 0;
  double smallest = std::numeric_limits<double>::infinity(), largest = -smallest;
  std::vector<SurfaceView> views;

  void add(const PointSums& other) {
    for (std::size_t i = 0; i < bins.size(); ++i) bins[i] += other.bins[i];
    points += other.points;
    smallest = std::min(smallest, other.smallest);
    largest = std::max(largest, other.largest);
    for (std::size_t i = 0; i < views.size(); ++i) views[i].add(other.views[i]);
  }
};

class PointMeter {
public:
  PointMeter(const VolumeGrid& grid, const MeshDistance& surface, const RigidMotion& motion)
      : grid_(grid), surface_(surface), motion_(motion), back_(transposed(motion.rotation)) {
    const Vec3 a = motion(grid.centre(0, 0, 0)),
               b = motion(grid.centre(static_cast<double>(grid.nx), static_cast<double>(grid.ny),
                                      static_cast<double>(grid.nz)));
    const Vec3 low = surface.low_mm(), high = surface.high_mm();
    // No point is further from the surface than the sizes of both and what lies between them.
    reach_ = norm(b - a) + norm(high - low) + norm((a + b) / 2 - (low + high) / 2);
    const Vec3 step{std::abs(grid.step_mm.x), std::abs(grid.step_mm.y), std::abs(grid.step_mm.z)};
    unit_mm2_ = std::min({step.y * step.z, step.x * step.z, step.x * step.y});
  }

  double bin_mm(std::size_t bin) const { return (2 * (static_cast<double>(bin) + 0.5) / fine_bins - 1) * reach_; }
  double area_mm2(double parts) const { return parts / area_parts * unit_mm2_; }

  void add(Vec3 p, PointSums& sums) const {
    const MeshDistance::Nearest near = surface_.nearest(motion_(p));
    const double per_mm2 = crossings_per_mm2(grid_, back_ * near.normal);
    const auto bin = static_cast<std::int64_t>((near.signed_mm / reach_ + 1) / 2 * fine_bins);
    sums.bins[static_cast<std::size_t>(std::clamp<std::int64_t>(bin, 0, fine_bins - 1))] +=
        std::llround(area_parts / (per_mm2 * unit_mm2_));
    ++sums.points;
    sums.smallest = std::min(sums.smallest, near.signed_mm);
    sums.largest = std::max(sums.largest, near.signed_mm);
    for (SurfaceView& view : sums.views) view.add(p, static_cast<float>(near.signed_mm));
  }

private:
  const VolumeGrid& grid_;
  const MeshDistance& surface_;
  RigidMotion motion_;
  Matrix3 back_;
  double reach_ = 1, unit_mm2_ = 1;
};

void fill_statistics(const PointSums& sums, const PointMeter& meter, const NominalOptions& options, NominalResult& r) {
  double all = 0, sum = 0, squares = 0, within = 0;
  for (std::size_t i = 0; i < sums.bins.size(); ++i) {
    if (sums.bins[i] == 0) continue;
    const double w = static_cast<double>(sums.bins[i]), d = meter.bin_mm(i);
    all += w;
    sum += w * d;
    squares += w * d * d;
    if (options.tolerance_mm && std::abs(d) <= *options.tolerance_mm) within += w;
  }
  r.area_mm2 = meter.area_mm2(all);
  r.mean_mm = sum / all;
  r.spread_mm = std::sqrt(std::max(0.0, squares / all - r.mean_mm * r.mean_mm));
  r.smallest_mm = sums.smallest;
  r.largest_mm = sums.largest;
  if (options.tolerance_mm) r.within = within / all;
  const double low = r.smallest_mm, width = std::max(1e-12, (r.largest_mm - low) / static_cast<double>(chart_bins));
  r.bin_share.assign(chart_bins, 0);
  for (std::size_t i = 0; i < chart_bins; ++i) r.bin_mm.push_back(low + (static_cast<double>(i) + 0.5) * width);
  double below = 0;
  for (std::size_t i = 0; i < sums.bins.size(); ++i) {
    if (sums.bins[i] == 0) continue;
    const double before = below / all, d = meter.bin_mm(i);
    below += static_cast<double>(sums.bins[i]);
    for (const auto& [share, value] :
         {std::pair{0.05, &r.percentile_5_mm}, std::pair{0.5, &r.median_mm}, std::pair{0.95, &r.percentile_95_mm}})
      if (before < share && below / all >= share) *value = d;
    const double bin = std::clamp((d - low) / width, 0.0, static_cast<double>(chart_bins) - 1);
    r.bin_share[static_cast<std::size_t>(bin)] += static_cast<double>(sums.bins[i]) / all;
  }
}

}  // namespace

void refuse_without_surface(double threshold) {
  throw Error(ErrorKind::input, {.what = "the volume has no surface to measure",
                                 .where = format("threshold {:g}", threshold),
                                 .why = "nowhere inside do the values cross it",
                                 .hint = "choose another threshold; the histogram of `lepus info` helps"});
}

NominalResult measure_nominal(const VolumeReader& volume, const NominalOptions& options, const BitVolume& inside,
                              double threshold, WorkMemory& memory, Context& context) {
  NominalResult result;
  result.threshold = threshold;
  if (options.align) result.alignment = align_surface(volume, *options.surface, inside, threshold, memory, context);
  const VolumeGrid& grid = volume.grid();
  const int workers = context.threads.size();
  const WorkMemory::Share share =
      memory.take(workers * (crossing_bytes(grid) + 8 * fine_bins + (std::int64_t{10} << 20)),
                  "the surface of two slices for each thread", "use fewer --threads");
  const PointMeter meter(grid, *options.surface, result.alignment ? result.alignment->motion : RigidMotion{});
  std::vector<PointSums> sums(static_cast<std::size_t>(workers));
  for (PointSums& s : sums)
    for (const Axis axis : {Axis::z, Axis::y, Axis::x}) s.views.emplace_back(grid, axis);
  for_each_crossing(volume, inside, threshold, context, [&](const Crossing& crossing, int worker) {
    meter.add(crossing.point_mm, sums[static_cast<std::size_t>(worker)]);
  });
  for (std::size_t w = 1; w < sums.size(); ++w) sums[0].add(sums[w]);
  if (sums[0].points == 0) refuse_without_surface(threshold);
  result.points = sums[0].points;
  fill_statistics(sums[0], meter, options, result);
  for (const SurfaceView& view : sums[0].views) result.views.push_back(view.slice());
  if (!options.surface->closed())
    context.progress.warning("the nominal surface is not closed: near its openings inside and outside may be mistaken");
  if (options.surface->inside_out())
    context.progress.warning(options.surface->closed()
                                 ? "the nominal surface is wound inside out: it was turned, distances are above zero "
                                   "outside of what it encloses"
                                 : "the nominal surface seems to be wound inside out, and as it is not closed it was "
                                   "not turned: distances may have the wrong sign");
  const double voxel = std::max({std::abs(grid.step_mm.x), std::abs(grid.step_mm.y), std::abs(grid.step_mm.z)});
  const double share_of_area = result.area_mm2 / options.surface->area_mm2();
  if (result.alignment && (result.alignment->typical_mm > 3 * voxel || share_of_area < 0.5 || share_of_area > 2))
    context.progress.warning(format(
        "the surface does not fit the nominal one however it is turned: half of it lies more than {:.4g} mm away, "
        "and it has {:.4g} mm² instead of {:.4g}; is it the same part, in millimetres, and whole in the volume?",
        result.alignment->typical_mm, result.area_mm2, options.surface->area_mm2()));
  else if (std::abs(result.median_mm) > 10 * voxel)
    context.progress.warning(
        format("the measured surface lies {:.4g} mm off in the median: are both in the same place (--align "
               "lays one on the other), and is the nominal surface in millimetres?",
               result.median_mm));
  return result;
}

}  // namespace lepus::analysis
