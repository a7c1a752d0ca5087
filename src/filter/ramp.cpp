// SPDX-License-Identifier: Apache-2.0
#include "filter/ramp.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

#include <fftw3.h>

#include "core/fftw_planner.h"
#include "core/format.h"
#include "core/memory.h"
#include <lepus/error.h>
#include <lepus/math.h>

namespace lepus {
namespace {

void check(const RampOptions& options) {
  const auto bad = [](std::string what, std::string why) {
    return Error(ErrorKind::usage, {.what = std::move(what), .where = "filter", .why = std::move(why), .hint = {}});
  };
  if (!(options.cutoff > 0 && options.cutoff <= 1))
    throw bad(format("cut-off {} is not in (0, 1]", options.cutoff), "it is a fraction of the Nyquist frequency");
  const int m = options.spatial_hamming_samples;
  if (m < 0 || (m > 0 && m % 2 == 0))
    throw bad(format("a Hamming kernel of {} samples", m), "the number must be odd, so that the kernel has a middle");
  if (!(options.extrapolate >= 0 && options.extrapolate <= 4))
    throw bad(format("extrapolation over {} row widths", options.extrapolate), "it must lie between 0 and 4");
}

double sinc(double x) { return std::abs(x) < 1e-8 ? 1.0 : std::sin(x) / x; }

// sin(pi x) for x far beyond 1 without losing digits to the argument's rounding.
double sin_pi(double x) { return std::sin(pi * std::fmod(x, 2.0)); }

// 2 * integral over [0, edge] of f cos(a f) df, with x = a * edge / pi. Written with sinc so that nothing cancels.
double cosine_moment(double edge, double x) {
  const double first = std::abs(x) < 1e-8 ? 1.0 : sin_pi(x) / (pi * x);
  const double half = std::abs(x) < 1e-8 ? 1.0 : sin_pi(x / 2) / (pi * x / 2);
  return 2 * edge * edge * (first - half * half / 2);
}

// integral over [0, edge] of sin(q f) df, with x = q * edge / pi.
double sine_integral(double edge, double x) {
  const double half = std::abs(x) < 1e-8 ? 1.0 : sin_pi(x / 2) / (pi * x / 2);
  return edge * (pi * x / 2) * half * half;
}

// The inverse Fourier transform at lag n of |f| * window, f <= edge = cutoff / 2.
double windowed_kernel(Window window, double cutoff, double n) {
  const double edge = cutoff / 2;
  const double x = cutoff * n;  // 2 pi n * edge / pi
  const auto shifted = [&](double by) { return (cosine_moment(edge, x + by) + cosine_moment(edge, x - by)) / 2; };
  switch (window) {
    case Window::ram_lak:
      return cosine_moment(edge, x);
    case Window::shepp_logan:
      return 2 * edge / pi * (sine_integral(edge, 0.5 + x) + sine_integral(edge, 0.5 - x));
    case Window::cosine:
      return shifted(0.5);
    case Window::hamming:
      return 0.54 * cosine_moment(edge, x) + 0.46 * shifted(1);
    case Window::hann:
      return 0.5 * cosine_moment(edge, x) + 0.5 * shifted(1);
  }
  return 0;
}

// Half of the smoothing kernel: element k is its value at lags k and -k. One element (1) where there is none.
std::vector<double> smoothing_half(int samples) {
  if (samples <= 1) return {1.0};
  const int half = samples / 2;
  std::vector<double> g;
  for (int k = 0; k <= half; ++k) g.push_back(0.54 + 0.46 * std::cos(pi * k / half));
  double sum = g[0];
  for (int k = 1; k <= half; ++k) sum += 2 * g[static_cast<std::size_t>(k)];
  for (double& value : g) value /= sum;
  return g;
}

std::int64_t extension_of(std::int64_t columns, const RampOptions& options) {
  return static_cast<std::int64_t>(std::ceil(options.extrapolate * static_cast<double>(columns)));
}

// Sample k (1 is next to the row) of the continuation of an edge value of 1 over `extension` samples.
double taper(std::int64_t k, std::int64_t extension) {
  return 0.5 * (1 + std::cos(pi * static_cast<double>(k) / static_cast<double>(extension + 1)));
}

// The smallest length >= n that FFTW transforms quickly: factors 2, 3, 5, 7 only; a multiple of 16 once that costs
// little, because its vector codelets want whole registers.
std::int64_t fast_length(std::int64_t n) {
  const std::int64_t unit = n >= 256 ? 16 : 2;
  for (std::int64_t length = (n + unit - 1) / unit * unit;; length += unit) {
    std::int64_t rest = length;
    for (const std::int64_t factor : {2, 3, 5, 7})
      while (rest % factor == 0) rest /= factor;
    if (rest == 1) return length;
  }
}

}  // namespace

double ramp_kernel(const RampOptions& options, std::int64_t lag) {
  const std::vector<double> g = smoothing_half(options.spatial_hamming_samples);
  const auto n = static_cast<double>(lag);
  double sum = g[0] * windowed_kernel(options.window, options.cutoff, n);
  for (std::size_t k = 1; k < g.size(); ++k) {
    const auto shift = static_cast<double>(k);
    sum += g[k] * (windowed_kernel(options.window, options.cutoff, n - shift) +
                   windowed_kernel(options.window, options.cutoff, n + shift));
  }
  return sum;
}

double ramp_response(const RampOptions& options, double cycles_per_pixel) {
  check(options);
  const double f = std::abs(cycles_per_pixel);
  const double x = 2 * f / options.cutoff;
  if (x > 1) return 0;
  double window = 1;
  switch (options.window) {
    case Window::ram_lak:
      break;
    case Window::shepp_logan:
      window = sinc(pi * x / 2);
      break;
    case Window::cosine:
      window = std::cos(pi * x / 2);
      break;
    case Window::hamming:
      window = 0.54 + 0.46 * std::cos(pi * x);
      break;
    case Window::hann:
      window = 0.5 + 0.5 * std::cos(pi * x);
      break;
  }
  const std::vector<double> g = smoothing_half(options.spatial_hamming_samples);
  double smoothing = g[0];
  for (std::size_t k = 1; k < g.size(); ++k) smoothing += 2 * g[k] * std::cos(2 * pi * f * static_cast<double>(k));
  return f * window * smoothing;
}

std::vector<double> ramp_filter_reference(const std::vector<double>& row, const RampOptions& options) {
  check(options);
  const auto columns = static_cast<std::int64_t>(row.size());
  const std::int64_t extension = extension_of(columns, options);
  std::vector<double> kernel;
  for (std::int64_t lag = 0; lag < columns + extension; ++lag) kernel.push_back(ramp_kernel(options, lag));
  std::vector<double> filtered(row.size());
  for (std::int64_t i = 0; i < columns; ++i) {
    double sum = 0;
    for (std::int64_t j = -extension; j < columns + extension; ++j) {
      double value = 0;
      if (j < 0)
        value = row.front() * taper(-j, extension);
      else if (j >= columns)
        value = row.back() * taper(j - columns + 1, extension);
      else
        value = row[static_cast<std::size_t>(j)];
      sum += kernel[static_cast<std::size_t>(std::abs(i - j))] * value;
    }
    filtered[static_cast<std::size_t>(i)] = sum;
  }
  return filtered;
}

std::int64_t shortest_ramp_transform(std::int64_t columns, const RampOptions& options) {
  check(options);
  if (columns < 1)
    throw Error(ErrorKind::usage,
                {.what = format("a row of {} columns", columns), .where = "filter", .why = {}, .hint = {}});
  // Lags -(reach - 1) .. reach - 1 occur between what goes in and what is kept; each needs its own place in the
  // period.
  const std::int64_t extension = extension_of(columns, options);
  return std::max(2 * (columns + extension), columns + 2 * extension);
}

RampTransfer ramp_transfer(std::int64_t columns, const RampOptions& options, std::int64_t length) {
  const std::int64_t shortest = shortest_ramp_transform(columns, options);
  if (length < shortest || length % 2 != 0)
    throw Error(ErrorKind::internal, {.what = format("a transform of {} samples", length),
                                      .where = "filter",
                                      .why = format("{} or more are needed, an even number", shortest),
                                      .hint = {}});
  RampTransfer transfer;
  transfer.length = length;
  const std::int64_t extension = extension_of(columns, options), reach = columns + extension;
  for (std::int64_t k = 1; k <= extension; ++k) transfer.edge.push_back(static_cast<float>(taper(k, extension)));
  Buffer<double> kernel(length);
  std::fill(kernel.begin(), kernel.end(), 0.0);
  for (std::int64_t lag = 0; lag < reach; ++lag)
    kernel[lag] = kernel[(length - lag) % length] = ramp_kernel(options, lag);
  Buffer<std::complex<double>> spectrum(length / 2 + 1);
  {
    const auto lock = lock_fftw_planner_with_room(length);
    const fftw_plan once = fftw_plan_dft_r2c_1d(static_cast<int>(length), kernel.data(),
                                                reinterpret_cast<fftw_complex*>(spectrum.data()), FFTW_ESTIMATE);
    if (!once)
      throw Error(
          ErrorKind::internal,
          {.what = format("FFTW made no plan for {} samples", length), .where = "filter", .why = {}, .hint = {}});
    fftw_execute(once);
    fftw_destroy_plan(once);
  }
  for (const std::complex<double>& s : spectrum)
    transfer.response.push_back(static_cast<float>(s.real() / static_cast<double>(length)));
  return transfer;
}

struct RampFilter::Plan {
  std::int64_t columns = 0, extension = 0, length = 0;
  std::int64_t spectrum_at = 0;  // where the spectrum starts in the scratch, in floats
  std::vector<float> edge;       // taper(1..extension)
  Buffer<float> response;        // of the kernel, with the transform's 1/length in it
  fftwf_plan forward = nullptr, backward = nullptr;

  ~Plan() {
    const auto lock = lock_fftw_planner();
    if (forward) fftwf_destroy_plan(forward);
    if (backward) fftwf_destroy_plan(backward);
  }
};

RampFilter::RampFilter(std::int64_t columns, const RampOptions& options) : plan_(std::make_unique<Plan>()) {
  Plan& plan = *plan_;
  RampTransfer transfer = ramp_transfer(columns, options, fast_length(shortest_ramp_transform(columns, options)));
  plan.columns = columns;
  plan.edge = std::move(transfer.edge);
  plan.extension = static_cast<std::int64_t>(plan.edge.size());
  plan.length = transfer.length;
  plan.spectrum_at = (plan.length + 15) / 16 * 16;
  plan.response = Buffer<float>(plan.length / 2 + 1);
  std::copy(transfer.response.begin(), transfer.response.end(), plan.response.begin());
  Buffer<float> scratch(scratch_floats());
  // FFTW_ESTIMATE chooses by rules, FFTW_MEASURE by the clock: only the former gives the same bits in every run.
  const auto lock = lock_fftw_planner_with_room(plan.length);
  const int n = static_cast<int>(plan.length);
  auto* out = reinterpret_cast<fftwf_complex*>(scratch.data() + plan.spectrum_at);
  plan.forward = fftwf_plan_dft_r2c_1d(n, scratch.data(), out, FFTW_ESTIMATE);
  plan.backward = fftwf_plan_dft_c2r_1d(n, out, scratch.data(), FFTW_ESTIMATE);
  if (!plan.forward || !plan.backward)
    throw Error(ErrorKind::internal,
                {.what = format("FFTW made no plan for {} samples", n), .where = "filter", .why = {}, .hint = {}});
}

RampFilter::~RampFilter() = default;
RampFilter::RampFilter(RampFilter&&) noexcept = default;
RampFilter& RampFilter::operator=(RampFilter&&) noexcept = default;

std::int64_t RampFilter::columns() const { return plan_->columns; }
std::int64_t RampFilter::padded_length() const { return plan_->length; }
std::int64_t RampFilter::scratch_floats() const { return plan_->spectrum_at + 2 * (plan_->length / 2 + 1); }

void RampFilter::apply(float* row, float* scratch) const {
  const Plan& plan = *plan_;
  float* padded = scratch;
  std::copy(row, row + plan.columns, padded);
  std::fill(padded + plan.columns, padded + plan.length, 0.0F);
  for (std::int64_t k = 0; k < plan.extension; ++k) {  // to the right of the row, and (periodically) to its left
    const float factor = plan.edge[static_cast<std::size_t>(k)];
    padded[plan.columns + k] = row[plan.columns - 1] * factor;
    padded[plan.length - 1 - k] = row[0] * factor;
  }
  float* spectrum = scratch + plan.spectrum_at;
  fftwf_execute_dft_r2c(plan.forward, padded, reinterpret_cast<fftwf_complex*>(spectrum));
  for (std::int64_t k = 0; k <= plan.length / 2; ++k) {
    spectrum[2 * k] *= plan.response[k];
    spectrum[2 * k + 1] *= plan.response[k];
  }
  fftwf_execute_dft_c2r(plan.backward, reinterpret_cast<fftwf_complex*>(spectrum), padded);
  std::copy(padded, padded + plan.columns, row);
}

}  // namespace lepus
