// SPDX-License-Identifier: Apache-2.0
#include "bench/rabbitct/make.h"

#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "core/memory.h"
#include "filter/ramp.h"
#include "filter/weights.h"
#include "geometry/camera.h"
#include "bench/rabbitct/plain.h"
#include "bench/rabbitct/score.h"
#include "simulate/project.h"
#include "simulate/random.h"
#include "simulate/simulate.h"
#include <lepus/error.h>

namespace lepus::rabbitct {
namespace {

constexpr double source_axis_mm = 750, source_detector_mm = 1200;
constexpr double detector_width_mm = 1248 * 0.32, detector_height_mm = 960 * 0.32;
constexpr std::uint32_t irregular =
    40;  // of the random generator's streams (simulate/streams.h), none of the scan's own

[[noreturn]] void refuse_option(const std::string& option, std::string what, std::string hint) {
  throw Error(ErrorKind::usage,
              {.what = std::move(what), .where = "option " + option, .why = {}, .hint = std::move(hint)});
}

// A slow wave over the sweep, as gravity bends the arm, and a little from view to view.
ViewPerturbation bent(const MakeOptions& options, std::int64_t view) {
  Random random(options.seed, irregular, static_cast<std::uint32_t>(view), 0);
  const double t = static_cast<double>(view) / static_cast<double>(options.views);
  const auto wander = [&](double wave, double noise, double phase) {
    return options.jitter * (wave * std::sin(2 * pi * (t + phase)) + noise * random.normal());
  };
  ViewPerturbation p;
  p.source_mm = {wander(0.5, 0.05, 0.1), wander(0.4, 0.05, 0.4), wander(1.0, 0.1, 0.7)};
  p.detector_mm = {wander(0.8, 0.05, 0.2), wander(0.6, 0.05, 0.9), wander(2.0, 0.1, 0.5)};
  p.in_plane_rad = radians(wander(0.08, 0.01, 0.3));
  p.pitch_rad = radians(wander(0.3, 0.02, 0.6));
  p.yaw_rad = radians(wander(0.3, 0.02, 0.8));
  p.angle_rad = radians(wander(0.1, 0.01, 0.0));
  return p;
}

void check(const MakeOptions& o) {
  if (o.version != 1 && o.version != 2)
    refuse_option("--file-version", format("there is no version {}", o.version), "give 1 or 2");
  if (o.columns < 8 || o.rows < 2 || o.columns > 65536 || o.rows > 65536)
    refuse_option("--width, --height", format("{} x {} pixels are not possible", o.columns, o.rows),
                  "give at least 8 x 2, at most 65536 each way");
  if (o.views < 3 || o.views > 1 << 20)
    refuse_option("--views", format("{} views are not possible", o.views), "give at least 3");
  if (!(o.arc_deg > 0 && o.arc_deg <= 360)) refuse_option("--arc", format("{} degrees", o.arc_deg), "give up to 360");
  if (!(o.jitter >= 0 && o.jitter <= 10)) refuse_option("--jitter", format("it is {}", o.jitter), "give 0 to 10");
  if (o.reference_slices < 0)
    refuse_option("--reference-slices", format("it is {}", o.reference_slices), "give 1 or more");
  for (const std::int64_t size : o.sizes) check_size(size);
}

std::int64_t slices_of(const MakeOptions& o, std::int64_t size) {
  if (std::find(o.sizes.begin(), o.sizes.end(), size) == o.sizes.end()) return 0;
  if (o.reference_slices > 0) return std::min(o.reference_slices, size);
  return size <= 256 ? size : size == 512 ? 32 : 8;
}

// Of one view: line integrals to what is backprojected.
class ViewFilter {
public:
  ViewFilter(const ScanGeometry& geometry, ThreadPool& threads)
      : columns_(geometry.columns), weights_(geometry), ramp_(geometry.columns, {}), threads_(threads) {
    for (int i = 0; i < threads.size(); ++i) scratch_.emplace_back(ramp_.scratch_floats());
  }
  std::vector<std::string> warnings() const { return weights_.warnings(); }

  void apply(std::int64_t view, std::int64_t rows, float* pixels, float factor) {
    threads_.parallel_for(0, rows, 8, [&](std::int64_t first, std::int64_t last, int worker) {
      float* own = pixels + first * columns_;
      weights_.apply(view, first, last, own);
      for (std::int64_t row = first; row < last; ++row, own += columns_) {
        ramp_.apply(own, scratch_[static_cast<std::size_t>(worker)].data());
        for (std::int64_t i = 0; i < columns_; ++i) own[i] *= factor;
      }
    });
  }

private:
  std::int64_t columns_;
  FdkWeights weights_;
  RampFilter ramp_;
  ThreadPool& threads_;
  std::vector<Buffer<float>> scratch_;
};

void check_memory(const MakeOptions& o) {
  std::int64_t needed = resident_bytes() + 2 * o.columns * o.rows * static_cast<std::int64_t>(sizeof(float));
  for (const std::int64_t size : sizes)
    needed += slices_of(o, size) * size * size * static_cast<std::int64_t>(sizeof(double));
  if (o.memory_bytes > 0 && needed > o.memory_bytes)
    throw Error(ErrorKind::memory,
                {.what = "the sums of the references do not fit into the memory limit",
                 .where = {},
                 .why = format("{} are needed, the limit is {}", format_bytes(needed), format_bytes(o.memory_bytes)),
                 .hint = "give fewer --reference-slices, or a larger --memory"});
}

}  // namespace

ScanGeometry c_arm_sweep(const MakeOptions& options) {
  CircularScan scan;
  scan.source_axis_mm = source_axis_mm;
  scan.source_detector_mm = source_detector_mm;
  scan.columns = options.columns;
  scan.rows = options.rows;
  scan.pixel_width_mm = detector_width_mm / static_cast<double>(options.columns);
  scan.pixel_height_mm = detector_height_mm / static_cast<double>(options.rows);
  scan.pitch_rad = radians(0.2);
  scan.yaw_rad = radians(-0.15);
  for (std::int64_t i = 0; i < options.views; ++i) {
    scan.angles_rad.push_back(radians(options.arc_deg * static_cast<double>(i) / static_cast<double>(options.views)));
    scan.perturbations.push_back(bent(options, i));
  }
  return build_scan(scan);
}

MakeReport make(const std::filesystem::path& path, const MakeOptions& options, Context& context) {
  check(options);
  check_memory(options);
  const ScanGeometry geometry = c_arm_sweep(options);
  const MadePhantom made = make_phantom(options.phantom, fitting_size_mm(geometry), options.seed);
  MakeReport report;
  report.header = {.version = options.version,
                   .columns = options.columns,
                   .rows = options.rows,
                   .views = options.views,
                   .hu_scale = {static_cast<float>(1000 / options.phantom.value_per_mm), 0}};
  if (!options.sizes.empty()) report.last_size = *std::max_element(options.sizes.begin(), options.sizes.end());
  std::vector<PlainSlices> references;
  for (const std::int64_t size : sizes) {
    if (size > report.last_size) break;
    references.emplace_back(size, spread_slices(size, slices_of(options, size)));
    report.slices.push_back(static_cast<std::int64_t>(references.back().slices().size()));
  }
  ViewFilter filter(geometry, context.threads);
  report.warnings = filter.warnings();

  DataWriter writer(path, report.header, report.last_size, options.force);
  const PhantomProjector projector(made.phantom, geometry, {});
  Buffer<float> pixels(options.columns * options.rows);
  context.progress.begin("views", options.views);
  for (std::int64_t view = 0; view < options.views; ++view) {
    context.cancel.check();
    projector.project(view, pixels.data(), context.threads, &context.cancel);
    // The file's w is the depth over the nominal distance of the axis: it is not quite 1 in the middle, and no two
    // views agree. The picture makes up for it.
    const Camera camera = camera_of(geometry, view);
    const double w = -dot(camera.direction, camera.source_mm) / source_axis_mm;
    Matrix34 matrix = geometry.matrices[static_cast<std::size_t>(view)];
    for (double& number : matrix.m) number *= w;
    filter.apply(view, options.rows, pixels.data(), static_cast<float>(w * w));
    writer.write_view(matrix, pixels.data());
    for (PlainSlices& slices : references)
      if (!slices.slices().empty()) slices.add(matrix, options.columns, options.rows, pixels.data(), context.threads);
    context.progress.advance();
  }
  context.progress.end();

  std::vector<std::uint16_t> slice;
  for (std::size_t i = 0; i < references.size(); ++i) {
    const std::int64_t size = sizes[i];
    const auto& computed = references[i].slices();
    for (std::int64_t z = 0; z < size; ++z) {
      const auto found = std::lower_bound(computed.begin(), computed.end(), z);
      if (found == computed.end() || *found != z) {
        writer.write_slice(size, nullptr);
        continue;
      }
      const double* values = references[i].values(static_cast<std::size_t>(found - computed.begin()));
      slice.resize(static_cast<std::size_t>(size * size));
      for (std::size_t k = 0; k < slice.size(); ++k)
        slice[k] = static_cast<std::uint16_t>(std::floor(unrounded_hu(values[k], report.header.hu_scale) + 0.5));
      writer.write_slice(size, slice.data());
    }
  }
  writer.finish();
  return report;
}

}  // namespace lepus::rabbitct
