// SPDX-License-Identifier: Apache-2.0
// From a [[correct]] section to the options of its correction: the one place where keys of the scan file and fields of
// the structs meet. corrections/ has a file for each family. Throws Error(input) with the section's line.
#pragma once

#include "correct/beam/beam.h"
#include "correct/filters/filter_correction.h"
#include "correct/pixels/pixels.h"
#include "correct/rings/rings_correction.h"
#include "scan/scan.h"

namespace lepus {

HotPixelOptions hot_pixel_options(const CorrectionSpec& spec);
ZingerOptions zinger_options(const CorrectionSpec& spec);
DeadPixelOptions dead_pixel_options(const CorrectionSpec& spec);
DefectMapOptions defect_map_options(const CorrectionSpec& spec, const Scan& scan);

FilterCorrectionOptions filter_correction_options(const CorrectionSpec& spec);
RingsOptions rings_options(const CorrectionSpec& spec);

DriftOptions drift_options(const CorrectionSpec& spec);
DoseOptions dose_options(const CorrectionSpec& spec);  // reads the file of doses
LagOptions lag_options(const CorrectionSpec& spec);
PhaseOptions phase_options(const CorrectionSpec& spec);
HardeningOptions hardening_options(const CorrectionSpec& spec);  // reads the calibration

}  // namespace lepus
