// SPDX-License-Identifier: Apache-2.0
// A map whose line integrals are multiplied by numbers of their own and whose volume is known to be zero outside a
// mask: S A M. With the square roots of statistical weights as S, plain least squares become weighted ones.
#pragma once

#include <memory>
#include <span>

#include "iterative/vectors.h"

namespace lepus {

// Vectors may be null; they and the map outlive it.
std::unique_ptr<LinearMap> scaled_map(LinearMap& map, const Vector* row_scale, const Vector* mask);

}  // namespace lepus
