// SPDX-License-Identifier: Apache-2.0
// Paganin's filter 1 / (1 + a_v f_v^2 + a_u f_u^2), f in cycles per pixel, on frames that go on mirrored beyond their
// edges: a product in the 2-D cosine transform (DCT-II), which is taken from a real 2-D Fourier transform of the same
// size (Makhoul 1980). With the samples of each axis put in the order 0, 2, 4, ..., 5, 3, 1, V the transform, w =
// exp(-i pi k / 2N) and a = V[k1, k2], b = V[N - k1, k2], the four cosine coefficients at k1, N - k1 by k2, M - k2 are
//   2 (Re P, -Im P) and 2 (Re Q, -Im Q),  P = w1 (w2 a + w2* b*),  Q = i w1 (w2 a - w2* b*),
// so that they are weighted and put back pair by pair, in place. Written once for host and device.
#pragma once

#include <cstdint>

#include "geometry/row_band.h"
#include "project/host_device.h"

namespace lepus {

// One size of transform: height x width. a_v, a_u: pi lambda R (delta / beta) over the squared pixel pitch at the axis.
struct PhaseFilter {
  std::int64_t height = 0, width = 0;
  float row_scale = 0, column_scale = 0;  // a_v / (2 height)^2, a_u / (2 width)^2
  float norm = 1;                         // 1 / (height width), of the transforms there and back
};

struct Complex32 {
  float re = 0, im = 0;
};
LEPUS_HD inline Complex32 times(Complex32 a, Complex32 b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
LEPUS_HD inline Complex32 conjugate(Complex32 a) { return {a.re, -a.im}; }

LEPUS_HD inline float phase_response(const PhaseFilter& f, std::int64_t k1, std::int64_t k2) {
  const auto y = static_cast<float>(k1), x = static_cast<float>(k2);
  return f.norm / (1.0F + f.row_scale * (y * y) + f.column_scale * (x * x));
}

// a = V[k1, k2] and b = V[(height - k1) mod height, k2], k1 <= height / 2, k2 <= width / 2; w1, w2: their twiddles.
// Where both are the same element (k1 = 0, 2 k1 = height), both come out the same.
LEPUS_HD inline void filter_pair(const PhaseFilter& f, std::int64_t k1, std::int64_t k2, Complex32 w1, Complex32 w2,
                                 Complex32& a, Complex32& b) {
  const Complex32 v = times(times(w1, w2), a), c = times(times(w1, conjugate(w2)), conjugate(b));
  const float near_near = phase_response(f, k1, k2), far_near = phase_response(f, f.height - k1, k2);
  const float near_far = phase_response(f, k1, f.width - k2), far_far = phase_response(f, f.height - k1, f.width - k2);
  // P = v + c; Q = i (v - c), kept as -iQ = v - c: its real part is Im Q, its imaginary part -Re Q.
  const Complex32 p{near_near * (v.re + c.re), far_near * (v.im + c.im)};
  const Complex32 q{far_far * (v.re - c.re), near_far * (v.im - c.im)};
  const Complex32 sum{0.5F * (p.re + q.re), 0.5F * (p.im + q.im)};
  const Complex32 difference{0.5F * (p.re - q.re), 0.5F * (p.im - q.im)};
  a = times(conjugate(times(w1, w2)), sum);
  b = conjugate(times(conjugate(times(w1, conjugate(w2))), difference));
}

// Where sample s of n goes.
LEPUS_HD inline std::int64_t shuffled(std::int64_t s, std::int64_t n) {
  return s % 2 == 0 ? s / 2 : n - 1 - (s - 1) / 2;
}

// The detector's rows in tiles counted from row 0, each transformed with `halo` rows above and below: the result of a
// row does not depend on the band it came in. A detector of few rows is one tile, without halo.
struct PhaseTiles {
  std::int64_t detector_rows = 0, inner = 0, halo = 0;

  LEPUS_HD std::int64_t height() const { return inner + 2 * halo; }
  // The detector row that row `y` of a tile shows, mirrored at the detector's edges.
  LEPUS_HD std::int64_t row(std::int64_t tile, std::int64_t y) const {
    const std::int64_t r = tile * inner - halo + y;
    return r < 0 ? -1 - r : r >= detector_rows ? 2 * detector_rows - 1 - r : r;
  }
};

}  // namespace lepus
