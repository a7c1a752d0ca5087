// SPDX-License-Identifier: Apache-2.0
// The choices that a reconstruction leaves to its user, beside the geometry. docs/filters.md says what they do.
#pragma once

namespace lepus {

enum class Window { ram_lak, shepp_logan, cosine, hamming, hann };

struct RampOptions {
  Window window = Window::ram_lak;
  double cutoff = 1.0;              // fraction of the Nyquist frequency
  int spatial_hamming_samples = 0;  // odd M > 1: smooth rows with a Hamming kernel of M samples first
  double extrapolate = 0.0;         // continue truncated rows smoothly to zero over this fraction of their width
};

enum class Interpolation { nearest, linear, cubic };

// How a GPU holds filtered views and weighs their pixels; the CPU is always exact. docs/cuda.md gives the errors.
enum class Precision {
  exact,  // fp32 values, fp32 weights
  fast,   // fp32 values, the texture unit's 8-bit weights
  half,   // fp16 values, the texture unit's 8-bit weights
};

}  // namespace lepus
