// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <complex>
#include <span>

#include "correct/rings/rings_reference.h"
#include "project/wavelet.h"
#include <lepus/math.h>

namespace lepus::reference {
namespace {

using rings::analyse;
using rings::synthesise;

std::vector<double> line_of(const Image& image, bool along_rows, std::int64_t index) {
  std::vector<double> line;
  for (std::int64_t i = 0; i < (along_rows ? image.width : image.height); ++i)
    line.push_back(along_rows ? image(i, index) : image(index, i));
  return line;
}

// Every row (or column) of the picture replaced by what `change` makes of it.
template <class Change>
Image each_line(const Image& image, bool along_rows, const Change& change) {
  Image result;
  const std::int64_t lines = along_rows ? image.height : image.width;
  for (std::int64_t index = 0; index < lines; ++index) {
    const std::vector<double> line = change(line_of(image, along_rows, index));
    const auto n = static_cast<std::int64_t>(line.size());
    if (index == 0) {
      result = along_rows ? Image{n, lines, {}} : Image{lines, n, {}};
      result.values.resize(line.size() * static_cast<std::size_t>(lines));
    }
    for (std::int64_t i = 0; i < n; ++i)
      (along_rows ? result(i, index) : result(index, i)) = line[static_cast<std::size_t>(i)];
  }
  return result;
}

Image analysed(const Image& image, bool along_rows, std::span<const double> filter) {
  return each_line(image, along_rows, [&](const std::vector<double>& line) { return analyse(line, filter); });
}

Image joined(const Image& low, const Image& high, bool along_rows, std::int64_t n, std::span<const double> low_taps,
             std::span<const double> high_taps) {
  Image sum =
      each_line(low, along_rows, [&](const std::vector<double>& line) { return synthesise(line, low_taps, n); });
  const Image other =
      each_line(high, along_rows, [&](const std::vector<double>& line) { return synthesise(line, high_taps, n); });
  for (std::size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += other.values[i];
  return sum;
}

std::vector<double> damped(const std::vector<double>& line, double sigma) {
  const auto n = static_cast<std::int64_t>(line.size());
  const auto root = [&](std::int64_t power) {
    return std::polar(1.0, 2 * pi * static_cast<double>(power % n) / static_cast<double>(n));
  };
  std::vector<std::complex<double>> spectrum(line.size());
  for (std::int64_t f = 0; f < n; ++f) {
    for (std::int64_t y = 0; y < n; ++y)
      spectrum[static_cast<std::size_t>(f)] += line[static_cast<std::size_t>(y)] * std::conj(root(f * y));
    const auto k = static_cast<double>(2 * f <= n ? f : f - n);
    spectrum[static_cast<std::size_t>(f)] *= 1 - std::exp(-k * k / (2 * sigma * sigma));
  }
  std::vector<double> result(line.size());
  for (std::int64_t y = 0; y < n; ++y) {
    std::complex<double> sum = 0;
    for (std::int64_t f = 0; f < n; ++f) sum += spectrum[static_cast<std::size_t>(f)] * root(f * y);
    result[static_cast<std::size_t>(y)] = sum.real() / static_cast<double>(n);
  }
  return result;
}

Image level(const Image& image, const RingOptions& options, int levels_left) {
  if (levels_left == 0) return image;
  const std::span<const double> low = rings::daubechies(options.wavelet);
  const std::vector<double> high = rings::high_pass(low);
  const Image slow = analysed(image, false, low), fast = analysed(image, false, high);  // along the views
  const Image approximation = level(analysed(slow, true, low), options, levels_left - 1);
  const Image stripes = each_line(analysed(slow, true, high), false,
                                  [&](const std::vector<double>& line) { return damped(line, options.damping_sigma); });
  return joined(joined(approximation, stripes, true, image.width, low, high),
                joined(analysed(fast, true, low), analysed(fast, true, high), true, image.width, low, high), false,
                image.height, low, high);
}

}  // namespace

Image without_slow_details(const Image& image, const RingOptions& options) {
  return level(image, options, options.levels);
}

}  // namespace lepus::reference
