// SPDX-License-Identifier: Apache-2.0
// The open beam of a scan: flats and darks of the rows that are reconstructed, and I0 where there are no flats.
#pragma once

#include <memory>

#include "core/cancel.h"
#include "io/frames.h"
#include "scan/scan.h"

namespace lepus {

// Flats or darks (`what`) with the same rows of the detector as the selected frames. Throws Error(input) where they
// have another size.
std::unique_ptr<FrameSource> open_like_frames(const FrameFiles& files, const FrameSource& frames, const Scan& scan,
                                              const char* what);

// I0 above the dark as intensity.from says, in counts of the recorded frames; not for Intensity::flats.
double intensity_without_flats(const Scan& scan, PixelType type, const CancelFlag& cancel);

}  // namespace lepus
