// SPDX-License-Identifier: Apache-2.0
// What `lepus analyze` leaves: a page that needs no other file, a table of every blob, all numbers as JSON.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "analysis/analyze.h"
#include "analysis/slices.h"

namespace lepus::analysis {

struct AnalyzeFacts {
  std::string volume, against, nominal;  // their names; "": there is none
  std::string unit;                      // of its values, "" where it does not say
  std::string threshold, phase, region;  // as words
  VolumeGrid grid;
  std::vector<std::string> files;  // that lie beside the page
  std::vector<std::string> warnings;
  std::vector<Slice> slices;  // of the values, through the middle
  std::vector<Slice> labels;  // the same of the labels; empty: the phase is drawn
};

using SummaryRows = std::vector<std::pair<std::string, std::string>>;

// What the page, the terminal and people want first.
SummaryRows analysis_summary(const Analysis& result, const AnalyzeFacts& facts);
nlohmann::ordered_json analysis_json(const Analysis& result, const AnalyzeFacts& facts);
std::string blobs_csv(const std::vector<Blob>& blobs);
std::string analysis_html(const Analysis& result, const AnalyzeFacts& facts);

}  // namespace lepus::analysis
