// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/row_filter.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/format.h"
#include "device/opencl/program.h"
#include <lepus/error.h>
#include <lepus/math.h>

namespace lepus::opencl {
namespace {

// Points of a transform in local memory: enough for detectors of 2048 columns; four groups of them fit a
// multiprocessor.
constexpr std::int64_t maximum_points = 4096, minimum_points = 16;
constexpr std::int64_t spare_local_bytes = 1024;                   // for what is not the line
constexpr std::int64_t long_lines_bytes = std::int64_t{64} << 20;  // that long rows may take

// As kernels/row_filter.cl has them.
struct WeightOnDevice {
  cl_float along, along_u, along_v, across, across_u, across_v, height, height_u, height_v;
  cl_float radius;
  cl_float share, per_row, per_row_change;
  cl_float redundancy;
  cl_float margin;
  cl_int first_partner, partners;
  cl_int varies, needs_gamma, needs_rho, upright, narrow;
};
struct JobOnDevice {
  cl_long view_pixels, out_row, out_view;
  cl_int type, length, points;
  cl_int columns, before, wide;
  cl_int first_view, view_step, row0, row1, counted_row0, counted_row1;
  cl_int normalise, dead_runs, extension, beam;
  cl_float log_i0_everywhere, clip, saturation;
  cl_float middle_column, middle_row, fade_start, fade_scale;
};
struct DeadRun {
  cl_int row, begin, end;
};
struct Complex {
  cl_float x, y;
};

// Rows in single precision counted from the detector's middle, from the view's numbers in double precision: devices
// need no doubles.
WeightOnDevice on_device(const ViewWeight& w, const WeightShape& shape) {
  const auto middle = [&](const double* c) {
    return static_cast<cl_float>(c[0] + shape.middle_column * c[1] + shape.middle_row * c[2]);
  };
  const auto f = [](double value) { return static_cast<cl_float>(value); };
  WeightOnDevice d{};
  d.along = middle(w.along), d.along_u = f(w.along[1]), d.along_v = f(w.along[2]);
  d.across = middle(w.across), d.across_u = f(w.across[1]), d.across_v = f(w.across[2]);
  d.height = middle(w.height), d.height_u = f(w.height[1]), d.height_v = f(w.height[2]);
  d.radius = f(w.radius_mm);
  // project/ray_weight.h, row_factor: affine in the row below the fraction's line.
  if (shape.beam == Beam::parallel) {
    d.share = f(w.share_rad * w.elevation);
    d.per_row = f(w.across[1]);
  } else {
    const double along = w.along[0] + shape.middle_row * w.along[2];
    const double across = w.across[0] + shape.middle_row * w.across[2];
    d.share = f(w.share_rad * w.radius_mm);
    d.per_row = f(w.along[1] * across - w.across[1] * along);
    d.per_row_change = f(w.along[1] * w.across[2] - w.across[1] * w.along[2]);
  }
  d.redundancy = w.redundancy;
  d.margin = w.margin;
  d.first_partner = w.first_partner, d.partners = w.partners;
  d.varies = w.varies, d.needs_gamma = w.needs_gamma, d.needs_rho = w.needs_rho;
  d.upright = w.upright, d.narrow = w.narrow;
  return d;
}

std::vector<DeadRun> runs_of_dead(std::span<const std::int64_t> dead, std::int64_t columns) {
  std::vector<DeadRun> runs;
  for (const std::int64_t pixel : dead) {
    const auto row = static_cast<cl_int>(pixel / columns), column = static_cast<cl_int>(pixel % columns);
    if (!runs.empty() && runs.back().row == row && runs.back().end == column)
      ++runs.back().end;
    else
      runs.push_back({row, column, column + 1});
  }
  std::erase_if(runs, [&](const DeadRun& run) { return run.end - run.begin == columns; });  // nothing to bridge from
  return runs;
}

// The steps that take a transform of `length` apart, down to blocks of `points`.
std::vector<std::int64_t> radices(std::int64_t length, std::int64_t points) {
  std::vector<std::int64_t> steps;
  for (std::int64_t m = length; m > points; m /= steps.back())
    steps.push_back(m % 3 == 0 ? 3 : m % 4 == 0 && m / 2 > points ? 4 : 2);
  return steps;
}

// Which frequency lies at each place between the way there and the way back: a place's digits, the first step's the
// largest, are the frequency's digits, the first step's the smallest.
std::vector<std::int64_t> frequencies(const std::vector<std::int64_t>& steps, std::int64_t length) {
  std::vector<std::int64_t> at(static_cast<std::size_t>(length));
  for (std::int64_t i = 0; i < length; ++i) {
    std::int64_t frequency = 0, weight = 1, block = length, place = i;
    for (const std::int64_t radix : steps) {
      block /= radix;
      frequency += place / block * weight;
      place %= block;
      weight *= radix;
    }
    at[static_cast<std::size_t>(i)] = frequency;
  }
  return at;
}

// Those of a block in local memory, as kernels/row_filter.cl walks through them.
std::vector<std::int64_t> local_radices(std::int64_t points) {
  std::vector<std::int64_t> steps;
  for (std::int64_t m = points; m > 1; m /= steps.back()) steps.push_back(m % 3 == 0 ? 3 : m % 4 == 0 ? 4 : 2);
  return steps;
}

[[noreturn]] void refuse_filter(std::string what, std::string why) {
  throw Error(ErrorKind::internal,
              {.what = std::move(what), .where = "row filter, OpenCL", .why = std::move(why), .hint = {}});
}

std::int64_t in_groups(std::int64_t n, std::int64_t size) { return (n + size - 1) / size; }

}  // namespace

std::int64_t RowFilter::transform_length(std::int64_t shortest) {
  const auto power =
      static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max(shortest, minimum_points))));
  return power >= 4 * minimum_points && power / 4 * 3 >= shortest ? power / 4 * 3 : power;
}

template <class T>
Block RowFilter::uploaded(const std::vector<T>& values, Queue& queue) {
  if (values.empty()) return {};
  const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(T));
  Block block = device_.allocate(bytes, Place::device);
  device_.copy(block.get(), values.data(), bytes, queue);
  bytes_ += bytes;
  return block;
}

RowFilter::RowFilter(Device& device, Context& context, const RowFilterSetup& setup, Queue& queue,
                     std::int64_t points_at_once)
    : device_(device),
      context_(context),
      type_(setup.type),
      columns_(setup.columns),
      rows_(setup.rows),
      before_(setup.columns_before),
      wide_(setup.wide),
      views_(static_cast<std::int64_t>(setup.views.size())),
      shape_(setup.shape),
      saturation_(static_cast<float>(setup.saturation_level)) {
  if (columns_ < 1 || rows_ < 1 || before_ < 0 || wide_ < before_ + columns_ || setup.views.empty() ||
      setup.response.size() < 2)
    refuse_filter("sizes that do not fit",
                  format("{} columns, {} before, {} in all, {} views", columns_, before_, wide_, views_));
  if (type_ == PixelType::f64 && !context.device().doubles)
    throw Error(ErrorKind::unsupported, {.what = "frames of 64-bit floats need a device with double precision",
                                         .where = context.device().name,
                                         .why = "it lacks cl_khr_fp64",
                                         .hint = "convert the frames to 32 bits, or use the backend cpu"});
  const std::int64_t fits =
      (context.device().local_bytes - spare_local_bytes) / static_cast<std::int64_t>(sizeof(Complex));
  points_ = points_at_once > 0 ? points_at_once : std::min(maximum_points, fits);
  std::vector<WeightOnDevice> weights;
  for (const ViewWeight& view : setup.views) weights.push_back(on_device(view, shape_));
  view_weights_ = uploaded(weights, queue);
  partners_ = uploaded(std::vector<PartnerArc>(setup.partners.begin(), setup.partners.end()), queue);
  bad_ = uploaded(std::vector<BadPixels>(setup.views.size()), queue);
  if (setup.normalisation) upload_normalisation(setup, queue);
  upload_response(setup, queue);
}

void RowFilter::upload_normalisation(const RowFilterSetup& setup, Queue& queue) {
  const RowNormalisation& n = *setup.normalisation;
  const std::int64_t pixels = columns_ * rows_;
  normalise_ = true;
  log_i0_everywhere_ = n.log_i0_everywhere;
  clip_ = n.clip;
  if (n.dark) dark_ = uploaded(std::vector<float>(n.dark, n.dark + pixels), queue);
  const std::vector<DeadRun> runs = runs_of_dead(n.dead, columns_);
  dead_runs_ = static_cast<std::int64_t>(runs.size());
  dead_ = uploaded(runs, queue);
  if (!n.log_i0 && runs.empty()) return;
  std::vector<float> marked(static_cast<std::size_t>(pixels), n.log_i0_everywhere);
  if (n.log_i0) std::copy(n.log_i0, n.log_i0 + pixels, marked.begin());
  for (const DeadRun& run : runs)
    std::fill_n(marked.begin() + static_cast<std::ptrdiff_t>(run.row * columns_ + run.begin), run.end - run.begin,
                std::numeric_limits<float>::quiet_NaN());
  log_i0_ = uploaded(marked, queue);
}

void RowFilter::upload_response(const RowFilterSetup& setup, Queue& queue) {
  length_ = 2 * (static_cast<std::int64_t>(setup.response.size()) - 1);
  extension_ = static_cast<std::int64_t>(setup.edge.size());
  if (length_ < 2 * (wide_ + extension_) || length_ != transform_length(length_))
    refuse_filter(format("a transform of {} samples", length_),
                  format("rows of {} columns continued by {} need twice as many", wide_, extension_));
  edge_ = uploaded(std::vector<float>(setup.edge.begin(), setup.edge.end()), queue);
  outer_radices_ = radices(length_, points_);
  points_ = length_;
  for (const std::int64_t radix : outer_radices_) points_ /= radix;
  items_ = std::min<std::int64_t>(context_.device().gpu ? 256 : 64, context_.device().largest_group);
  std::vector<std::int64_t> steps = outer_radices_;
  for (const std::int64_t radix : local_radices(points_)) steps.push_back(radix);
  std::vector<float> ordered;
  for (const std::int64_t frequency : frequencies(steps, length_))
    ordered.push_back(setup.response[static_cast<std::size_t>(std::min(frequency, length_ - frequency))]);
  response_ = uploaded(ordered, queue);
  std::vector<Complex> roots;
  for (std::int64_t j = 0; j < length_; ++j) {
    const double angle = -2 * pi * static_cast<double>(j) / static_cast<double>(length_);
    roots.push_back({static_cast<cl_float>(std::cos(angle)), static_cast<cl_float>(std::sin(angle))});
  }
  roots_ = uploaded(roots, queue);
  if (in_local_memory()) return;
  const std::int64_t line = length_ * static_cast<std::int64_t>(sizeof(Complex));
  pairs_at_once_ = std::clamp<std::int64_t>(long_lines_bytes / line, 1, (rows_ + 1) / 2);
}

void RowFilter::filter(const RowBatch& batch, Queue& queue) {
  const std::int64_t last_view = batch.first_view + (batch.views - 1) * batch.view_step;
  if (batch.views < 1 || batch.row0 >= batch.row1) return;
  if (batch.row0 < 0 || batch.row1 > rows_ || batch.row0 % 2 != 0 || (batch.row1 % 2 != 0 && batch.row1 != rows_))
    refuse_filter(format("rows {} to {} of {}", batch.row0, batch.row1, rows_), "pairs of rows must stay together");
  if (std::min(batch.first_view, last_view) < 0 || std::max(batch.first_view, last_view) >= views_)
    refuse_filter(format("views {} to {} of {}", batch.first_view, last_view, views_), {});
  const auto whole = [](std::int64_t n) { return static_cast<cl_int>(n); };
  const JobOnDevice job{.view_pixels = batch.view_pixels,
                        .out_row = batch.out_row,
                        .out_view = batch.out_view,
                        .type = static_cast<cl_int>(type_),
                        .length = whole(length_),
                        .points = whole(points_),
                        .columns = whole(columns_),
                        .before = whole(before_),
                        .wide = whole(wide_),
                        .first_view = whole(batch.first_view),
                        .view_step = whole(batch.view_step),
                        .row0 = whole(batch.row0),
                        .row1 = whole(batch.row1),
                        .counted_row0 = whole(batch.counted_row0),
                        .counted_row1 = whole(batch.counted_row1),
                        .normalise = normalise_,
                        .dead_runs = whole(dead_runs_),
                        .extension = whole(extension_),
                        .beam = shape_.beam == Beam::cone  ? 0
                                : shape_.beam == Beam::fan ? 1
                                                           : 2,
                        .log_i0_everywhere = log_i0_everywhere_,
                        .clip = clip_,
                        .saturation = saturation_,
                        .middle_column = static_cast<cl_float>(shape_.middle_column),
                        .middle_row = static_cast<cl_float>(shape_.middle_row),
                        .fade_start = shape_.fade_start,
                        .fade_scale = shape_.fade_scale};
  Program& program = context_.program("row_filter", context_.device().doubles ? "-DDOUBLES" : "");
  const std::int64_t line_bytes = points_ * static_cast<std::int64_t>(sizeof(Complex));
  const cl_command_queue q = opencl_queue(queue).get();
  if (type_ == PixelType::f32 || type_ == PixelType::f64)
    KernelCall(context_, program, "repair_rows")
        .value(job)
        .memory(batch.pixels)
        .memory(bad_.get())
        .run(q, {batch.views, batch.row1 - batch.row0, 1}, {64, 1, 1});
  const auto tables = [&](KernelCall& call) {
    call.value(job).memory(batch.pixels);
    for (const Block* table : {&dark_, &log_i0_, &dead_, &partners_, &edge_, &view_weights_, &bad_})
      call.memory(table->get());
  };
  const std::int64_t pairs = in_groups(batch.row1 - batch.row0, 2);
  if (in_local_memory()) {
    KernelCall call(context_, program, "filter_rows");
    tables(call);
    call.memory(roots_.get())
        .memory(response_.get())
        .memory(batch.out)
        .local(line_bytes)
        .run(q, {batch.views, pairs, 1}, {items_, 1, 1});
    return;
  }
  constexpr std::int64_t group = 64;
  const ScratchScope scope(queue);
  auto* const lines = queue.scratch<Complex>(pairs_at_once_ * length_);
  for (std::int64_t view = 0; view < batch.views; ++view)
    for (std::int64_t pair = 0; pair < pairs; pair += pairs_at_once_) {
      const std::int64_t count = std::min(pairs_at_once_, pairs - pair);
      {
        KernelCall call(context_, program, "prepare_lines");
        tables(call);
        call.memory(lines).value(whole(view)).value(whole(pair));
        call.run(q, {in_groups(length_, group), count, 1}, {group, 1, 1});
      }
      const auto step = [&](std::int64_t radix, std::int64_t m, bool back) {
        KernelCall(context_, program, "outer_step")
            .memory(lines)
            .memory(roots_.get())
            .value(whole(length_))
            .value(whole(radix))
            .value(whole(m / radix))
            .value(static_cast<cl_int>(back))
            .run(q, {in_groups(length_ / radix, group), count, 1}, {group, 1, 1});
      };
      std::int64_t m = length_;
      for (const std::int64_t radix : outer_radices_) step(radix, m, false), m /= radix;
      KernelCall(context_, program, "inner_steps")
          .memory(lines)
          .memory(roots_.get())
          .memory(response_.get())
          .value(whole(length_))
          .value(whole(points_))
          .local(line_bytes)
          .run(q, {length_ / points_, count, 1}, {items_, 1, 1});
      for (auto radix = outer_radices_.rbegin(); radix != outer_radices_.rend(); ++radix)
        m *= *radix, step(*radix, m, true);
      KernelCall(context_, program, "keep_rows")
          .value(job)
          .memory(lines)
          .memory(batch.out)
          .value(whole(view))
          .value(whole(pair))
          .run(q, {in_groups(wide_, group), count, 1}, {group, 1, 1});
    }
}

void RowFilter::bad_pixels(std::int64_t first, std::span<BadPixels> bad, Queue& queue) const {
  device_.copy(bad.data(), reinterpret_cast<const BadPixels*>(bad_.get()) + first,
               static_cast<std::int64_t>(bad.size_bytes()), queue);
}

}  // namespace lepus::opencl
