// SPDX-License-Identifier: Apache-2.0
#include "iterative/method.h"

#include <cmath>

namespace lepus {

Method::Method(Problem& problem, const MethodOptions& options)
    : problem_(problem), options_(options), algebra_(*problem.map) {
  x_ = &volume_vector("x");
}

void Method::start() {
  if (!problem_.start) return;
  algebra_.copy(volume(), problem_.start);
  bound(volume());
}

Vector& Method::volume_vector(const std::string& name) {
  auto& vector = vectors_[name];
  if (!vector) vector = std::make_unique<Vector>(work_volume());
  return *vector;
}

Vector& Method::data_vector(const std::string& name) {
  auto& vector = vectors_[name];
  if (!vector) vector = std::make_unique<Vector>(work_data());
  return *vector;
}

double& Method::scalar(const std::string& name) { return scalars_[name]; }

void Method::bound(Vector volume, std::int64_t first) {
  if (std::isfinite(options_.low) || std::isfinite(options_.high)) algebra_.clamp(volume, options_.low, options_.high);
  if (problem_.mask) algebra_.multiply(volume, volume, problem_.mask.part(first, volume.size()));
}

}  // namespace lepus
