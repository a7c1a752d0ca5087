// SPDX-License-Identifier: Apache-2.0
// The part of an analysis' report that needs no phase: noise, resolution, the differences from another
// volume and from a nominal surface.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/analyze_report.h"

namespace lepus::app {

using SummaryRows = std::vector<std::pair<std::string, std::string>>;

void add_quality_rows(const analysis::Analysis& result, const AnalyzeFacts& facts, SummaryRows& rows);
void add_quality_json(const analysis::Analysis& result, nlohmann::ordered_json& json);
std::string quality_charts(const analysis::Analysis& result, const AnalyzeFacts& facts);    // SVG
std::string quality_pictures(const analysis::Analysis& result, const AnalyzeFacts& facts);  // HTML

}  // namespace lepus::app
