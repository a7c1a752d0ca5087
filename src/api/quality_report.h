// SPDX-License-Identifier: Apache-2.0
// The part of an analysis' report that needs no phase: noise, resolution, the differences from another
// volume and from a nominal surface.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "api/analyze_report.h"

namespace lepus::analysis {

void add_quality_rows(const Analysis& result, const AnalyzeFacts& facts, SummaryRows& rows);
void add_quality_json(const Analysis& result, nlohmann::ordered_json& json);
std::string quality_charts(const Analysis& result, const AnalyzeFacts& facts);    // SVG
std::string quality_pictures(const Analysis& result, const AnalyzeFacts& facts);  // HTML

}  // namespace lepus::analysis
