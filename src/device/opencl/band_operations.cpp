// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/band_operations.h"

#include <algorithm>
#include <bit>

#include "device/opencl/band_kernels.h"
#include <lepus/error.h>

namespace lepus::opencl {
namespace {

BandOnDevice band_of(const SinogramBand& band) { return {band.data, band.columns, band.views, band.rows}; }

Sinograms sinograms_of(const Planes& s) { return {s.data, s.width, s.height, s.row_stride, s.count, s.plane_stride}; }

BandStaging staging_of(const lepus::BandStaging& staging) {
  return {.to = static_cast<BandStage>(staging.to),
          .dark = staging.dark,
          .log_i0 = staging.log_i0,
          .log_i0_everywhere = staging.log_i0_everywhere,
          .clip = staging.clip};
}
static_assert(static_cast<int>(BandStage::as_it_is) == static_cast<int>(lepus::BandStage::as_it_is));

HotPixelRules rules_of(const pixels::HotRules& rules) {
  static_assert(HotPixelRules::largest_window == pixels::largest_window);
  HotPixelRules made;
  made.one_scale = rules.weights.one_scale;
  made.two_scale = rules.weights.two_scale;
  made.tolerance = rules.tolerance;
  made.least_spread = rules.least_spread;
  made.explained = rules.explained;
  made.least_views = rules.least_views;
  std::copy(std::begin(rules.weights.one), std::end(rules.weights.one), made.one);
  std::copy(std::begin(rules.weights.two), std::end(rules.weights.two), made.two);
  made.out_of_both = rules.out_of_both;
  made.out_of_one = rules.out_of_one;
  made.window = rules.weights.window;
  made.gap = rules.weights.gap;
  made.classic = rules.classic;
  made.three_deviations = rules.three_deviations;
  made.below = rules.below;
  made.nearest = rules.nearest;
  made.furthest = rules.furthest;
  return made;
}

class OpenclBandKernels final : public BandKernels {
public:
  explicit OpenclBandKernels(const Context& context) : context_(context) {}

  bool has(BandOperation operation) const override {
    using enum BandOperation;
    return has_band_kernels(context_) && (operation == stage || operation == hot_pixels || operation == zingers);
  }
  bool has_rings(const RingOptions& options, std::int64_t views) const override {
    if (!has_band_kernels(context_)) return false;
    if (options.method == RingMethod::trend) return has_trend(options);
    return options.method == RingMethod::sorting && fits_local_memory(context_, views);
  }

  void to_stage(PixelType type, const void* recorded, const SinogramBand& band, const lepus::BandStaging& staging,
                Queue& queue) override {
    opencl::to_stage(type, recorded, band_of(band), staging_of(staging), queue);
  }
  void logarithm(const SinogramBand& band, const lepus::BandStaging& staging, float lowest_of_lines,
                 Queue& queue) override {
    take_logarithm(band_of(band), staging_of(staging), lowest_of_lines, queue);
  }
  void hot_pixels(const pixels::HotRules& rules, int iterations, const Planes& sinograms, std::int64_t* counts,
                  Queue& queue) override {
    const ScratchScope scope(queue);
    auto* const counted = queue.scratch<std::int64_t>(sinograms.count);
    replace_hot_pixels(sinograms_of(sinograms), rules_of(rules), iterations, counted, queue);
    queue.device().copy(counts, counted, sinograms.count * static_cast<std::int64_t>(sizeof(std::int64_t)), queue);
  }
  void zingers(const pixels::ZingerRules& rules, const Planes& sinograms, std::int64_t* counts, Queue& queue) override {
    const ScratchScope scope(queue);
    auto* const counted = queue.scratch<std::int64_t>(sinograms.count);
    replace_zingers(sinograms_of(sinograms),
                    {.limit = rules.limit,
                     .neighbours = static_cast<std::int32_t>(rules.neighbours),
                     .radius = rules.radius,
                     .along = rules.along,
                     .sign = rules.sign},
                    counted, queue);
    queue.device().copy(counts, counted, sinograms.count * static_cast<std::int64_t>(sizeof(std::int64_t)), queue);
  }
  void remove_rings(const Planes& sinograms, const RingOptions& options, Queue& queue) override {
    check_rings(options, sinograms.width, sinograms.height);
    if (options.method == RingMethod::trend && has_trend(options))
      return remove_stripes_by_trend(sinograms_of(sinograms),
                                     {.median = options.filter == FilterKind::median,
                                      .radius = options.radius,
                                      .sigma = options.sigma,
                                      .sigma_value = options.sigma_value,
                                      .relative = options.relative,
                                      .iterations = options.iterations},
                                     queue);
    if (options.method == RingMethod::sorting &&
        remove_stripes_by_sorting(sinograms_of(sinograms), options.small_size, options.iterations, queue))
      return;
    BandKernels::remove_rings(sinograms, options, queue);  // has_rings() said that it cannot
  }

private:
  static bool has_trend(const RingOptions& options) {
    return options.filter == FilterKind::bilateral ||
           (options.filter == FilterKind::median && options.radius <= TrendRules::largest_median_radius);
  }

  const Context& context_;
};

}  // namespace

std::unique_ptr<BandKernels> make_band_kernels(const Context& context) {
  return std::make_unique<OpenclBandKernels>(context);
}

}  // namespace lepus::opencl
