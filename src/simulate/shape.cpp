// SPDX-License-Identifier: Apache-2.0
// Ray against convex solid: the ray is mapped onto the unit shape (affine, so t stays what it is), cut there, and
// clipped by the planes. Roots are taken about the point of closest approach, where nothing cancels.
#include "simulate/shape.h"

#include <algorithm>
#include <cmath>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Interval nothing{1, 0};

Interval intersection(Interval a, Interval b) { return {std::max(a.begin, b.begin), std::min(a.end, b.end)}; }

// t with |position + t * speed| <= 1.
Interval slab(double position, double speed) {
  if (speed == 0) return std::abs(position) <= 1 ? Interval{-infinity, infinity} : nothing;
  const double a = (-1 - position) / speed, b = (1 - position) / speed;
  return a < b ? Interval{a, b} : Interval{b, a};
}

[[noreturn]] void bad_shape(const Shape& shape, const std::string& why, const std::string& hint) {
  throw Error(
      ErrorKind::usage,
      {.what = "shape cannot be used", .where = shape.name.empty() ? "phantom" : shape.name, .why = why, .hint = hint});
}

bool finite(Vec3 a) { return std::isfinite(a.x) && std::isfinite(a.y) && std::isfinite(a.z); }

}  // namespace

PreparedShape::PreparedShape(const Shape& shape)
    : kind_(shape.kind), centre_(shape.centre_mm), mesh_(shape.mesh), clips_(shape.clips) {
  if ((kind_ == ShapeKind::mesh) != (mesh_ != nullptr)) bad_shape(shape, "it has no surface", "name one");
  const Vec3 h = shape.half_axes_mm;
  if (!finite(shape.centre_mm) || !finite(h) || !std::isfinite(shape.value))
    bad_shape(shape, "a number is not finite", "check its position, size and value");
  if (!(h.x > 0 && h.y > 0 && h.z > 0))
    bad_shape(shape, format("its half axes are {} x {} x {} mm", h.x, h.y, h.z), "give sizes above zero");
  const Matrix3 gram = transposed(shape.axes) * shape.axes;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      if (!(std::abs(gram(i, j) - (i == j ? 1.0 : 0.0)) < 1e-9))
        bad_shape(shape, "its axes are not unit vectors at right angles", "correct the directions");
  for (const ClipPlane& clip : clips_)
    if (!finite(clip.normal) || !std::isfinite(clip.offset_mm) || norm(clip.normal) == 0)
      bad_shape(shape, "a clip plane has no direction", "give [nx, ny, nz, offset] with a normal that is not zero");

  double widest = 1;
  if (kind_ == ShapeKind::cone) {
    if (!(shape.bottom_scale >= 0 && shape.top_scale >= 0 && shape.bottom_scale + shape.top_scale > 0))
      bad_shape(shape, format("its radii scale by {} and {}", shape.bottom_scale, shape.top_scale),
                "give radii that are not negative, one of them above zero");
    radius_middle_ = (shape.top_scale + shape.bottom_scale) / 2;
    radius_slope_ = (shape.top_scale - shape.bottom_scale) / 2;
    widest = std::max(shape.top_scale, shape.bottom_scale);
  }

  const double scale[3] = {1 / h.x, 1 / h.y, 1 / h.z};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) to_unit_(i, j) = shape.axes(j, i) * scale[i];

  const double across = widest * std::max(h.x, h.y);
  const double around = kind_ == ShapeKind::ellipsoid ? std::max(across, h.z)
                        : kind_ == ShapeKind::box     ? norm(h)
                                                      : std::hypot(across, h.z);
  ball_radius_squared_ = around * around * 1.001;  // more than rounding, which grows with the way from the source

  double reach[3];
  for (int i = 0; i < 3; ++i) {
    const double x = std::abs(shape.axes(i, 0) * h.x), y = std::abs(shape.axes(i, 1) * h.y),
                 z = std::abs(shape.axes(i, 2) * h.z);
    switch (kind_) {
      case ShapeKind::ellipsoid:
        reach[i] = std::sqrt(x * x + y * y + z * z);
        break;
      case ShapeKind::cylinder:
      case ShapeKind::cone:
        reach[i] = widest * std::sqrt(x * x + y * y) + z;
        break;
      case ShapeKind::box:
        reach[i] = x + y + z;
        break;
      case ShapeKind::mesh: {
        const Vec3 half = 0.5 * (mesh_->bounds().high - mesh_->bounds().low);
        reach[i] = x * half.x + y * half.y + z * half.z;
        break;
      }
    }
    // A little room, so that rounding in the box test never loses a grazing ray.
    reach[i] += 1e-12 * (reach[i] + norm(centre_));
  }
  const Vec3 r{reach[0], reach[1], reach[2]};
  Vec3 middle = centre_;
  if (mesh_) {  // whose origin may lie anywhere
    const Vec3 m = 0.5 * (mesh_->bounds().low + mesh_->bounds().high);
    middle = centre_ + shape.axes * Vec3{h.x * m.x, h.y * m.y, h.z * m.z};
  }
  bounds_ = {middle - r, middle + r};
}

Interval PreparedShape::intersect(const Ray& ray) const {
  const Vec3 aside = cross(ray.origin_mm - centre_, ray.direction);
  if (dot(aside, aside) > ball_radius_squared_ * dot(ray.direction, ray.direction)) return nothing;
  const Vec3 origin = to_unit_ * (ray.origin_mm - centre_), direction = to_unit_ * ray.direction;
  Interval t;
  switch (kind_) {
    case ShapeKind::ellipsoid:
      t = intersect_ellipsoid(origin, direction);
      break;
    case ShapeKind::cylinder:
      t = intersect_cylinder(origin, direction);
      break;
    case ShapeKind::cone:
      t = intersect_cone(origin, direction);
      break;
    case ShapeKind::box:
      t = intersect_box(origin, direction);
      break;
    case ShapeKind::mesh:
      return nothing;
  }
  return clipped(ray, t, clips_.data(), clips_.size());
}

void PreparedShape::intersect(const Ray& ray, std::vector<Interval>& intervals) const {
  if (convex()) {
    intervals.assign(1, intersect(ray));
  } else {
    mesh_->intersect({to_unit_ * (ray.origin_mm - centre_), to_unit_ * ray.direction}, intervals);
    for (Interval& t : intervals) t = clipped(ray, t, clips_.data(), clips_.size());
  }
  std::erase_if(intervals, [](const Interval& t) { return t.empty(); });
}

TracedSurface PreparedShape::traced(std::int32_t group, double factor) const {
  TracedSurface surface;
  surface.nodes = mesh_->nodes().data();
  surface.triangles = mesh_->triangles().data();
  surface.clips = clips_.data();
  surface.node_count = static_cast<std::int64_t>(mesh_->nodes().size());
  surface.triangle_count = static_cast<std::int64_t>(mesh_->triangles().size());
  surface.clip_count = static_cast<std::int64_t>(clips_.size());
  surface.to_unit = to_unit_;
  surface.centre_mm = centre_;
  surface.size = mesh_->size();
  surface.group = group;
  surface.factor = factor;
  return surface;
}

Interval PreparedShape::intersect_ellipsoid(Vec3 origin, Vec3 direction) const {
  const double speed2 = dot(direction, direction), closest = -dot(origin, direction) / speed2;
  const Vec3 nearest = origin + closest * direction;
  const double room = 1 - dot(nearest, nearest);
  if (!(room > 0)) return nothing;
  const double half = std::sqrt(room / speed2);
  return {closest - half, closest + half};
}

Interval PreparedShape::intersect_cylinder(Vec3 origin, Vec3 direction) const {
  const Interval ends = slab(origin.z, direction.z);
  const double speed2 = direction.x * direction.x + direction.y * direction.y;
  if (speed2 == 0) return origin.x * origin.x + origin.y * origin.y < 1 ? ends : nothing;
  const double closest = -(origin.x * direction.x + origin.y * direction.y) / speed2;
  const double x = origin.x + closest * direction.x, y = origin.y + closest * direction.y;
  const double room = 1 - (x * x + y * y);
  if (!(room > 0)) return nothing;
  const double half = std::sqrt(room / speed2);
  return intersection({closest - half, closest + half}, ends);
}

// x^2 + y^2 <= (middle + slope z)^2 with -1 <= z <= 1, where the radius is not negative. Inside the slab only one
// nappe is met, so the set of t is one interval: between the roots, or beyond one of them.
Interval PreparedShape::intersect_cone(Vec3 origin, Vec3 direction) const {
  const Interval ends = slab(origin.z, direction.z);
  if (ends.empty()) return nothing;
  // Start from the middle of the piece between the end planes (or the closest point), so that terms stay of order 1.
  const double speed2 = direction.x * direction.x + direction.y * direction.y;
  const double start = std::isfinite(ends.begin) && std::isfinite(ends.end) ? (ends.begin + ends.end) / 2
                       : speed2 > 0 ? -(origin.x * direction.x + origin.y * direction.y) / speed2
                                    : 0;
  const Vec3 p = origin + start * direction;
  const double radius = radius_middle_ + radius_slope_ * p.z, growth = radius_slope_ * direction.z;
  const double a = speed2 - growth * growth;
  const double b = p.x * direction.x + p.y * direction.y - radius * growth;
  const double c = p.x * p.x + p.y * p.y - radius * radius;
  const auto shifted = [&](double from, double to) { return intersection({start + from, start + to}, ends); };
  if (a == 0) {
    if (b == 0) return c < 0 ? ends : nothing;
    const double root = -c / (2 * b);
    return b > 0 ? shifted(-infinity, root) : shifted(root, infinity);
  }
  // b^2 - ac written as |r d - g p|^2 - (p x d)^2, whose terms vanish one by one for a ray through the apex.
  const double ex = radius * direction.x - growth * p.x, ey = radius * direction.y - growth * p.y;
  const double along = std::sqrt(ex * ex + ey * ey), across = std::abs(p.x * direction.y - p.y * direction.x);
  const double discriminant = (along - across) * (along + across);
  if (!(discriminant > 0)) return a < 0 ? ends : nothing;  // steeper than the cone and through its apex: all inside
  const double q = -(b + std::copysign(std::sqrt(discriminant), b));
  const double r1 = q / a, r2 = q == 0 ? 0 : c / q;
  const double low = std::min(r1, r2), high = std::max(r1, r2);
  if (a > 0) return shifted(low, high);
  // Steeper than the cone: inside it outside of the two roots, one side for each nappe; ours is where the radius is
  // positive.
  return growth > 0 ? shifted(high, infinity) : shifted(-infinity, low);
}

Interval PreparedShape::intersect_box(Vec3 origin, Vec3 direction) const {
  return intersection(intersection(slab(origin.x, direction.x), slab(origin.y, direction.y)),
                      slab(origin.z, direction.z));
}

bool PreparedShape::contains(Vec3 point) const {
  for (const ClipPlane& clip : clips_)
    if (dot(clip.normal, point) > clip.offset_mm) return false;
  const Vec3 q = to_unit_ * (point - centre_);
  const double xy = q.x * q.x + q.y * q.y;
  switch (kind_) {
    case ShapeKind::ellipsoid:
      return xy + q.z * q.z <= 1;
    case ShapeKind::cylinder:
      return xy <= 1 && std::abs(q.z) <= 1;
    case ShapeKind::cone: {
      const double radius = radius_middle_ + radius_slope_ * q.z;
      return std::abs(q.z) <= 1 && xy <= radius * radius;
    }
    case ShapeKind::box:
      return std::abs(q.x) <= 1 && std::abs(q.y) <= 1 && std::abs(q.z) <= 1;
    case ShapeKind::mesh:
      return mesh_->contains(q);
  }
  return false;
}

Matrix3 rotation(double about_x_rad, double about_y_rad, double about_z_rad) {
  const double cx = std::cos(about_x_rad), sx = std::sin(about_x_rad), cy = std::cos(about_y_rad),
               sy = std::sin(about_y_rad), cz = std::cos(about_z_rad), sz = std::sin(about_z_rad);
  const Matrix3 x{{1, 0, 0, 0, cx, -sx, 0, sx, cx}}, y{{cy, 0, sy, 0, 1, 0, -sy, 0, cy}},
      z{{cz, -sz, 0, sz, cz, 0, 0, 0, 1}};
  return z * (y * x);
}

Matrix3 frame_along(Vec3 axis, Vec3 towards_x) {
  const Vec3 z = normalized(axis);
  Vec3 x = towards_x - dot(towards_x, z) * z;
  if (norm(x) < 1e-9 * norm(towards_x)) {
    const Vec3 other = std::abs(z.x) < 0.7 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
    x = other - dot(other, z) * z;
  }
  x = normalized(x);
  const Vec3 y = cross(z, x);
  return {{x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z}};
}

Shape ellipsoid(Vec3 centre_mm, Vec3 half_axes_mm, double value) {
  Shape shape;
  shape.centre_mm = centre_mm;
  shape.half_axes_mm = half_axes_mm;
  shape.value = value;
  return shape;
}

Shape sphere(Vec3 centre_mm, double radius_mm, double value) {
  return ellipsoid(centre_mm, {radius_mm, radius_mm, radius_mm}, value);
}

Shape cylinder(Vec3 centre_mm, double radius_mm, double length_mm, double value) {
  Shape shape = ellipsoid(centre_mm, {radius_mm, radius_mm, length_mm / 2}, value);
  shape.kind = ShapeKind::cylinder;
  return shape;
}

Shape box(Vec3 centre_mm, Vec3 size_mm, double value) {
  Shape shape = ellipsoid(centre_mm, size_mm / 2, value);
  shape.kind = ShapeKind::box;
  return shape;
}

}  // namespace lepus
