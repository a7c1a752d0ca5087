// SPDX-License-Identifier: Apache-2.0
// What `lepus preview` shows: versions of one slice and their numbers side by side, as one picture and as an HTML page
// that needs no other file.
#pragma once

#include <string>
#include <vector>

#include "analysis/picture.h"
#include <lepus/preview.h>

namespace lepus {

struct DrawnVersion {
  PreviewVersion numbers;
  Slice slice;
};

struct PreviewFacts {
  std::string scan, place, flat_region;  // for the headings
  std::size_t all = 0;                   // the version that the others are subtracted from
};

// Columns of versions: the slice, and below it how it differs from the one with all corrections.
Picture preview_picture(const std::vector<DrawnVersion>& versions, const PreviewFacts& facts);

// pngs: of each version the slice, and of each its difference; as bytes.
struct PreviewPngs {
  std::vector<std::string> slices, differences;
};
std::string preview_html(const std::vector<DrawnVersion>& versions, const PreviewFacts& facts, const PreviewPngs& pngs);

struct PreviewWindows {
  GreyWindow values, differences;
};
PreviewWindows preview_windows(const std::vector<DrawnVersion>& versions, const PreviewFacts& facts);

}  // namespace lepus
