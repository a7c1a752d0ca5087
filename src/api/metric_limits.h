// SPDX-License-Identifier: Apache-2.0
// The numbers of a comparison under their names, and limits that they must keep.
#pragma once

#include <vector>

#include <lepus/compare.h>

namespace lepus {

std::vector<ComparisonMetric> metrics_of(const Comparison& comparison);

void check_metric_limits(const std::vector<MetricLimit>& limits);  // Error(usage) where one has no such metric

std::vector<BrokenLimit> broken_limits(const std::vector<MetricLimit>& limits,
                                       const std::vector<ComparisonMetric>& metrics);

}  // namespace lepus
