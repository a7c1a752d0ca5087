// SPDX-License-Identifier: Apache-2.0
// For the tests of the chain on host and device: a small scan of counts with every fault, and the specs of corrections
// with their defaults.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/context.h"
#include "core/format.h"
#include "io/frames.h"
#include "preprocess/normalise.h"
#include "scan/document.h"
#include "scan/scan.h"

namespace lepus::chain_test {

// As a scan file gives it: with the defaults of its kind.
inline CorrectionSpec spec_of(const std::string& kind) {
  return ScanDocument(format("[[correct]]\nkind = \"{}\"\n", kind), "scan.toml").corrections().front();
}

inline double noise_at(std::uint64_t place) {  // uniform in -1 to 1
  place = (place + 1) * 0x9e3779b97f4a7c15ULL;
  place = (place ^ (place >> 30)) * 0xbf58476d1ce4e5b9ULL;
  place = (place ^ (place >> 27)) * 0x94d049bb133111ebULL;
  return static_cast<double>((place ^ (place >> 31)) >> 11) * 0x1p-52 - 1;
}

// A cylinder seen by a beam that gets weaker, with gains, noise, hot pixels, zingers and pixels without light; uint16.
class CountFrames final : public FrameSource {
public:
  CountFrames(std::int64_t columns, std::int64_t rows, std::int64_t views)
      : columns_(columns), rows_(rows), views_(views) {}
  std::int64_t columns() const override { return columns_; }
  std::int64_t rows() const override { return rows_; }
  std::int64_t frames() const override { return views_; }
  PixelType pixel_type() const override { return PixelType::u16; }
  std::string name(std::int64_t frame) const override { return format("view {}", frame); }
  void read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const override {
    auto* pixel = static_cast<std::uint16_t*>(out);
    for (std::int64_t row = row0; row < row1; ++row)
      for (std::int64_t column = 0; column < columns_; ++column) *pixel++ = count(frame, row, column);
  }

private:
  std::uint16_t count(std::int64_t view, std::int64_t row, std::int64_t column) const {
    const auto place = static_cast<std::uint64_t>((view * rows_ + row) * columns_ + column);
    const double middle = 0.5 * static_cast<double>(columns_) + 3 * std::sin(0.1 * static_cast<double>(view));
    const double x = (static_cast<double>(column) - middle) / (0.3 * static_cast<double>(columns_));
    const double line = x * x < 1 ? 1.5 * std::sqrt(1 - x * x) : 0;
    const double beam = 1 - 0.1 * static_cast<double>(view) / static_cast<double>(views_);
    const double gain = 1 + 0.01 * noise_at(static_cast<std::uint64_t>(row * columns_ + column));
    double level = 50000 * beam * gain * std::exp(-line) * (1 + 0.005 * noise_at(place));
    if (row == 4 && column == columns_ / 4) level *= 1.4;
    if (place % 9973 == 5) level *= 1.3;
    if (place % 8171 == 9) return 100;  // no more than the dark: one count is taken for it
    return static_cast<std::uint16_t>(100 + std::min(level, 65000.0));
  }
  std::int64_t columns_, rows_, views_;
};

inline Normalisation normalisation_of(std::int64_t columns, std::int64_t rows) {
  Normalisation normalisation;
  normalisation.columns = columns;
  normalisation.rows = rows;
  normalisation.dark = Buffer<float>(columns * rows);
  for (float& dark : normalisation.dark) dark = 100;
  normalisation.log_i0 = Buffer<float>(columns * rows);
  for (float& log_i0 : normalisation.log_i0) log_i0 = std::log(50000.0F);
  return normalisation;
}

class SmallScan {
public:
  static CircularScan circle() {
    CircularScan orbit;
    orbit.source_axis_mm = 400;
    orbit.source_detector_mm = 700;
    orbit.columns = columns;
    orbit.rows = rows;
    orbit.pixel_width_mm = orbit.pixel_height_mm = 1;
    for (int i = 0; i < views; ++i) orbit.angles_rad.push_back(2 * pi * i / views);
    return orbit;
  }

  explicit SmallScan(std::vector<CorrectionSpec> specs) : context_{threads_, never_, silent_} {
    scan.geometry = build_scan(circle());
    scan.recorded = {columns, rows, views, PixelType::u16};
    scan.selection.rows = rows;
    scan.corrections = std::move(specs);
  }

  std::pair<CountFrames, Normalisation> inputs() const {
    return {CountFrames(columns, rows, views), normalisation_of(columns, rows)};
  }
  Context& context() const { return context_; }

  static constexpr int columns = 161, rows = 19, views = 60;
  Scan scan;

private:
  mutable ThreadPool threads_{2};
  CancelFlag never_;
  mutable Progress silent_;
  mutable Context context_;
};

// One of each family, with and without halo rows, before and after the log.
inline std::vector<CorrectionSpec> long_chain() {
  std::vector<CorrectionSpec> specs;
  for (const char* kind : {"dead-pixels", "zingers", "lag", "drift", "hot-pixels", "filter", "rings", "hardening"})
    specs.push_back(spec_of(kind));
  specs[5].parameters["pictures"] = std::string("frames");
  specs[5].parameters["dimensions"] = std::int64_t{2};
  specs[5].parameters["radius_px"] = std::int64_t{2};
  specs[5].parameters["filter"] = std::string("median");
  specs[7].parameters["coefficients"] = std::vector<double>{1.0, 0.05};
  return specs;
}

}  // namespace lepus::chain_test
