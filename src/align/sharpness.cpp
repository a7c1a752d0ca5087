// SPDX-License-Identifier: Apache-2.0
// Trial reconstructions: with the axis in the wrong place edges are doubled and smeared, and the spectrum of a line
// through the object falls off earlier. Score: the mean frequency, sum(k |F(k)|) / sum(|F(k)|), of a few rows and
// columns of the image, chosen once from the first trial.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>

#include <fftw3.h>

#include "align/center_score.h"
#include "align/trial_slice.h"
#include "core/fftw_planner.h"

namespace lepus {
namespace {

// |F| of real lines of one length.
class LineSpectrum {
public:
  explicit LineSpectrum(std::int64_t length)
      : length_(length), in_(static_cast<std::size_t>(length)), out_(static_cast<std::size_t>(length / 2 + 1)) {
    const auto lock = lock_fftw_planner_with_room(length);
    plan_ = fftw_plan_dft_r2c_1d(static_cast<int>(length), in_.data(), reinterpret_cast<fftw_complex*>(out_.data()),
                                 FFTW_ESTIMATE);
  }
  ~LineSpectrum() {
    const auto lock = lock_fftw_planner();
    fftw_destroy_plan(plan_);
  }
  LineSpectrum(const LineSpectrum&) = delete;
  LineSpectrum& operator=(const LineSpectrum&) = delete;

  // Frequencies in cycles per pixel. The ends of the line are faded out: an object that reaches them is not an edge.
  ScoreParts mean_frequency(const std::vector<float>& line) {
    const std::int64_t fade = std::max<std::int64_t>(1, length_ / 10);
    for (std::int64_t i = 0; i < length_; ++i) {
      const std::int64_t from_end = std::min(i, length_ - 1 - i);
      const double window =
          from_end >= fade
              ? 1
              : 0.5 - 0.5 * std::cos(pi * (static_cast<double>(from_end) + 0.5) / static_cast<double>(fade));
      in_[static_cast<std::size_t>(i)] = window * static_cast<double>(line[static_cast<std::size_t>(i)]);
    }
    fftw_execute(plan_);
    ScoreParts sum;
    for (std::size_t k = 1; k < out_.size(); ++k) {
      const double power = std::abs(out_[k]);
      sum.numerator += static_cast<double>(k) / static_cast<double>(length_) * power;
      sum.denominator += power;
    }
    return sum;
  }

private:
  std::int64_t length_;
  std::vector<double> in_;
  std::vector<std::complex<double>> out_;
  fftw_plan plan_;
};

// `count` positions spread over the range in which the sums exceed a fifth of the largest.
std::vector<std::int64_t> spread_over_object(const std::vector<double>& sums, int count) {
  const double limit = 0.2 * *std::max_element(sums.begin(), sums.end());
  const auto inside = [&](double s) { return s > limit; };
  const auto first = std::find_if(sums.begin(), sums.end(), inside) - sums.begin();
  const auto last =
      static_cast<std::ptrdiff_t>(sums.size()) - 1 - (std::find_if(sums.rbegin(), sums.rend(), inside) - sums.rbegin());
  if (last < first) return {static_cast<std::int64_t>(sums.size() / 2)};
  std::vector<std::int64_t> chosen;
  chosen.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    chosen.push_back(first + static_cast<std::int64_t>((i + 0.5) / count * static_cast<double>(last - first)));
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

class SharpnessScore final : public CenterScore {
public:
  SharpnessScore(const CenterInput& input, double first_column, Context& context)
      : input_(input), frame_(trial_frame(input)), spectrum_(frame_.size) {
    const double angle = axis_line(input.geometry, input.middle_row).angle_rad;
    for (std::size_t b = 0; b < input.bands.size(); ++b)
      lines_.push_back(choose({&input, static_cast<std::int64_t>(b), first_column, angle}, context));
  }

  ScoreParts parts(std::int64_t band, double column, double angle_rad, Context& context) override {
    ScoreParts sum;
    for (const auto& line :
         trial_lines({&input_, band, column, angle_rad}, lines_[static_cast<std::size_t>(band)], context)) {
      const ScoreParts one = spectrum_.mean_frequency(line);
      sum.numerator += one.numerator;
      sum.denominator += one.denominator;
    }
    return sum;
  }

private:
  std::vector<PixelLine> choose(const TrialSetup& first, Context& context) const {
    const auto image = trial_lines(first, frame_.rows(), context);
    std::vector<double> by_row(image.size()), by_column(image.size());
    for (std::size_t y = 0; y < image.size(); ++y)
      for (std::size_t x = 0; x < image.size(); ++x) {
        by_row[y] += std::abs(static_cast<double>(image[y][x]));
        by_column[x] += std::abs(static_cast<double>(image[y][x]));
      }
    std::vector<PixelLine> lines;
    for (const std::int64_t y : spread_over_object(by_row, input_.options.lines))
      lines.push_back(frame_.rows()[static_cast<std::size_t>(y)]);
    for (const std::int64_t x : spread_over_object(by_column, input_.options.lines))
      lines.push_back({{frame_.position_mm(x), frame_.position_mm(0), 0}, {0, frame_.pixel_mm(), 0}, frame_.size});
    return lines;
  }

  const CenterInput& input_;
  TrialFrame frame_;
  LineSpectrum spectrum_;
  std::vector<std::vector<PixelLine>> lines_;
};

}  // namespace

std::unique_ptr<CenterScore> make_sharpness_score(const CenterInput& input, double first_column, Context& context) {
  return std::make_unique<SharpnessScore>(input, first_column, context);
}

}  // namespace lepus
