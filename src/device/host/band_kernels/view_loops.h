// SPDX-License-Identifier: Apache-2.0
// The CPU's loops of drift, lag, hardening and flats over a stack of sinograms, in place: threads over rows, vectors
// along columns. Every value is computed on its own, so the result does not depend on bands or threads.
#pragma once

#include <cstdint>

#include "core/threads.h"
#include "device/band_kernels.h"

namespace lepus {

// Values of view v (row v of every sinogram) times factors[v].
void scale_views(const Planes& sinograms, const float* factors, ThreadPool& threads);
void remove_lag(const Planes& sinograms, const LagModel& model, LagStart start, ThreadPool& threads);
void linearise(const Planes& sinograms, const HardeningCurve& curve, ThreadPool& threads);
// Grey levels that were made with the mean of all flats, as if made with the flat of each view; sinograms: from
// detector row first_row on.
void interpolate_flats(const Planes& sinograms, std::int64_t first_row, const FlatsOfViews& flats, ThreadPool& threads);

}  // namespace lepus
