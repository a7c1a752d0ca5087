// SPDX-License-Identifier: Apache-2.0
// What `lepus preview` shows: versions of one slice and their numbers side by side, as one picture and as an HTML page
// that needs no other file.
#pragma once

#include <string>
#include <vector>

#include "analysis/picture.h"
#include "api/html_text.h"

namespace lepus::app {

struct PreviewVersion {
  std::string name;  // "without rings"
  Slice slice;
  double rings = 0;                // rms of what stays the same around the axis, in 1/mm
  double noise = 0;                // standard deviation where the object is flattest, in 1/mm
  double sharpness = 0;            // mean squared gradient, in 1/mm^4
  double seconds = 0;              // of this version's reconstruction
  std::vector<std::string> found;  // what the corrections found and changed
};

struct PreviewFacts {
  std::string scan, place, flat_region;  // for the headings
  std::size_t all = 0;                   // the version that the others are subtracted from
};

// Columns of versions: the slice, and below it how it differs from the one with all corrections.
Picture preview_picture(const std::vector<PreviewVersion>& versions, const PreviewFacts& facts);

// pngs: of each version the slice, and of each its difference; as bytes.
struct PreviewPngs {
  std::vector<std::string> slices, differences;
};
std::string preview_html(const std::vector<PreviewVersion>& versions, const PreviewFacts& facts,
                         const PreviewPngs& pngs);

struct PreviewWindows {
  GreyWindow values, differences;
};
PreviewWindows preview_windows(const std::vector<PreviewVersion>& versions, const PreviewFacts& facts);

}  // namespace lepus::app
