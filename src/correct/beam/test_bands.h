// SPDX-License-Identifier: Apache-2.0
// Whole small scans in memory, [row][view][column], for the tests of this folder: run a correction over them in any
// cut, keep its warnings.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "correct/beam/beam.h"
#include "device/host/test_host.h"

namespace lepus::test_bands {

struct TestScan {
  std::int64_t columns = 0, rows = 0, views = 0;
  std::vector<float> values;  // [row][view][column]
  ScanGeometry geometry = {};

  float& at(std::int64_t row, std::int64_t view, std::int64_t column) {
    return values[static_cast<std::size_t>((row * views + view) * columns + column)];
  }
  static TestScan of_size(std::int64_t columns, std::int64_t rows, std::int64_t views) {
    return {columns, rows, views, std::vector<float>(static_cast<std::size_t>(columns * rows * views))};
  }
  // Uniform noise between low and high.
  static TestScan noise(std::int64_t columns, std::int64_t rows, std::int64_t views, float low = 0.1F,
                        float high = 1.1F) {
    TestScan scan = of_size(columns, rows, views);
    std::mt19937 random(static_cast<unsigned>(columns * 1000 + rows * 10 + views));
    std::uniform_real_distribution<float> level(low, high);
    for (float& value : scan.values) value = level(random);
    return scan;
  }

  std::vector<float> sinogram(std::int64_t row) const {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(row * views * columns);
    return {first, first + static_cast<std::ptrdiff_t>(views * columns)};
  }
  std::vector<float> frame(std::int64_t view) const {
    std::vector<float> frame;
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto first = values.begin() + static_cast<std::ptrdiff_t>((row * views + view) * columns);
      frame.insert(frame.end(), first, first + static_cast<std::ptrdiff_t>(columns));
    }
    return frame;
  }

  Buffer<float> band(RowBand band_rows) const {
    Buffer<float> buffer(band_rows.size() * views * columns);
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(band_rows.first * views * columns), buffer.size(),
                buffer.begin());
    return buffer;
  }
};

// What a maker is told; keeps a reference to the scan.
class Facts {
public:
  Facts(const TestScan& scan, Stage stage, int thread_count = 2) : threads(thread_count) {
    facts.columns = scan.columns;
    facts.rows = scan.rows;
    facts.views = scan.views;
    facts.geometry = &scan.geometry;
    facts.stage = stage;
    facts.band = [&scan](RowBand rows) { return scan.band(rows); };
    facts.threads = &threads;
    facts.warning = [this](const std::string& message) { warnings.push_back(message); };
  }
  Facts(const Facts&) = delete;
  Facts& operator=(const Facts&) = delete;

  std::vector<std::string> warnings;
  ThreadPool threads;
  ScanFacts facts;
};

// The whole scan through the correction, `rows_at_once` rows wanted at a time, each band with exactly what it asks for.
inline std::vector<float> corrected(Correction& correction, const TestScan& scan, std::int64_t rows_at_once,
                                    int threads) {
  TestHost machine(threads);
  std::vector<float> result(scan.values.size());
  for (std::int64_t first = 0; first < scan.rows; first += rows_at_once) {
    const RowBand wanted{first, std::min(scan.rows, first + rows_at_once)};
    const RowBand needed = correction.rows_needed(wanted, scan.rows);
    Buffer<float> rows = scan.band(needed);
    SinogramBand band{rows.data(), scan.columns, scan.views, needed, scan.rows};
    correction.apply(band, wanted, machine.queue());
    std::copy_n(band.sinograms(wanted).data, wanted.size() * scan.views * scan.columns,
                result.begin() + static_cast<std::ptrdiff_t>(first * scan.views * scan.columns));
  }
  return result;
}

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace lepus::test_bands
