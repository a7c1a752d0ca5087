// SPDX-License-Identifier: Apache-2.0
#include "correct/filters/filter_correction.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "core/format.h"
#include "device/host/band_kernels/filter.h"

namespace lepus {
namespace {

constexpr std::array<std::string_view, 4> kind_names{"box", "gaussian", "median", "bilateral"};

// Sinograms are filtered some at a time, so that the copy that a filter needs stays small.
constexpr std::int64_t floats_at_once = std::int64_t{1} << 23;

class FilterCorrection final : public Correction {
public:
  FilterCorrection(const FilterOptions& options, bool frames) : options_(options), frames_(frames) {}

  RowBand rows_needed(RowBand wanted, std::int64_t detector_rows) const override {
    return frames_ ? needed_along(options_, wanted, detector_rows) : wanted;
  }

  bool needs_all_views() const override { return options_.dimensions > 1 && !frames_; }

  std::int64_t scratch_bytes(const SinogramBand& largest, int threads) const override {
    constexpr auto bytes = static_cast<std::int64_t>(sizeof(float));
    if (frames_) return largest.floats() * bytes + filter_scratch_bytes(largest.frames(), options_, threads);
    const RowBand part{largest.rows.first, largest.rows.first + at_once(largest, floats_at_once)};
    return part.size() * largest.views * largest.columns * bytes +
           filter_scratch_bytes(largest.sinograms(part), options_, threads);
  }

  BandOperation operation() const override { return BandOperation::filter; }
  void apply(const SinogramBand& band, RowBand wanted, Queue& queue) override {
    Device& device = queue.device();
    // On a card launches cost more than a copy in its memory.
    const std::int64_t at_a_time = device.info().host ? floats_at_once : 16 * floats_at_once;
    each_part(band, wanted, at_a_time,
              [&](const Planes& in, Planes out, const FilterCut& cut, float* to, std::int64_t floats) {
                const ScratchScope scope(queue);
                out.data = queue.scratch<float>(floats);
                device.band_kernels().filter(in, out, options_, cut, queue);
                device.copy(to, out.data, floats * static_cast<std::int64_t>(sizeof(float)), queue);
              });
  }

  std::string summary() const override {
    return format("{} filter of radius {}{}", kind_names[static_cast<std::size_t>(options_.kind)], options_.radius,
                  options_.dimensions == 1 ? " along rows"
                  : frames_                ? " in frames"
                                           : " in sinograms");
  }

private:
  static std::int64_t at_once(const SinogramBand& band, std::int64_t floats) {
    return std::clamp<std::int64_t>(floats / std::max<std::int64_t>(band.views * band.columns, 1), 1,
                                    std::max<std::int64_t>(band.rows.size(), 1));
  }

  // Calls work(in, out without memory, cut, where the result belongs, its floats) for parts of the wanted rows.
  template <class Work>
  void each_part(const SinogramBand& band, RowBand wanted, std::int64_t maximum_floats, const Work& work) {
    if (wanted.size() == 0 || band.views == 0) return;
    const std::int64_t row_floats = band.views * band.columns;
    const auto row = [&](std::int64_t v) { return band.data + (v - band.rows.first) * row_floats; };
    if (frames_) {
      const Planes in = band.frames();
      const Planes out{nullptr, band.columns, wanted.size(), row_floats, band.views, band.columns};
      work(in, out, cut_rows(in, band.rows, band.detector_rows, wanted), row(wanted.first), wanted.size() * row_floats);
      return;
    }
    const std::int64_t step = at_once(band, maximum_floats);
    for (std::int64_t first = wanted.first; first < wanted.last; first += step) {
      const RowBand part{first, std::min(first + step, wanted.last)};
      const Planes in = band.sinograms(part);
      work(in, in, uncut(in), row(first), part.size() * row_floats);
    }
  }

  FilterOptions options_;
  bool frames_;
};

}  // namespace

double value_range(const char* correction, const ScanFacts& facts) {
  if (facts.stage == Stage::grey_levels) return 1;
  if (!facts.band || facts.rows < 1)
    refuse(correction, "the range of the line integrals is not known", "", "give 'value_range'");
  const std::int64_t middle = facts.rows / 2;
  Buffer<float> values = facts.band({middle, middle + 1});
  const auto percentile = [&](double share) {
    float* at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), at, values.end());
    return static_cast<double>(*at);
  };
  if (std::any_of(values.begin(), values.end(), [](float v) { return !std::isfinite(v); }))
    refuse(correction, "the middle row holds values that are not numbers", "",
           "put a correction that replaces dead pixels before this one, or give 'value_range'");
  const double range = values.size() == 0 ? 0 : percentile(0.995) - percentile(0.005);
  if (!(range > 0))
    refuse(correction, "the line integrals of the middle row are all the same", "no range can be taken from them",
           "give 'value_range'");
  return range;
}

FilterOptions filter_options(const FilterCorrectionOptions& options, const ScanFacts& facts) {
  FilterOptions filter = options.filter;
  if (filter.kind == FilterKind::bilateral)
    filter.sigma_value *= options.value_range > 0 ? options.value_range : value_range("filter", facts);
  return filter;
}

std::unique_ptr<Correction> make_filter(const FilterCorrectionOptions& options, const ScanFacts& facts) {
  const FilterOptions filter = filter_options(options, facts);
  if (filter.dimensions > 2)
    refuse("filter", "a filter of three dimensions", "sinograms and frames have two", "filter the volume instead");
  const bool frames = options.pictures == FilterCorrectionOptions::Pictures::frames && filter.dimensions == 2;
  check_filter(filter, facts.columns, frames ? facts.rows : facts.views, 1);
  return std::make_unique<FilterCorrection>(filter, frames);
}

}  // namespace lepus
