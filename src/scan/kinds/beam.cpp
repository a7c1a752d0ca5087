// SPDX-License-Identifier: Apache-2.0
// What [[correct]] knows of the beam; src/correct/beam does the work.
#include "scan/kinds/kinds.h"

namespace lepus {
namespace {

CorrectionKind drift_kind() {
  return {"drift",
          "divides every frame by the strength that the beam had in it, seen in a part of the frame that is air in "
          "every view. Grey levels.",
          {{"correct",
            "region_px",
            ScanKeyType::numbers,
            "px",
            "",
            "found at the left and right edges",
            "Where there is only air: first column, end column, first row, end row of the selected frames.",
            "",
            {},
            4},
           {"correct",
            "lowest_level",
            ScanKeyType::number,
            "",
            "0.8",
            "",
            "A region that gets darker than this share of the open beam is not air: an error.",
            "",
            {.minimum = 0, .maximum = 1}}}};
}

// The ratio of two doses is a factor of float values, which must stay finite.
constexpr ScanKeyRange dose_range{.minimum = 1e-15, .maximum = 1e15};

CorrectionKind dose_kind() {
  return {
      "dose",
      "divides every frame by its dose, given as a list or in a file. Grey levels.",
      {{"correct", "values", ScanKeyType::numbers, "", "", "none", "The dose of every selected view, in any unit.", "",
        dose_range},
       {"correct", "file", ScanKeyType::text, "", "", "none", "A text file with the dose of every selected view.", ""},
       {"correct", "column", ScanKeyType::text, "", "", "the file holds nothing else",
        "Which column of the file: a name in its heading, or a number counted from 1 (`\"3\"`).", ""},
       {"correct", "reference", ScanKeyType::number, "", "", "the mean of all views",
        "The dose of the flats, in the same unit.", "", dose_range}}};
}

CorrectionKind lag_kind() {
  return {"lag",
          "removes what the detector keeps of earlier frames (afterglow), by the inverse of a first-order model along "
          "the views. Grey levels; before drift and dose.",
          {{"correct",
            "fraction",
            ScanKeyType::number,
            "",
            "0.02",
            "",
            "Share of a frame that is memory of the ones before it.",
            "",
            {.minimum = 0, .maximum = 0.499}},
           {"correct",
            "decay_frames",
            ScanKeyType::number,
            "",
            "3.0",
            "",
            "Number of frames in which the memory fades to 1/e.",
            "",
            {.minimum = 0, .open = true}},
           {"correct", "before", ScanKeyType::choice, "", "\"first-frame\"", "",
            "What the detector saw before the first view: the same as in it, the open beam, or nothing.",
            "first-frame open-beam dark"}}};
}

CorrectionKind hardening_kind() {
  return {"hardening",
          "straightens line integrals of a beam of many energies by a polynomial p' = c1 p + c2 p^2 + ... that is "
          "given, calibrated, or fitted so that a homogeneous object comes out flat. Line integrals.",
          {{"correct",
            "coefficients",
            ScanKeyType::numbers,
            "",
            "",
            "none",
            "c1, c2, ...; up to six.",
            "",
            {.minimum = -1e9, .maximum = 1e9}},
           {"correct", "calibration", ScanKeyType::text, "", "", "none",
            "A text file of pairs: thickness in mm, line integral measured behind it.", ""},
           {"correct",
            "attenuation_per_mm",
            ScanKeyType::number,
            "",
            "",
            "the slope of a line through 0 and the calibration's pairs",
            "What a mm of the calibration's material is to count, in 1/mm.",
            "",
            {.minimum = 0, .open = true}},
           {"correct", "homogeneous", ScanKeyType::boolean, "", "false", "",
            "The object is of one material: find the polynomial from the scan itself.", ""},
           {"correct",
            "degree",
            ScanKeyType::integer,
            "",
            "3",
            "",
            "Of the polynomial that is calibrated or fitted.",
            "",
            {.minimum = 2, .maximum = 6}}}};
}

CorrectionKind phase_kind() {
  return {"phase",
          "retrieves the phase from one distance (Paganin), for objects of one material in a coherent beam: a low-pass "
          "filter on frames that takes the bright fringes off edges. Grey levels.",
          {{"correct",
            "energy_kev",
            ScanKeyType::number,
            "",
            "",
            "required",
            "Energy of the photons in keV.",
            "",
            {.minimum = 0, .open = true}},
           {"correct",
            "delta_over_beta",
            ScanKeyType::number,
            "",
            "",
            "required",
            "Ratio of the refractive index decrement to the absorption index of the object's material.",
            "",
            {.minimum = 0, .open = true}},
           {"correct",
            "distance_mm",
            ScanKeyType::number,
            "mm",
            "",
            "from the geometry",
            "From the rotation axis to the detector; required in a parallel beam. The magnification is allowed for.",
            "",
            {.minimum = 0, .open = true}}}};
}

}  // namespace

std::vector<CorrectionKind> beam_kinds() {
  std::vector<CorrectionKind> kinds{drift_kind(), dose_kind(), lag_kind(), hardening_kind(), phase_kind()};
  for (CorrectionKind& kind : kinds) kind.works_on = kind.name == "hardening" ? "line-integrals" : "grey-levels";
  return kinds;
}

}  // namespace lepus
