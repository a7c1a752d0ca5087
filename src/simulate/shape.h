// SPDX-License-Identifier: Apache-2.0
// A solid of constant attenuation: ellipsoid, elliptic cylinder, truncated elliptic cone, box or a surface of
// triangles, turned, moved and clipped by planes. All but the last are convex, so that a ray meets them in one interval
// at most. Lengths in mm, double precision.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "simulate/mesh.h"
#include "project/surface_lengths.h"
#include <lepus/math.h>

namespace lepus {

enum class ShapeKind { ellipsoid, cylinder, cone, box, mesh };

struct Shape {
  ShapeKind kind = ShapeKind::ellipsoid;
  Vec3 centre_mm;
  Vec3 half_axes_mm{1, 1, 1};              // cylinder and cone: half axes of the ellipse, and half of the length
                                           // mesh: mm of its units
  Matrix3 axes;                            // columns: the directions of the half axes, orthonormal
  double bottom_scale = 1, top_scale = 1;  // cone only: the ellipse's size at -half length and at +half length
  std::shared_ptr<const ClosedMesh> mesh;  // of that kind; its origin lies at centre_mm
  std::vector<ClipPlane> clips;
  double value = 0;      // attenuation in 1/mm; or the density in g/cm^3 where a material is named
  std::string material;  // "" or a name that materials.h knows
  std::string name;      // for messages and reports
};

// A shape made ready for many rays: the map onto its unit shape, clip planes as they are.
class PreparedShape {
public:
  // Throws Error(usage) naming the shape where an axis is not positive, the axes are not orthonormal, or a cone has no
  // positive radius.
  explicit PreparedShape(const Shape& shape);

  bool convex() const { return !mesh_; }
  Interval intersect(const Ray& ray) const;                                // of a convex one
  void intersect(const Ray& ray, std::vector<Interval>& intervals) const;  // of any
  bool contains(Vec3 point) const;
  const Bounds& bounds() const { return bounds_; }
  // Of a mesh, for a machine that traces rays itself: it points into this shape.
  TracedSurface traced(std::int32_t group, double factor) const;

private:
  Interval intersect_ellipsoid(Vec3 origin, Vec3 direction) const;
  Interval intersect_cylinder(Vec3 origin, Vec3 direction) const;
  Interval intersect_cone(Vec3 origin, Vec3 direction) const;
  Interval intersect_box(Vec3 origin, Vec3 direction) const;

  ShapeKind kind_;
  Vec3 centre_;
  Matrix3 to_unit_;
  double ball_radius_squared_ = 0;  // of a ball around the centre that holds a convex shape: most rays miss it
  double radius_middle_ = 1, radius_slope_ = 0;  // cone: radius(z) = middle + slope * z on z in [-1, 1]
  std::shared_ptr<const ClosedMesh> mesh_;
  std::vector<ClipPlane> clips_;
  Bounds bounds_;
};

// Columns are the turned x, y, z axes: about x, then y, then z (fixed axes), counter-clockwise.
Matrix3 rotation(double about_x_rad, double about_y_rad, double about_z_rad);

// An orthonormal frame whose third axis is along `axis` and whose first is as near to `towards_x` as it can be.
Matrix3 frame_along(Vec3 axis, Vec3 towards_x);

Shape ellipsoid(Vec3 centre_mm, Vec3 half_axes_mm, double value);
Shape sphere(Vec3 centre_mm, double radius_mm, double value);
Shape cylinder(Vec3 centre_mm, double radius_mm, double length_mm, double value);  // along z
Shape box(Vec3 centre_mm, Vec3 size_mm, double value);                             // size: the whole edges

}  // namespace lepus
