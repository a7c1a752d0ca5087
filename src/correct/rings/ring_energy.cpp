// SPDX-License-Identifier: Apache-2.0
#include "correct/rings/ring_energy.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "device/host/band_kernels/filter.h"
#include "project/stripe_columns.h"
#include <lepus/math.h>

namespace lepus {
namespace {

template <class T>
T median_of(std::vector<T>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<float> image_of(const Planes& sinograms, std::int64_t plane) {
  std::vector<float> image;
  for (std::int64_t y = 0; y < sinograms.height; ++y)
    image.insert(image.end(), sinograms.row(plane, y), sinograms.row(plane, y) + sinograms.width);
  return image;
}

// Of each column, the median over the rows of what a running median along the rows takes away.
std::vector<double> stripes_of(std::vector<float>& image, std::int64_t width, std::int64_t height,
                               std::int64_t radius) {
  std::vector<float> smooth(image.size()), column(static_cast<std::size_t>(height));
  const auto planes = [&](std::vector<float>& values) {
    return Planes{values.data(), width, height, width, 1, width * height};
  };
  FilterOptions median;
  median.radius = radius;
  median.border = FilterBorder::mirror;
  ThreadPool alone(1);  // the caller's threads have sinograms of their own
  if (radius > 0) filter(planes(image), planes(smooth), median, alone);
  std::vector<double> stripes;
  for (std::int64_t x = 0; x < width; ++x) {
    for (std::int64_t y = 0; y < height; ++y) {
      const auto at = static_cast<std::size_t>(y * width + x);
      column[static_cast<std::size_t>(y)] = radius > 0 ? image[at] - smooth[at] : 0;
    }
    stripes.push_back(static_cast<double>(median_of(column)));
  }
  return stripes;
}

double mean_square(const std::vector<double>& values) {
  return values.empty() ? 0
                        : std::inner_product(values.begin(), values.end(), values.begin(), 0.0) /
                              static_cast<double>(values.size());
}

// Noise differs by chance and by the object's thickness; a column stands out where it differs by this factor.
constexpr double unusual_factor = 1.5;
// Median of |a - 2 b + c| of three normal values of variance 1: 0.6745 * sqrt(6).
constexpr double bend_of_noise = 1.6521;

}  // namespace

double decibels(double energy, double reference) {
  return 10 * std::log10(std::max(energy / std::max(reference, 1e-300), 1e-20));
}

std::vector<double> column_stripes(const Planes& sinograms, std::int64_t plane, std::int64_t radius) {
  std::vector<float> image = image_of(sinograms, plane);
  return stripes_of(image, sinograms.width, sinograms.height, std::min(radius, sinograms.width - 1));
}

StripeProfile stripe_profile(const Planes& sinograms, std::int64_t plane, std::int64_t radius) {
  const std::int64_t width = sinograms.width, height = sinograms.height;
  radius = std::min(radius, width - 1);
  std::vector<float> image = image_of(sinograms, plane);
  StripeProfile profile;
  profile.stripes = stripes_of(image, width, height, radius);
  profile.flutter.assign(static_cast<std::size_t>(width), 0.0);
  profile.unusual.assign(static_cast<std::size_t>(width), false);
  if (height < 3) return profile;
  std::vector<double> noise;
  std::vector<float> bends(static_cast<std::size_t>(height - 2));
  for (std::int64_t x = 0; x < width; ++x) {
    for (std::int64_t y = 0; y + 2 < height; ++y) {
      const float* at = image.data() + y * width + x;
      bends[static_cast<std::size_t>(y)] = std::abs(at[0] - 2 * at[width] + at[2 * width]);
    }
    noise.push_back(static_cast<double>(median_of(bends)) / bend_of_noise);
  }
  for (std::int64_t x = 0; x < width; ++x) {
    const double own = noise[static_cast<std::size_t>(x)], around = rings::local_median(noise.data(), width, x, radius);
    if (own > unusual_factor * around) profile.flutter[static_cast<std::size_t>(x)] = own * own - around * around;
    profile.unusual[static_cast<std::size_t>(x)] = own > unusual_factor * around || own * unusual_factor < around;
  }
  return profile;
}

std::int64_t ring_energy_radius(std::int64_t columns) {
  return std::clamp<std::int64_t>(std::lround(15 * static_cast<double>(columns) / 1024), 5, 15);
}

RingEnergy ring_energy(const Planes& sinograms, ThreadPool& threads) {
  return ring_energy(sinograms, threads, ring_energy_radius(sinograms.width));
}

RingEnergy ring_energy(const Planes& sinograms, ThreadPool& threads, std::int64_t radius) {
  std::vector<RingEnergy> each(static_cast<std::size_t>(sinograms.count));
  threads.parallel_for(0, sinograms.count, 1, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t plane = begin; plane < end; ++plane) {
      const StripeProfile profile = stripe_profile(sinograms, plane, radius);
      const double flutter = std::accumulate(profile.flutter.begin(), profile.flutter.end(), 0.0);
      each[static_cast<std::size_t>(plane)] = {mean_square(profile.stripes),
                                               flutter / static_cast<double>(sinograms.width)};
    }
  });
  RingEnergy sum;
  for (const RingEnergy& one : each) {
    sum.stripes += one.stripes / static_cast<double>(each.size());
    sum.flutter += one.flutter / static_cast<double>(each.size());
  }
  return sum;
}

double slice_ring_energy(const Planes& slice, double centre_x, double centre_y, std::int64_t radius) {
  const double reach = std::min({centre_x, centre_y, static_cast<double>(slice.width - 1) - centre_x,
                                 static_cast<double>(slice.height - 1) - centre_y});
  const auto radii = static_cast<std::int64_t>(std::floor(reach));
  if (radii < 4) return 0;
  // One ray per pixel of the outermost ring; rays cross few pixels near the centre, whose rings are left out.
  const auto rays = static_cast<std::int64_t>(std::ceil(2 * pi * reach));
  std::vector<float> polar(static_cast<std::size_t>(radii * rays));
  for (std::int64_t ray = 0; ray < rays; ++ray) {
    const double angle = 2 * pi * static_cast<double>(ray) / static_cast<double>(rays);
    for (std::int64_t r = 0; r < radii; ++r) {
      const double x = centre_x + static_cast<double>(r) * std::cos(angle);
      const double y = centre_y + static_cast<double>(r) * std::sin(angle);
      const auto i = std::clamp<std::int64_t>(static_cast<std::int64_t>(x), 0, slice.width - 2);
      const auto j = std::clamp<std::int64_t>(static_cast<std::int64_t>(y), 0, slice.height - 2);
      const double fx = x - static_cast<double>(i), fy = y - static_cast<double>(j);
      const float* top = slice.row(0, j) + i;
      const float* bottom = slice.row(0, j + 1) + i;
      polar[static_cast<std::size_t>(ray * radii + r)] =
          static_cast<float>((1 - fy) * ((1 - fx) * static_cast<double>(top[0]) + fx * static_cast<double>(top[1])) +
                             fy * ((1 - fx) * static_cast<double>(bottom[0]) + fx * static_cast<double>(bottom[1])));
    }
  }
  std::vector<double> rings = stripes_of(polar, radii, rays, std::min(radius, radii - 1));
  rings.erase(rings.begin(), rings.begin() + std::min<std::int64_t>(radii / 2, 4));
  return mean_square(rings);
}

}  // namespace lepus
