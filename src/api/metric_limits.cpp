// SPDX-License-Identifier: Apache-2.0
#include "api/metric_limits.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check_numbers.h"
#include "core/format.h"
#include "core/text.h"
#include <lepus/error.h>

namespace lepus {
namespace {

const char* limit_option(const MetricLimit& limit) {
  return limit.above ? "option --fail-above" : "option --fail-below";
}

void check_metric_name(const MetricLimit& limit) {
  std::vector<std::string> names;
  for (const ComparisonMetric& metric : metrics_of({})) names.push_back(metric.name);
  if (std::find(names.begin(), names.end(), limit.metric) != names.end()) return;
  const std::string nearest = nearest_name(limit.metric, names);
  throw Error(ErrorKind::usage,
              {.what = format("there is no metric '{}'", limit.metric),
               .where = limit_option(limit),
               .why = "known are rmse, nrmse, mae, bias, max, psnr, ssim",
               .hint = nearest.empty() ? "write it as rmse=0.01" : format("did you mean '{}'?", nearest)});
}

bool is_broken(const MetricLimit& limit, double measured) {
  // Written so that NaN breaks every limit.
  const double size = limit.metric == "bias" ? std::abs(measured) : measured;
  return limit.above ? !(size <= limit.value) : !(size >= limit.value);
}

}  // namespace

std::vector<ComparisonMetric> metrics_of(const Comparison& c) {
  return {{"rmse", "", "root mean square error", c.rmse},
          {"nrmse", "", "rmse / peak", c.nrmse},
          {"mae", "", "mean absolute error", c.mae},
          {"bias", "", "mean of volume - reference", c.bias},
          {"max", "", "largest absolute error", c.maximum_error},
          {"psnr", "dB", "peak signal-to-noise ratio", c.psnr_db},
          {"ssim", "", "structural similarity", c.ssim.value_or(std::numeric_limits<double>::quiet_NaN())}};
}

MetricLimit parse_metric_limit(const std::string& text, bool above) {
  const auto equals = text.find('=');
  MetricLimit limit{text.substr(0, equals), 0, above};
  check_metric_name(limit);
  try {
    std::size_t used = 0;
    const std::string number = equals == std::string::npos ? "" : text.substr(equals + 1);
    limit.value = std::stod(number, &used);
    if (used == number.size() && !std::isnan(limit.value)) return limit;
  } catch (const std::exception&) {
    // The same words as for a number with something behind it.
  }
  throw Error(ErrorKind::usage, {.what = format("'{}' has no number", text),
                                 .where = limit_option(limit),
                                 .why = {},
                                 .hint = format("write it as {}=0.01", limit.metric)});
}

void check_metric_limits(const std::vector<MetricLimit>& limits) {
  for (const MetricLimit& limit : limits) {
    check_metric_name(limit);
    check_not_nan(limit.value, limit_option(limit));
  }
}

std::vector<BrokenLimit> broken_limits(const std::vector<MetricLimit>& limits,
                                       const std::vector<ComparisonMetric>& metrics) {
  std::vector<BrokenLimit> broken;
  for (const MetricLimit& limit : limits)
    for (const ComparisonMetric& metric : metrics)
      if (metric.name == limit.metric && is_broken(limit, metric.value)) broken.push_back({limit, metric.value});
  return broken;
}

}  // namespace lepus
