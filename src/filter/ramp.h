// SPDX-License-Identifier: Apache-2.0
// The ramp filter of filtered backprojection, along detector rows, in index units (pixel pitch 1): the band-limited
// kernel h[0] = 1/4, h[odd n] = -1/(pi n)^2, h[even n] = 0 (Ramachandran and Lakshminarayanan 1971), apodised by a
// window up to a cut-off. The pixel pitch is part of the FDK weights (filter/weights.h). docs/filters.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <lepus/options.h>

namespace lepus {

// The transfer function of all of it, in cycles per pixel, |frequency| <= 1/2.
double ramp_response(const RampOptions& options, double cycles_per_pixel);

// The same as a kernel: its value at a lag in pixels, the exact inverse transform of ramp_response (closed form).
double ramp_kernel(const RampOptions& options, std::int64_t lag);

// The plain double-precision version: direct convolution of one row.
std::vector<double> ramp_filter_reference(const std::vector<double>& row, const RampOptions& options);

// What a fast convolution by the Fourier transform needs, for rows of `columns` samples.
struct RampTransfer {
  std::int64_t length = 0;      // of the transform; places length - k hold what lies k before the row
  std::vector<float> response;  // length / 2 + 1 values, real; the transform's 1/length is in them
  std::vector<float> edge;      // how the edge values go on beyond the row on both sides; mostly empty
};
std::int64_t shortest_ramp_transform(std::int64_t columns, const RampOptions& options);
// `length` must be even and no less than the shortest.
RampTransfer ramp_transfer(std::int64_t columns, const RampOptions& options, std::int64_t length);

class RampFilter {
public:
  RampFilter(std::int64_t columns, const RampOptions& options);
  ~RampFilter();
  RampFilter(RampFilter&&) noexcept;
  RampFilter& operator=(RampFilter&&) noexcept;

  std::int64_t columns() const;
  std::int64_t padded_length() const;   // of the transform
  std::int64_t scratch_floats() const;  // what apply needs per thread, 64-byte aligned
  // Filters one row in place. Thread-safe with distinct scratch; the same bits whatever rows come before or after.
  void apply(float* row, float* scratch) const;

private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

}  // namespace lepus
