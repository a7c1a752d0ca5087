// SPDX-License-Identifier: Apache-2.0
// The methods from their definitions, in double precision. Columns are judged faulty by stripe_columns.h here too.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>
#include <vector>

#include "correct/filters/filter_reference.h"
#include "correct/rings/rings_reference.h"
#include "project/sorted_keys.h"
#include "project/stripe_columns.h"
#include "project/stripe_pattern.h"
#include "project/wavelet.h"
#include <lepus/math.h>

namespace lepus::reference {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

Image filtered_rows(const Image& image, const FilterOptions& options) {
  std::vector<float> in(image.values.begin(), image.values.end()), out(in.size());
  filter({in.data(), image.width, image.height, image.width, 1, 0},
         {out.data(), image.width, image.height, image.width, 1, 0}, options);
  Image result = image;
  std::copy(out.begin(), out.end(), result.values.begin());
  return result;
}

void take_trend(Image& image, const RingOptions& options) {
  const Image smooth = filtered_rows(image, rings::trend_filter(options));
  for (std::int64_t x = 0; x < image.width; ++x) {
    double sum = 0, smooth_sum = 0;
    for (std::int64_t y = 0; y < image.height; ++y) {
      sum += image(x, y);
      smooth_sum += smooth(x, y);
    }
    for (std::int64_t y = 0; y < image.height; ++y)
      if (options.relative)
        image(x, y) *= rings::gain_repair(sum, smooth_sum);
      else
        image(x, y) -= (sum - smooth_sum) / static_cast<double>(image.height);
  }
}

// Columns sorted over the views; order[x][rank] is the view that a value came from.
struct Sorted {
  Image image;
  std::vector<std::vector<std::int64_t>> order;
};

Sorted sorted_columns(const Image& image) {
  Sorted sorted{image, {}};
  for (std::int64_t x = 0; x < image.width; ++x) {
    std::vector<std::int64_t> views(at(image.height));
    std::iota(views.begin(), views.end(), 0);
    std::stable_sort(views.begin(), views.end(), [&](auto a, auto b) { return image(x, a) < image(x, b); });
    for (std::int64_t rank = 0; rank < image.height; ++rank) sorted.image(x, rank) = image(x, views[at(rank)]);
    sorted.order.push_back(std::move(views));
  }
  return sorted;
}

std::vector<unsigned char> marked(const std::vector<double>& list, const RingOptions& options) {
  std::vector<double> ascending = list;
  std::sort(ascending.begin(), ascending.end());
  std::vector<unsigned char> mask(list.size());
  rings::mark_columns(list.data(), ascending.data(), static_cast<std::int64_t>(list.size()), options.snr,
                      options.large_size / 2, mask.data());
  return mask;
}

void mend_flutter(Image& image, const RingOptions& options) {
  if (image.height < 3) return;
  std::vector<double> flutter, around, contrast;
  for (std::int64_t x = 0; x < image.width; ++x) {
    std::vector<double> bends;
    for (std::int64_t y = 0; y + 2 < image.height; ++y)
      bends.push_back(std::abs(image(x, y) - 2 * image(x, y + 1) + image(x, y + 2)));
    std::sort(bends.begin(), bends.end());
    flutter.push_back(bends[(bends.size() - 1) / 2]);
  }
  for (std::int64_t x = 0; x < image.width; ++x)
    around.push_back(rings::local_median(flutter.data(), image.width, x, options.large_size / 2));
  const double floor = 0.1 * std::accumulate(around.begin(), around.end(), 0.0) / static_cast<double>(image.width);
  for (std::size_t x = 0; x < flutter.size(); ++x)
    contrast.push_back(rings::flutter_contrast(flutter.data(), static_cast<std::int64_t>(flutter.size()),
                                               static_cast<std::int64_t>(x), around[x], floor));
  const std::vector<unsigned char> mask = marked(contrast, options);
  const Image before = image;
  for (std::int64_t x = 0; x < image.width; ++x) {
    if (!mask[at(x)]) continue;
    std::int64_t left = x, right = x;
    while (left >= 0 && mask[at(left)]) --left;
    while (right < image.width && mask[at(right)]) ++right;
    for (std::int64_t y = 0; y < image.height; ++y) {
      if (left >= 0 && right < image.width)
        image(x, y) = before(left, y) + (before(right, y) - before(left, y)) * static_cast<double>(x - left) /
                                            static_cast<double>(right - left);
      else if (left >= 0)
        image(x, y) = before(left, y);
      else if (right < image.width)
        image(x, y) = before(right, y);
    }
  }
}

void take_sorted(Image& image, const RingOptions& options) {
  const bool combined = options.method == RingMethod::combined;
  if (combined) mend_flutter(image, options);
  Sorted sorted = sorted_columns(image);
  if (combined) {
    const Image smooth = filtered_rows(sorted.image, rings::sorted_filter(options.large_size));
    const std::int64_t left_out = image.height / 20;
    std::vector<double> offsets;
    for (std::int64_t x = 0; x < image.width; ++x) {
      double sum = 0, smooth_sum = 0;
      for (std::int64_t rank = left_out; rank < image.height - left_out; ++rank) {
        sum += sorted.image(x, rank);
        smooth_sum += smooth(x, rank);
      }
      offsets.push_back(rings::stripe_offset(sum, smooth_sum, image.height - 2 * left_out, options.relative));
    }
    const std::vector<unsigned char> mask = marked(offsets, options);
    for (std::int64_t x = 0; x < image.width; ++x)
      for (std::int64_t rank = 0; rank < image.height && mask[at(x)]; ++rank) sorted.image(x, rank) = smooth(x, rank);
  }
  const Image smooth = filtered_rows(sorted.image, rings::sorted_filter(options.small_size));
  for (std::int64_t x = 0; x < image.width; ++x)
    for (std::int64_t rank = 0; rank < image.height; ++rank) image(x, sorted.order[at(x)][at(rank)]) = smooth(x, rank);
}

}  // namespace

void remove_rings(const Planes& sinograms, const RingOptions& options) {
  check_rings(options, sinograms.width, sinograms.height);
  for (std::int64_t plane = 0; plane < sinograms.count; ++plane) {
    Image image{sinograms.width, sinograms.height, {}};
    for (std::int64_t y = 0; y < image.height; ++y)
      image.values.insert(image.values.end(), sinograms.row(plane, y), sinograms.row(plane, y) + image.width);
    for (int i = 0; i < options.iterations; ++i) {
      switch (options.method) {
        case RingMethod::trend:
          take_trend(image, options);
          break;
        case RingMethod::wavelet_fourier:
          image = without_slow_details(image, options);
          break;
        case RingMethod::sorting:
        case RingMethod::combined:
          take_sorted(image, options);
          break;
      }
    }
    for (std::int64_t y = 0; y < image.height; ++y)
      for (std::int64_t x = 0; x < image.width; ++x) sinograms.row(plane, y)[x] = static_cast<float>(image(x, y));
  }
}

}  // namespace lepus::reference
