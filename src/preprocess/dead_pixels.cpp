// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/format.h"
#include "preprocess/correction.h"

namespace lepus {
namespace {

class DeadPixels final : public Correction {
public:
  DeadPixels(std::int64_t columns, std::vector<std::int64_t> pixels) : columns_(columns), pixels_(std::move(pixels)) {}

  std::string kind() const override { return "dead-pixels"; }
  Stage stage() const override { return Stage::line_integrals; }
  std::string summary() const override { return format("{} dead pixels replaced in every view", pixels_.size()); }

  const std::vector<std::int64_t>* bridged_pixels() const override { return &pixels_; }

  void apply(std::int64_t, std::int64_t row0, std::int64_t row1, float* rows) const override {
    auto next = std::lower_bound(pixels_.begin(), pixels_.end(), row0 * columns_);
    while (next != pixels_.end() && *next < row1 * columns_) {
      auto run_end = next + 1;  // contiguous dead pixels of one row are bridged together
      while (run_end != pixels_.end() && *run_end == *(run_end - 1) + 1 && *run_end / columns_ == *next / columns_)
        ++run_end;
      bridge(rows + (*next / columns_ - row0) * columns_, *next % columns_, *(run_end - 1) % columns_ + 1);
      next = run_end;
    }
  }

private:
  void bridge(float* row, std::int64_t begin, std::int64_t end) const {
    if (begin == 0 && end == columns_) return;  // nothing good in this row to interpolate from
    const float left = begin > 0 ? row[begin - 1] : row[end];
    const float right = end < columns_ ? row[end] : row[begin - 1];
    for (std::int64_t i = begin; i < end; ++i)
      row[i] = left + (right - left) * static_cast<float>(i - begin + 1) / static_cast<float>(end - begin + 1);
  }

  std::int64_t columns_;
  std::vector<std::int64_t> pixels_;  // ascending
};

double number(const CorrectionSpec& spec, const std::string& name, double otherwise) {
  const auto found = spec.parameters.find(name);
  if (found == spec.parameters.end()) return otherwise;
  if (const auto* d = std::get_if<double>(&found->second)) return *d;
  if (const auto* i = std::get_if<std::int64_t>(&found->second)) return static_cast<double>(*i);
  throw Error(ErrorKind::input, {.what = format("'{}' of the correction '{}' must be a number", name, spec.kind),
                                 .where = format("line {} of the scan file", spec.line),
                                 .why = {},
                                 .hint = {}});
}

}  // namespace

std::unique_ptr<Correction> make_dead_pixels(const CorrectionSpec& spec, const Normalisation& normalisation) {
  const double threshold = number(spec, "threshold", 0.05);
  std::vector<std::int64_t> pixels = normalisation.unusable;
  if (const auto& log_i0 = normalisation.log_i0; log_i0.size() > 0) {
    std::vector<float> sorted(log_i0.begin(), log_i0.end());
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    const float lowest = *middle + static_cast<float>(std::log(threshold));
    for (std::int64_t i = 0; i < log_i0.size(); ++i)
      if (log_i0[i] < lowest) pixels.push_back(i);
    std::sort(pixels.begin(), pixels.end());
    pixels.erase(std::unique(pixels.begin(), pixels.end()), pixels.end());
  }
  return std::make_unique<DeadPixels>(normalisation.columns, std::move(pixels));
}

CorrectionChain make_corrections(const std::vector<CorrectionSpec>& specs, const Normalisation& normalisation) {
  CorrectionChain chain;
  for (const auto& spec : specs) {
    if (spec.kind != "dead-pixels")
      throw Error(ErrorKind::unsupported, {.what = format("unknown correction '{}'", spec.kind),
                                           .where = format("line {} of the scan file", spec.line),
                                           .why = {},
                                           .hint = "known: dead-pixels"});
    chain.push_back(make_dead_pixels(spec, normalisation));
  }
  return chain;
}

}  // namespace lepus
