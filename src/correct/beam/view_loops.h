// SPDX-License-Identifier: Apache-2.0
// The CPU's loops of drift, lag and hardening over a stack of sinograms, in place: threads over rows, vectors along
// columns. Every value is computed on its own, so the result does not depend on bands or threads.
#pragma once

#include <vector>

#include "core/threads.h"
#include "correct/beam/beam_formulas.h"
#include "correct/planes.h"

namespace lepus {

// Values of view v (row v of every sinogram) times factors[v].
void scale_views(const Planes& sinograms, const std::vector<float>& factors, ThreadPool& threads);
void remove_lag(const Planes& sinograms, const LagModel& model, LagStart start, ThreadPool& threads);
void linearise(const Planes& sinograms, const HardeningCurve& curve, ThreadPool& threads);

}  // namespace lepus
