// SPDX-License-Identifier: Apache-2.0
// The table: what a device can do, how near to double precision it must come, and who lacks it.
#include "operations.h"

#include <cstdlib>

namespace lepus::parity {
namespace {

// Coordinates in single precision limit both; about 3e-6 and 1.4e-5 are expected, of the rms and the largest value.
constexpr Difference single_precision{1e-5, 1e-4};
// Texture units and samplers may weigh with 8 bits, which err by up to 1/512 of the step between neighbouring pixels;
// the views are noise of amplitude 1 on a wave of amplitude 1, and the sum over views averages little of it. fp16 adds
// 1/2048.
constexpr Difference eight_bit_weights{2e-3, 5e-3};
// In units of what single precision, or weights of 8 bits, can do to a ray at worst (ray_projector.cpp).
constexpr Difference worst_of_a_ray{0.25, 1};
// Places up to 30 voxels from the middle are rounded to 2^-24 of that, some times on the way; a weight moves by as much
// as a place, and sums have random signs: 1e-6 to 1e-5 of the rms is expected.
constexpr Difference rounded_weights{2e-5, 1e-4};
// A logarithm of about 11 rounds to 5e-7 and frames spread by 0.8; the transforms add 3e-7 of the row's rms; weights
// are good to 2e-7. Together 8e-7 of the filtered rms, which is less than a third of the largest value, the unit here.
// The worst of some thousand values lies within five standard deviations.
constexpr Difference filtered_row = row_limit;
// In units that the cases derive, each where it stands.
constexpr Difference derived{1, 1};
constexpr Difference no_difference{0, 0};

Operation backprojection(const char* name, Interpolation interpolation, Precision precision, Difference limit) {
  // The CPU has one precision.
  const bool host_too = precision == Precision::exact;
  return {name,
          precision,
          limit,
          host_too ? std::vector<std::string>{} : std::vector<std::string>{"cpu"},
          [=] { return backprojection_cases(interpolation, precision); },
          host_too};
}

Operation on_bands(const char* name, Difference limit, std::vector<Case> (*cases)(),
                   std::vector<std::string> lacking = {}) {
  return {name, Precision::exact, limit, std::move(lacking), cases, false};
}

// Each method by itself: a device that lacked one would fail, and not leave it out.
Operation by_method(const char* name, RingMethod method) {
  return {name, Precision::exact, derived, {}, [=] { return ring_cases(method); }, false};
}

Operation with_rays(const char* name, RayModel model, bool transposed) {
  return {name, Precision::exact, rounded_weights, {}, [=] { return model_cases(model, transposed); }, false};
}

}  // namespace

bool timing() { return std::getenv("LEPUS_PARITY_TIME") != nullptr; }

const std::vector<Operation>& operations() {
  using enum Precision;
  static const std::vector<Operation> all{
      backprojection("backproject", Interpolation::linear, exact, single_precision),
      backprojection("backproject cubic", Interpolation::cubic, exact, single_precision),
      backprojection("backproject nearest", Interpolation::nearest, exact, single_precision),
      backprojection("backproject fast", Interpolation::linear, fast, eight_bit_weights),
      backprojection("backproject half", Interpolation::linear, half, eight_bit_weights),
      {"project", exact, worst_of_a_ray, {}, [] { return projection_cases(exact); }},
      {"project fast", fast, worst_of_a_ray, {"cpu"}, [] { return projection_cases(fast); }},
      with_rays("project siddon", RayModel::siddon, false),
      with_rays("project footprint", RayModel::footprint, false),
      with_rays("transpose joseph", RayModel::joseph, true),
      with_rays("transpose siddon", RayModel::siddon, true),
      with_rays("transpose footprint", RayModel::footprint, true),
      with_rays("transpose voxel", RayModel::voxel, true),
      {"row filter", exact, filtered_row, {}, row_filter_cases},
      on_bands("resample", no_difference, resampling_cases),
      on_bands("stage", derived, stage_cases),
      // The same columns are found, and replaced by the same values but for the rounding of a quotient.
      on_bands("hot pixels", {2e-7, 2e-7}, hot_pixel_cases),
      on_bands("zingers", no_difference, zinger_cases),
      on_bands("bridge", derived, bridge_cases, {"opencl"}),
      on_bands("filter", derived, filter_cases, {"opencl"}),
      on_bands("transpose", no_difference, transpose_cases, {"opencl"}),
      by_method("rings trend", RingMethod::trend),
      by_method("rings wavelet", RingMethod::wavelet_fourier),
      by_method("rings sorting", RingMethod::sorting),
      by_method("rings combined", RingMethod::combined),
      on_bands("scale views", derived, scale_cases, {"opencl"}),
      on_bands("lag", derived, lag_cases, {"opencl"}),
      on_bands("hardening", derived, hardening_cases, {"opencl"}),
      on_bands("flats", derived, flat_cases, {"opencl"}),
      on_bands("phase", derived, phase_cases, {"opencl"}),
  };
  return all;
}

}  // namespace lepus::parity
