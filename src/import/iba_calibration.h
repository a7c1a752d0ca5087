// SPDX-License-Identifier: Apache-2.0
// IBA's room setup and the flexion of its gantry, from their XML: distances, and how far source and detector of a view
// lie from the ideal orbit. docs/scanners/iba.md has the formulas.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/header_fields.h"
#include <lepus/geometry.h>

namespace lepus {

// An XML file, or the text of an element of a DICOM object.
struct IbaText {
  std::string text;
  std::filesystem::path file;
  std::string name;  // "room.xml", "(3001,0012)"
};
// The XML files in a folder but those of single images, by their names.
std::vector<IbaText> iba_texts_in(const std::filesystem::path& folder);
// Those that hold all of the words; Error(input) where several do.
std::optional<IbaText> only_text_with(const std::vector<IbaText>& texts, const std::vector<std::string_view>& words,
                                      const std::string& what);

// Attributes as fields: "image/rawFile", "size/x", "Axis/Distances/sid". Of several axes that of the CBCT alone.
HeaderFields iba_attributes(const IbaText& text);

struct IbaRoom {
  double source_axis_mm = 0, source_detector_mm = 0;
  std::optional<double> angle_offset_deg;  // from the angle of a projection to that of the source
};
IbaRoom read_iba_room(HeaderFields& header);

// Tx, Ty, Tz of the source, Px, Py, Pz of the detector (mm), Rx, Ry, Rz of the detector (degrees), in the gantry's own
// frame: x to the right as the source sees it, y up along the axis, z towards the source.
using IbaDeviation = std::array<double, 9>;
ViewPerturbation perturbation_of(const IbaDeviation& deviation);

// iMagX 1.x: each of the nine numbers is a0 + a1 t + a2 cos(a3 t + a4).
struct IbaModel {
  std::array<std::array<double, 5>, 9> coefficients{};
  IbaDeviation at(double angle_deg) const;
};
IbaModel read_iba_model(HeaderFields& header);

// adaPTinsight 2: the nine numbers in a list of angles.
struct IbaFlexmap {
  IbaRoom room;
  std::string arc;                 // the active one
  std::vector<double> angles_deg;  // growing
  std::vector<IbaDeviation> deviations;
  std::vector<std::string> warnings;

  bool covers(double angle_deg) const;
  IbaDeviation at(double angle_deg) const;  // between two angles in proportion; beyond the ends as there

private:
  double in_range(double angle_deg) const;
};
IbaFlexmap read_iba_flexmap(const IbaText& text);

}  // namespace lepus
