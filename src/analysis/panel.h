// SPDX-License-Identifier: Apache-2.0
// Several slices in one picture: rows of volumes (reference, volume, difference) by columns of slices (xy, xz, yz), all
// in one scale of millimetres, each with its label, each row with its bar of values.
#pragma once

#include <string>
#include <vector>

#include "analysis/picture.h"

namespace lepus {

struct PanelRow {
  std::string label;          // "truth"
  std::vector<Slice> slices;  // one per column
  GreyWindow window;
  ColourMap map = ColourMap::grey;
};

struct PanelOptions {
  std::int64_t cell_pixels = 384;  // the longest side of a cell, about: whole multiples of a voxel where they are small
  std::string title;
};

Picture draw_panel(const std::vector<PanelRow>& rows, const PanelOptions& options);

// Reference, volume and their difference, the same slices of each; the first two share one window.
Picture comparison_panel(const std::string& reference_label, const std::vector<Slice>& reference,
                         const std::string& volume_label, const std::vector<Slice>& volume,
                         const PanelOptions& options);

// Slices in a grid, left to right and top to bottom, one window for all.
Picture draw_montage(const std::vector<Slice>& slices, const GreyWindow& window, std::int64_t cell_pixels);

}  // namespace lepus
