// SPDX-License-Identifier: Apache-2.0
// For the pixels' fault tests: scans of ellipses in a parallel beam with known truth and noise, faults added to them,
// and what a correction made of those. Sinograms of 128 views x 624 columns, grey levels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "correct/pixels/hot_reference.h"
#include "correct/pixels/pixel_cases.h"
#include "correct/pixels/pixels.h"

namespace lepus::pixels {

inline constexpr std::int64_t columns = 624, views = 128;
inline constexpr double radian = 3.14159265358979 / 180;

// Ellipses in a parallel beam, in units of the detector's half width: centre, semi-axes, turned by an angle, and the
// line integral along the second axis.
struct Ellipse {
  double x, y, a, b, degrees, most;
};
inline const std::vector<Ellipse> object = {{0.024, -0.016, 0.8, 0.8, 0, 2},
                                            {0.32, 0.16, 0.2, 0.2, 0, 0.6},
                                            {-0.24, 0.28, 0.144, 0.144, 0, -0.288},
                                            {-0.16, -0.4, 0.08, 0.08, 0, 0.6},
                                            {0.08, -0.16, 0.032, 0.032, 0, 0.4}};
// Shepp and Logan's head with the contrast of Toft's version, its skull of 1.5 per half width.
inline const std::vector<Ellipse> head = {
    {0, 0, 0.69, 0.92, 0, 2.76},          {0, -0.0184, 0.6624, 0.874, 0, -2.0976},
    {0.22, 0, 0.11, 0.31, -18, -0.186},   {-0.22, 0, 0.16, 0.41, 18, -0.246},
    {0, 0.35, 0.21, 0.25, 0, 0.075},      {0, 0.1, 0.046, 0.046, 0, 0.0138},
    {0, -0.1, 0.046, 0.046, 0, 0.0138},   {-0.08, -0.605, 0.046, 0.023, 0, 0.0069},
    {0, -0.605, 0.023, 0.023, 0, 0.0069}, {0.06, -0.605, 0.023, 0.046, 0, 0.0138}};
inline const std::vector<Ellipse> cylinder = {{0, 0, 0.8, 0.8, 0, 4}, {0.3, 0.15, 0.2, 0.2, 0, 0.6}};

// Every detector row is another scan of the same object with other noise and other faults.
struct FaultScan {
  TestBand truth, noisy;            // grey levels without noise, and with it
  std::vector<double> noise;        // of each column, rms over the views
  std::vector<double> least, most;  // line integral of each column over the views
  // No photons: no noise.
  FaultScan(const std::vector<Ellipse>& ellipses, std::int64_t rows, double photons, unsigned seed,
            double degrees = 360)
      : truth(columns, views, rows), noisy(columns, views, rows), noise(columns), least(columns, 1e9), most(columns) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    for (std::int64_t view = 0; view < views; ++view)
      for (std::int64_t x = 0; x < columns; ++x) {
        const double angle = degrees * radian * static_cast<double>(view) / views;
        double p = 0;
        for (const Ellipse& e : ellipses) {
          const double turned = angle - e.degrees * radian;
          const double width = std::hypot(e.a * std::cos(turned), e.b * std::sin(turned));
          for (int part = 0; part < 4; ++part) {
            const double u = (static_cast<double>(x) + 0.125 + 0.25 * part) / (columns / 2) - 1;
            const double t = (u - e.x * std::cos(angle) - e.y * std::sin(angle)) / width;
            if (t * t < 1) p += e.most * e.a / width * std::sqrt(1 - t * t) / 4;
          }
        }
        const auto i = static_cast<std::size_t>(x);
        const double grey = std::exp(-p), sigma = photons > 0 ? std::sqrt(grey / photons) : 0;
        noise[i] += sigma * sigma / views;
        least[i] = std::min(least[i], p);
        most[i] = std::max(most[i], p);
        for (std::int64_t row = 0; row < rows; ++row) {
          truth.at(row, view, x) = static_cast<float>(grey);
          noisy.at(row, view, x) = static_cast<float>(grey + sigma * normal(random));
        }
      }
    for (double& variance : noise) variance = std::sqrt(variance);
  }
};

enum class Fault { offset, noise };  // a constant of either sign; or noise from view to view

struct FaultPlan {
  Fault fault = Fault::offset;
  int runs = 5, longest = 5;
  std::int64_t apart = 20;  // columns between two runs: one does not lie in the other's windows
  double strength = 5;      // times local_noise
  std::vector<double> local_noise;
  std::vector<bool> allowed;  // columns
};

// Adds the faults to every row; returns which columns of which row have one.
inline std::vector<unsigned char> add_faults(TestBand& band, const FaultPlan& plan, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<unsigned char> faulty(static_cast<std::size_t>(band.rows * columns));
  for (std::int64_t row = 0; row < band.rows; ++row) {
    unsigned char* hot = faulty.data() + row * columns;
    int placed = 0;
    for (int attempt = 0; attempt < 1000 && placed < plan.runs; ++attempt) {
      const auto length = 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(plan.longest));
      const auto first = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(columns - length + 1));
      bool free = true;
      for (std::int64_t x = first; x < first + length; ++x) free = free && plan.allowed[static_cast<std::size_t>(x)];
      for (std::int64_t x = std::max<std::int64_t>(0, first - plan.apart);
           x < std::min(columns, first + length + plan.apart); ++x)
        free = free && !hot[x];
      if (!free) continue;
      ++placed;
      for (std::int64_t x = first; x < first + length; ++x) {
        hot[x] = 1;
        const double size = plan.strength * plan.local_noise[static_cast<std::size_t>(x)] * (random() % 2 ? 1 : -1);
        for (std::int64_t view = 0; view < views; ++view)
          band.at(row, view, x) += static_cast<float>(plan.fault == Fault::offset ? size : size * normal(random));
      }
    }
  }
  return faulty;
}

struct Outcome {
  double recall = 0, false_positives = 0;    // of faulty columns; of all columns
  double error_before = 0, error_after = 0;  // rms against the truth in the faulty columns
};

inline Outcome correct_hot(const FaultScan& scan, TestBand faulty, const std::vector<unsigned char>& is_faulty,
                           const HotPixelOptions& options) {
  const TestBand before = faulty;
  TestHost machine;
  make_hot_pixels(options, facts_of(faulty))->apply(faulty.band(), {0, faulty.rows}, machine.queue());
  Outcome outcome;
  double count = 0;
  TestBand was = before, truth = scan.truth;
  for (std::int64_t row = 0; row < faulty.rows; ++row)
    for (std::int64_t x = 0; x < columns; ++x) {
      bool replaced = false;
      const bool bad = !is_faulty.empty() && is_faulty[static_cast<std::size_t>(row * columns + x)];
      for (std::int64_t view = 0; view < views; ++view) {
        replaced = replaced || faulty.at(row, view, x) != was.at(row, view, x);
        if (!bad) continue;
        outcome.error_before += std::pow(was.at(row, view, x) - truth.at(row, view, x), 2);
        outcome.error_after += std::pow(faulty.at(row, view, x) - truth.at(row, view, x), 2);
      }
      if (bad) {
        ++count;
        outcome.recall += replaced;
      } else {
        outcome.false_positives += replaced;
      }
    }
  outcome.false_positives /= static_cast<double>(faulty.rows * columns);
  if (count > 0) {
    outcome.recall /= count;
    outcome.error_before = std::sqrt(outcome.error_before / (count * views));
    outcome.error_after = std::sqrt(outcome.error_after / (count * views));
  }
  return outcome;
}

inline void print(const char* scene, const Outcome& o) {
  std::printf("%-52s recall %.4f  false positives %.4f %%  error %.5f -> %.5f (%.3f)\n", scene, o.recall,
              100 * o.false_positives, o.error_before, o.error_after,
              o.error_before > 0 ? o.error_after / o.error_before : 0);
}

inline std::vector<bool> everywhere() { return std::vector<bool>(columns, true); }

// What a column is compared with where nothing is wrong: the mean deviation of both its windows.
inline std::vector<double> local_deviations(const FaultScan& scan) {
  TestBand first = scan.noisy.part(0, 1);
  const HotRules rules = hot_rules({}, views);
  const auto d = reference_deviations(rules, first.band().sinograms({0, 1}), 0);
  std::vector<double> local = scan.noise;
  for (std::int64_t x = 2 * rules.reach(); x < columns - 2 * rules.reach(); ++x) {
    double sum = 0;
    for (int i = 0; i < rules.weights.window; ++i)
      sum += d.left[static_cast<std::size_t>(x - rules.weights.gap - i)] +
             d.right[static_cast<std::size_t>(x + rules.weights.gap + i)];
    local[static_cast<std::size_t>(x)] = sum / (2 * rules.weights.window);
  }
  return local;
}

}  // namespace lepus::pixels
