// SPDX-License-Identifier: Apache-2.0
// Complex Fourier transforms of one row in shared memory, for the ramp filter: N = A * B * 16 points in three steps of
// radix A, B and 16. The way there decimates in frequency and the way back in time, both in place, so that nothing is
// ever put in order: between them the spectrum lies in the order of `frequency_at`. Host code too, so that a machine
// without a device can test it. Cooley and Tukey 1965; Gentleman and Sande 1966.
#pragma once

#include <utility>

#include "project/host_device.h"

namespace lepus::cuda {

struct alignas(8) Complex {
  float x, y;
};
LEPUS_HD inline Complex operator+(Complex a, Complex b) { return {a.x + b.x, a.y + b.y}; }
LEPUS_HD inline Complex operator-(Complex a, Complex b) { return {a.x - b.x, a.y - b.y}; }
LEPUS_HD inline Complex operator*(float s, Complex a) { return {s * a.x, s * a.y}; }
LEPUS_HD inline Complex operator*(Complex a, Complex b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }
LEPUS_HD inline Complex conjugate(Complex a) { return {a.x, -a.y}; }

// f(0), f(1), ... with the index known to the compiler.
template <int I>
struct Index {
  LEPUS_HD constexpr operator int() const { return I; }
};
template <class F, int... I>
LEPUS_HD inline void for_each_index(std::integer_sequence<int, I...>, F&& f) {
  (f(Index<I>{}), ...);
}
template <int N, class F>
LEPUS_HD inline void repeat(F&& f) {
  for_each_index(std::make_integer_sequence<int, N>{}, f);
}

// cos and -sin of 2 pi k / n.
constexpr double cosine_series(double x) {
  double sum = 0, term = 1;
  for (int i = 1; i < 40; i += 2) {
    sum += term;
    term *= -x * x / (i * (i + 1));
  }
  return sum;
}
template <int K, int N>
struct Root {
  static constexpr double turn = 6.283185307179586;
  static constexpr double angle = (K % N > N / 2 ? K % N - N : K % N) * turn / N;
  static constexpr float x = static_cast<float>(cosine_series(angle));
  static constexpr float y = static_cast<float>(-cosine_series(angle - turn / 4));
};

// a * exp(-2 pi i K / N), the other way round where Back.
template <int K, int N, bool Back>
LEPUS_HD inline Complex rotated(Complex a) {
  if constexpr (K % N == 0) {
    return a;
  } else if constexpr (4 * (K % N) == N) {
    return Back ? Complex{-a.y, a.x} : Complex{a.y, -a.x};
  } else {
    constexpr float x = Root<K, N>::x, y = Back ? -Root<K, N>::y : Root<K, N>::y;
    return {a.x * x - a.y * y, a.x * y + a.y * x};
  }
}

// The transform of R numbers in registers, in order. Half: the upper half of them is zero and not looked at.
template <int R, bool Back, bool Half = false>
LEPUS_HD inline void transform(Complex (&v)[R]) {
  if constexpr (R == 2) {
    const Complex a = v[0], b = v[1];
    v[0] = Half ? a : a + b;
    v[1] = Half ? a : a - b;
  } else if constexpr (R == 3) {
    const Complex sum = v[1] + v[2], difference = Root<1, 3>::y * (v[1] - v[2]);
    const Complex middle = v[0] + Root<1, 3>::x * sum, side = rotated<3, 4, Back>(difference);
    v[0] = v[0] + sum;
    v[1] = middle + side;
    v[2] = middle - side;
  } else if constexpr (R == 4) {
    const Complex a = v[0], b = v[1], c = v[2], d = v[3];
    if constexpr (Half) {
      const Complex t = rotated<1, 4, Back>(b);
      v[0] = a + b;
      v[1] = a + t;
      v[2] = a - b;
      v[3] = a - t;
    } else {
      const Complex p = a + c, q = a - c, r = b + d, t = rotated<1, 4, Back>(b - d);
      v[0] = p + r;
      v[1] = q + t;
      v[2] = p - r;
      v[3] = q - t;
    }
  } else if constexpr (R == 5) {
    const Complex p = v[1] + v[4], q = v[2] + v[3], r = v[1] - v[4], s = v[2] - v[3];
    const Complex m = v[0] + Root<1, 5>::x * p + Root<2, 5>::x * q, n = v[0] + Root<2, 5>::x * p + Root<1, 5>::x * q;
    const Complex t = rotated<3, 4, Back>(Root<1, 5>::y * r + Root<2, 5>::y * s);
    const Complex w = rotated<3, 4, Back>(Root<2, 5>::y * r - Root<1, 5>::y * s);
    v[0] = v[0] + p + q;
    v[1] = m + t;
    v[4] = m - t;
    v[2] = n + w;
    v[3] = n - w;
  } else {
    constexpr int A = R % 4 == 0 && R != 12 && R != 24 && R != 8 ? 4 : R % 3 == 0 ? 3 : 2, B = R / A;
    static_assert(!Half || A % 2 == 0);
    Complex t[R];
    repeat<B>([&](auto b) {
      Complex column[A];
      repeat<A>([&](auto a) {
        if constexpr (!Half || a < A / 2) column[a] = v[a * B + b];
      });
      transform<A, Back, Half>(column);
      repeat<A>([&](auto k) { t[k * B + b] = rotated<k * b, R, Back>(column[k]); });
    });
    repeat<A>([&](auto a) {
      Complex row[B];
      repeat<B>([&](auto b) { row[b] = t[a * B + b]; });
      transform<B, Back>(row);
      repeat<B>([&](auto k) { v[a + A * k] = row[k]; });
    });
  }
}

// Multiplies v[k] by w^k, w given with its fourth power; the other powers are made with few roundings each.
template <int R, bool Back>
LEPUS_HD inline void twist(Complex (&v)[R], Complex first, Complex fourth) {
  const Complex w2 = first * first, w3 = w2 * first;
  const Complex w8 = fourth * fourth, w12 = w8 * fourth, w16 = w8 * w8;
  repeat<R>([&](auto k) {
    constexpr int low = k % 4, high = k / 4;
    if constexpr (k > 0) {
      const Complex l = low == 1 ? first : low == 2 ? w2 : w3;
      Complex h = high == 1 ? fourth : high == 2 ? w8 : high == 3 ? w12 : w16;
      if constexpr (high > 4) h = w16 * (high == 5 ? fourth : high == 6 ? w8 : w12);
      const Complex w = high == 0 ? l : low == 0 ? h : h * l;
      v[k] = v[k] * (Back ? conjugate(w) : w);
    }
  });
}

template <int A, int B>
struct RowFft {
  static constexpr int first = A, second = B, third = 16;
  static constexpr int length = A * B * 16, stride1 = B * 16, stride2 = 16;
  // One place in 17 stays empty: then every access of 16 neighbouring threads meets 16 different banks.
  static constexpr int places = length / 16 * 17;
  LEPUS_HD static constexpr int place(int i) { return i + i / 16; }

  // Which frequency lies at index i between the two ways.
  static constexpr int frequency_at(int i) { return i / stride1 + A * (i / 16 % B) + A * B * (i % 16); }

  // Roots of unity, exp(-2 pi i j k / n): for every j the first and the fourth power.
  // step 1: n = length, j < stride1; step 2: n = stride1, j < 16.
  // The steps for butterfly number j of each; v holds what comes from or goes to the row.
  template <bool Half>
  LEPUS_HD static void there1(Complex (&v)[A], int j, const Complex* roots, Complex* line) {
    transform<A, false, Half>(v);
    twist<A, false>(v, roots[j], roots[stride1 + j]);
    Complex* at = line + place(j);
    repeat<A>([&](auto k) { at[k * place(stride1)] = v[k]; });
  }
  LEPUS_HD static void there2(int j, const Complex* roots, Complex* line) {
    Complex v[B];
    Complex* at = line + j / 16 * place(stride1) + j % 16;
    repeat<B>([&](auto k) { v[k] = at[k * 17]; });
    transform<B, false>(v);
    twist<B, false>(v, roots[j % 16], roots[16 + j % 16]);
    repeat<B>([&](auto k) { at[k * 17] = v[k]; });
  }
  // response[k][j] belongs to index 16 j + k.
  LEPUS_HD static void turn(int j, const float* response, Complex* line) {
    Complex v[16];
    Complex* at = line + 17 * j;
    repeat<16>([&](auto k) { v[k] = at[k]; });
    transform<16, false>(v);
    repeat<16>([&](auto k) { v[k] = response[k * (length / 16) + j] * v[k]; });
    transform<16, true>(v);
    repeat<16>([&](auto k) { at[k] = v[k]; });
  }
  LEPUS_HD static void back2(int j, const Complex* roots, Complex* line) {
    Complex v[B];
    Complex* at = line + j / 16 * place(stride1) + j % 16;
    repeat<B>([&](auto k) { v[k] = at[k * 17]; });
    twist<B, true>(v, roots[j % 16], roots[16 + j % 16]);
    transform<B, true>(v);
    repeat<B>([&](auto k) { at[k * 17] = v[k]; });
  }
  LEPUS_HD static void back1(Complex (&v)[A], int j, const Complex* roots, const Complex* line) {
    const Complex* at = line + place(j);
    repeat<A>([&](auto k) { v[k] = at[k * place(stride1)]; });
    twist<A, true>(v, roots[j], roots[stride1 + j]);
    transform<A, true>(v);
  }
};

}  // namespace lepus::cuda
