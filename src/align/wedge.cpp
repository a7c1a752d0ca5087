// SPDX-License-Identifier: Apache-2.0
// Sinogram fitting (Vo et al., Opt. Express 22, 19078 (2014)): a parallel sinogram over a full turn, made of half a
// turn and its mirror image about the trial axis, has no energy where |k| > 2 pi r |nu| (k: cycles per turn, nu: cycles
// per column, r: radius of the object in columns). A wrong axis breaks the sinogram where its halves meet, and that
// fills the empty wedge. Fans are brought to a parallel half turn first.
#include <algorithm>
#include <cmath>
#include <complex>

#include <fftw3.h>

#include "align/center_score.h"
#include "core/fftw_planner.h"
#include "core/format.h"
#include <lepus/error.h>

namespace lepus {
namespace {

float weighted(const float* p, const std::array<float, 4>& w) {
  return w[0] * p[0] + w[1] * p[1] + w[2] * p[2] + w[3] * p[3];
}

class WedgeScore final : public CenterScore {
public:
  WedgeScore(const CenterInput& input, Context&) : input_(input), line_(axis_line(input.geometry, input.middle_row)) {
    order_views();
    height_ = 2 * half_views_;
    width_ = input.geometry.columns;
    picture_.resize(static_cast<std::size_t>(height_ * width_));
    spectrum_.resize(static_cast<std::size_t>(height_ * (width_ / 2 + 1)));
    const auto lock = lock_fftw_planner_with_room(std::max(height_, width_));
    plan_ = fftwf_plan_dft_r2c_2d(static_cast<int>(height_), static_cast<int>(width_), picture_.data(),
                                  reinterpret_cast<fftwf_complex*>(spectrum_.data()), FFTW_ESTIMATE);
  }
  ~WedgeScore() override {
    const auto lock = lock_fftw_planner();
    fftwf_destroy_plan(plan_);
  }
  WedgeScore(const WedgeScore&) = delete;
  WedgeScore& operator=(const WedgeScore&) = delete;

  ScoreParts parts(std::int64_t b, double column, double angle_rad, Context& context) override {
    const CenterBand& band = input_.bands[static_cast<std::size_t>(b)];
    const double crossing = column + std::tan(angle_rad) * line_.aspect * (band.middle() - line_.middle_row);
    const std::int64_t views = input_.geometry.views();
    std::vector<float> level = level_row(band, views, width_, crossing, std::tan(angle_rad) / line_.aspect);
    // Noise that depends on the fraction of a column would draw the score to half columns.
    context.threads.parallel_for(0, views, 8, [&](std::int64_t begin, std::int64_t end, int) {
      std::vector<float> row(static_cast<std::size_t>(width_));
      for (std::int64_t view = begin; view < end; ++view) {
        blur_row(level.data() + view * width_, width_, row.data());
        std::copy(row.begin(), row.end(), level.begin() + view * width_);
      }
    });
    fill(level, band.middle(), crossing, context);
    fftwf_execute(plan_);
    return {-wedge_energy(), 1};
  }

private:
  // Views in the order of their angles, unrolled, and how many make half a turn.
  void order_views() {
    std::vector<std::pair<double, std::int64_t>> list;
    double last = 0;
    for (std::int64_t view = 0; view < input_.geometry.views(); ++view) {
      double angle = view_angle_rad(camera_of(input_.geometry, view));
      if (view > 0) angle = last + std::remainder(angle - last, 2 * pi);
      last = angle;
      list.emplace_back(angle, view);
    }
    std::sort(list.begin(), list.end());
    for (const auto& [angle, view] : list) {
      angles_.push_back(angle - list.front().first);
      views_.push_back(view);
    }
    const double covered = angles_.back(), step = covered / static_cast<double>(angles_.size() - 1);
    const RowFan fan(input_.geometry, line_.column, line_.middle_row);
    reach_ = 0;
    for (const double x : {-line_.column, static_cast<double>(input_.geometry.columns - 1) - line_.column})
      reach_ = std::max(reach_, std::abs(fan.angle_rad(x)));
    if (covered + 1.5 * step < pi + 2 * reach_)
      throw Error(ErrorKind::input, {.what = "sinogram fitting needs half a turn",
                                     .where = "method wedge",
                                     .why = format("the views cover {:.1f} degrees, {:.1f} are needed",
                                                   degrees(covered + step), degrees(pi + 2 * reach_)),
                                     .hint = "use the method sharpness"});
    half_views_ = std::max<std::int64_t>(8, std::llround(pi / step));
    step_ = pi / static_cast<double>(half_views_);
  }

  // First half of the picture: theta = start + j step, columns at s; second half: the same at -s.
  void fill(const std::vector<float>& level, double row, double crossing, Context& context) {
    const RowFan fan(input_.geometry, line_.column_at(row), row);
    const double middle = 0.5 * static_cast<double>(width_ - 1);
    struct Source {
      double first_angle;  // of the view that sees s, for j = 0
      std::int64_t column;
      std::array<float, 4> weights;
    };
    std::vector<Source> sources;
    for (const double side : {1.0, -1.0})
      for (std::int64_t i = 0; i < width_; ++i) {
        const double x = side * (static_cast<double>(i) - middle);
        // Beyond the detector the nearest column goes on, so that no edge arises there.
        const double u = std::clamp(crossing + x, 1.0, static_cast<double>(width_) - 3.001);
        const auto u0 = static_cast<std::int64_t>(u);
        sources.push_back({reach_ - fan.angle_rad(x), u0 - 1, spline_weights(u - static_cast<double>(u0))});
      }
    context.threads.parallel_for(0, half_views_, 16, [&](std::int64_t begin, std::int64_t end, int) {
      std::vector<std::size_t> views(sources.size());  // the last one at or before the angle
      for (std::int64_t j = begin; j < end; ++j)
        for (std::size_t i = 0; i < sources.size(); ++i) {
          const Source& s = sources[i];
          const double beta = s.first_angle + static_cast<double>(j) * step_;
          std::size_t& k = views[i];
          if (j == begin)
            k = static_cast<std::size_t>(std::max<std::ptrdiff_t>(
                0, std::upper_bound(angles_.begin(), angles_.end() - 1, beta) - angles_.begin() - 1));
          while (k + 2 < angles_.size() && angles_[k + 1] <= beta) ++k;
          k = std::min(k, angles_.size() - 2);
          const double t = std::clamp((beta - angles_[k]) / (angles_[k + 1] - angles_[k]), 0.0, 1.0);
          const float a = weighted(level.data() + views_[k] * width_ + s.column, s.weights);
          const float b = weighted(level.data() + views_[k + 1] * width_ + s.column, s.weights);
          const auto column = static_cast<std::int64_t>(i) % width_;
          const bool mirrored = static_cast<std::int64_t>(i) >= width_;
          picture_[static_cast<std::size_t>((mirrored ? half_views_ + j : j) * width_ + column)] =
              a + static_cast<float>(t) * (b - a);
        }
    });
  }

  // Mean |F| in the wedge. The first harmonics are left out: they hold drift, and the object's edge in any case.
  double wedge_energy() const {
    const double radius = 0.5 * static_cast<double>(width_);
    const std::int64_t skipped = std::max<std::int64_t>(3, half_views_ / 20);
    double sum = 0, count = 0;
    for (std::int64_t k = 0; k < height_; ++k) {
      const std::int64_t harmonic = std::min(k, height_ - k);
      if (harmonic < skipped) continue;
      const auto edge =
          static_cast<std::int64_t>(static_cast<double>(harmonic) / (2 * pi * radius) * static_cast<double>(width_));
      for (std::int64_t nu = 0; nu <= std::min(edge - 1, width_ / 2); ++nu) {
        sum += static_cast<double>(std::abs(spectrum_[static_cast<std::size_t>(k * (width_ / 2 + 1) + nu)]));
        count += 1;
      }
    }
    return count > 0 ? sum / count : 0;
  }

  const CenterInput& input_;
  AxisLine line_;
  std::vector<double> angles_;  // ascending from 0
  std::vector<std::int64_t> views_;
  double reach_ = 0, step_ = 0;  // the largest fan angle; the step of the parallel views
  std::int64_t half_views_ = 0, height_ = 0, width_ = 0;
  std::vector<float> picture_;
  std::vector<std::complex<float>> spectrum_;
  fftwf_plan plan_;
};

}  // namespace

std::unique_ptr<CenterScore> make_wedge_score(const CenterInput& input, Context& context) {
  return std::make_unique<WedgeScore>(input, context);
}

}  // namespace lepus
