// SPDX-License-Identifier: Apache-2.0
#include "row_filter_cases.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "io/pixels.h"
#include "preprocess/dead_pixels.h"

namespace lepus::gpu_test {
namespace {

// A number in [0, 1) that depends on its place only.
double noise(std::uint64_t place) {
  place = (place + 1) * 0x9e3779b97f4a7c15ULL;
  place = (place ^ (place >> 30)) * 0xbf58476d1ce4e5b9ULL;
  place = (place ^ (place >> 27)) * 0x94d049bb133111ebULL;
  return static_cast<double>((place ^ (place >> 31)) >> 11) * 0x1p-53;
}

}  // namespace

std::vector<std::uint16_t> random_frame(std::int64_t view, std::int64_t pixels) {
  std::vector<std::uint16_t> frame(static_cast<std::size_t>(pixels));
  for (std::int64_t i = 0; i < pixels; ++i)
    frame[static_cast<std::size_t>(i)] =
        static_cast<std::uint16_t>(2000 + 52000 * noise(static_cast<std::uint64_t>(view * pixels + i)));
  return frame;
}

RowCase::RowCase(const ScanGeometry& scan, const CaseOptions& with) : geometry(scan), options(with), weights(scan) {
  normalisation_.columns = geometry.columns;
  normalisation_.rows = geometry.rows;
  normalisation_.log_i0_everywhere = static_cast<float>(std::log(60000.0));
  const std::int64_t pixels = geometry.columns * geometry.rows;
  if (options.flats) {
    normalisation_.dark = Buffer<float>(pixels);
    normalisation_.log_i0 = Buffer<float>(pixels);
    for (std::int64_t i = 0; i < pixels; ++i) {
      normalisation_.dark[i] = static_cast<float>(100 + 50 * noise(static_cast<std::uint64_t>(i)));
      normalisation_.log_i0[i] =
          static_cast<float>(std::log(58000 + 4000 * noise(static_cast<std::uint64_t>(i + pixels))));
    }
  }
  if (options.dead) {  // single ones, runs, both edges of rows, a whole row
    const std::int64_t c = geometry.columns;
    for (const std::int64_t pixel : {std::int64_t{0}, c - 1, c, 2 * c + 5, 2 * c + 6, 2 * c + 7, 3 * c + 9, 4 * c - 1})
      normalisation_.unusable.push_back(pixel);
    for (std::int64_t i = 0; i < c; ++i) normalisation_.unusable.push_back(5 * c + i);
    for (const std::int64_t pixel : normalisation_.unusable) dead_.push_back(pixel);
  }
}

std::vector<float> RowCase::on_cpu(std::int64_t view, std::int64_t row0, std::int64_t row1, const void* pixels,
                                   Weights precision) const {
  const std::int64_t columns = geometry.columns, count = row1 - row0;
  std::vector<float> rows(static_cast<std::size_t>(count * columns));
  convert_to_float(options.type, pixels, count * columns, rows.data());
  if (options.counts) normalisation_.apply(row0, row1, rows.data());
  if (options.dead) bridge_along_rows(dead_pixels(normalisation_, 0.05), columns, row0, row1, rows.data());
  if (precision == Weights::single_precision) {
    weights.apply(view, row0, row1, rows.data());
  } else {
    for (std::int64_t i = 0; i < count * columns; ++i) {
      float& value = rows[static_cast<std::size_t>(i)];
      value = static_cast<float>(static_cast<double>(value) * weights.at(view, static_cast<double>(i % columns),
                                                                         static_cast<double>(row0 + i / columns)));
    }
  }
  const RampFilter ramp(wide(), options.ramp);
  Buffer<float> scratch(ramp.scratch_floats());
  std::vector<float> filtered(static_cast<std::size_t>(count * wide()));
  for (std::int64_t row = 0; row < count; ++row) {
    float* line = filtered.data() + row * wide();
    std::copy_n(rows.data() + row * columns, columns, line + before());
    ramp.apply(line, scratch.data());
  }
  return filtered;
}

cuda::RowFilter RowCase::device_filter() const {
  RowNormalisation normalisation;
  normalisation.dark = options.flats ? normalisation_.dark.data() : nullptr;
  normalisation.log_i0 = options.flats ? normalisation_.log_i0.data() : nullptr;
  normalisation.log_i0_everywhere = normalisation_.log_i0_everywhere;
  normalisation.clip = normalisation_.clip;
  normalisation.dead = dead_;
  const std::int64_t shortest = shortest_ramp_transform(wide(), options.ramp);
  const RampTransfer transfer = ramp_transfer(
      wide(), options.ramp, options.transform > 0 ? options.transform : cuda::RowFilter::transform_length(shortest));
  cuda::RowFilterSetup setup;
  setup.columns = geometry.columns;
  setup.rows = geometry.rows;
  setup.columns_before = before();
  setup.wide = wide();
  setup.type = options.type;
  setup.normalisation = options.counts ? &normalisation : nullptr;
  setup.shape = weights.rays().shape;
  setup.views = weights.rays().views;
  setup.partners = weights.rays().partners;
  setup.response = transfer.response;
  setup.edge = transfer.edge;
  setup.saturation_level = options.saturation;
  return cuda::RowFilter(setup);
}

Difference difference(const float* expected, const float* got, std::int64_t n) {
  double largest = 0, sum = 0, worst = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
    const double d = static_cast<double>(expected[i]) - static_cast<double>(got[i]);
    sum += d * d;
    if (!(std::abs(d) <= worst)) worst = std::abs(d);  // also where it is not a number
  }
  return {largest, std::sqrt(sum / static_cast<double>(n)) / largest, worst / largest};
}

}  // namespace lepus::gpu_test
