// SPDX-License-Identifier: Apache-2.0
// One scan with random frames, filtered by the CPU's row filter and by the device's.
#pragma once

#include <cstdint>
#include <vector>

#include "device/cuda/device_memory.h"
#include "device/cuda/row_filter.h"
#include "filter/ramp.h"
#include "filter/weights.h"
#include "preprocess/normalise.h"
#include "preprocess/row_audit.h"
#include <lepus/geometry.h>

namespace lepus::gpu_test {

struct CaseOptions {
  RampOptions ramp;
  PixelType type = PixelType::u16;
  bool flats = true;   // dark and flat maps; false: one I0
  bool dead = false;   // some pixels whose flat is not above the dark
  bool counts = true;  // false: the frames hold line integrals
  double saturation = 65535;
  std::int64_t transform = 0;  // a length of the device's transform that it would not choose
};

// A 16-bit detector's frame of line integrals between 0.1 and 3.4, different in every pixel of every view.
std::vector<std::uint16_t> random_frame(std::int64_t view, std::int64_t pixels);

class RowCase {
public:
  RowCase(const ScanGeometry& geometry, const CaseOptions& options);

  // Rows [row0, row1) of a view from pixels of options.type, wide columns each; as the CPU's backend does it, or with
  // weights in double precision.
  enum class Weights { single_precision, double_precision };
  std::vector<float> on_cpu(std::int64_t view, std::int64_t row0, std::int64_t row1, const void* pixels,
                            Weights precision = Weights::single_precision) const;
  cuda::RowFilter device_filter() const;

  const ScanGeometry geometry;
  const CaseOptions options;
  const FdkWeights weights;
  std::int64_t before() const { return weights.padding().left; }
  std::int64_t wide() const { return geometry.columns + before() + weights.padding().right; }

private:
  Normalisation normalisation_;
  std::vector<std::int64_t> dead_;
};

// The largest value, and how far two rows are apart as a fraction of it.
struct Difference {
  double largest, rms, worst;
};
Difference difference(const float* expected, const float* got, std::int64_t n);

}  // namespace lepus::gpu_test
