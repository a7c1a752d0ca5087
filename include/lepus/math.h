// SPDX-License-Identifier: Apache-2.0
// The little linear algebra that a scan's geometry needs: 3-vectors, 3x3 and 3x4 matrices, double precision, row-major.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace lepus {

inline constexpr double pi = std::numbers::pi;

constexpr double radians(double degrees) { return degrees * (pi / 180.0); }
constexpr double degrees(double radians) { return radians * (180.0 / pi); }

struct Vec3 {
  double x = 0, y = 0, z = 0;
  friend constexpr bool operator==(const Vec3&, const Vec3&) = default;
};

constexpr Vec3 operator+(Vec3 a, Vec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
constexpr Vec3 operator-(Vec3 a, Vec3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
constexpr Vec3 operator-(Vec3 a) { return {-a.x, -a.y, -a.z}; }
constexpr Vec3 operator*(double s, Vec3 a) { return {s * a.x, s * a.y, s * a.z}; }
constexpr Vec3 operator*(Vec3 a, double s) { return s * a; }
constexpr Vec3 operator/(Vec3 a, double s) { return {a.x / s, a.y / s, a.z / s}; }
constexpr double dot(Vec3 a, Vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
constexpr Vec3 cross(Vec3 a, Vec3 b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
inline double norm(Vec3 a) { return std::sqrt(dot(a, a)); }
inline Vec3 normalized(Vec3 a) { return a / norm(a); }

struct Matrix3 {
  std::array<double, 9> m{1, 0, 0, 0, 1, 0, 0, 0, 1};
  constexpr double& operator()(int row, int column) {
    return m[3 * static_cast<std::size_t>(row) + static_cast<std::size_t>(column)];
  }
  constexpr double operator()(int row, int column) const {
    return m[3 * static_cast<std::size_t>(row) + static_cast<std::size_t>(column)];
  }
};

constexpr Vec3 operator*(const Matrix3& a, Vec3 b) {
  return {a(0, 0) * b.x + a(0, 1) * b.y + a(0, 2) * b.z, a(1, 0) * b.x + a(1, 1) * b.y + a(1, 2) * b.z,
          a(2, 0) * b.x + a(2, 1) * b.y + a(2, 2) * b.z};
}

constexpr Matrix3 operator*(const Matrix3& a, const Matrix3& b) {
  Matrix3 c;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) c(i, j) = a(i, 0) * b(0, j) + a(i, 1) * b(1, j) + a(i, 2) * b(2, j);
  return c;
}

constexpr double determinant(const Matrix3& a) {
  return a(0, 0) * (a(1, 1) * a(2, 2) - a(1, 2) * a(2, 1)) - a(0, 1) * (a(1, 0) * a(2, 2) - a(1, 2) * a(2, 0)) +
         a(0, 2) * (a(1, 0) * a(2, 1) - a(1, 1) * a(2, 0));
}

constexpr Matrix3 transposed(const Matrix3& a) {
  return {{a(0, 0), a(1, 0), a(2, 0), a(0, 1), a(1, 1), a(2, 1), a(0, 2), a(1, 2), a(2, 2)}};
}

// The inverse by cofactors; the caller has checked that the determinant is not zero.
constexpr Matrix3 inverse(const Matrix3& a) {
  const double d = determinant(a);
  Matrix3 r;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const int p = (j + 1) % 3, q = (j + 2) % 3, s = (i + 1) % 3, t = (i + 2) % 3;
      r(i, j) = (a(p, s) * a(q, t) - a(p, t) * a(q, s)) / d;
    }
  return r;
}

// A projection matrix: world millimetres (x, y, z, 1) to (u*w, v*w, w). Row-major.
struct Matrix34 {
  std::array<double, 12> m{};
  constexpr double& operator()(int row, int column) {
    return m[4 * static_cast<std::size_t>(row) + static_cast<std::size_t>(column)];
  }
  constexpr double operator()(int row, int column) const {
    return m[4 * static_cast<std::size_t>(row) + static_cast<std::size_t>(column)];
  }
  friend constexpr bool operator==(const Matrix34&, const Matrix34&) = default;
};

constexpr Vec3 row3(const Matrix34& p, int row) { return {p(row, 0), p(row, 1), p(row, 2)}; }

constexpr Matrix3 left3x3(const Matrix34& p) {
  return {{p(0, 0), p(0, 1), p(0, 2), p(1, 0), p(1, 1), p(1, 2), p(2, 0), p(2, 1), p(2, 2)}};
}

// (u*w, v*w, w) of a world point.
constexpr Vec3 transform(const Matrix34& p, Vec3 x) {
  return {p(0, 0) * x.x + p(0, 1) * x.y + p(0, 2) * x.z + p(0, 3),
          p(1, 0) * x.x + p(1, 1) * x.y + p(1, 2) * x.z + p(1, 3),
          p(2, 0) * x.x + p(2, 1) * x.y + p(2, 2) * x.z + p(2, 3)};
}

}  // namespace lepus
