// SPDX-License-Identifier: Apache-2.0
// A phantom: shapes whose attenuations add up (Shepp-Logan) or replace one another in drawing order (FORBILD). Exact
// line integrals along any ray and the value at any point, in double precision. docs/simulation.md.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "simulate/materials.h"
#include "simulate/shape.h"
#include "simulate/box_tree.h"

namespace lepus {

enum class Combine {
  add,     // the values of all shapes at a point are summed
  replace  // the shape that was drawn last counts alone
};

// A piece of a ray with one value. Combine::add: pieces of different shapes may overlap, and count each.
struct Segment {
  double begin = 0, end = 0;  // mm along the ray
  std::int32_t shape = 0;     // index into shapes()
};

// Path length times density (or attenuation) by material; index 0 is for shapes without a material.
using MaterialIntegrals = std::array<double, material_slots>;

class Phantom {
public:
  // Working memory for one thread.
  struct Scratch {
    std::vector<Segment> hits, segments;
    std::vector<std::int32_t> active;
    std::vector<Interval> intervals;
  };

  Phantom() = default;
  Phantom(std::string name, Combine combine, std::vector<Shape> shapes);

  const std::string& name() const { return name_; }
  Combine combine() const { return combine_; }
  const std::vector<Shape>& shapes() const { return shapes_; }
  bool has_materials() const { return has_materials_; }
  // A shape as rays meet it, and the slot of its material.
  const PreparedShape& prepared(std::size_t shape) const { return prepared_[shape]; }
  std::int32_t material_of(std::size_t shape) const { return material_[shape]; }
  Bounds bounds() const;  // of all shapes; throws Error(usage) where there are none

  // Integral of the attenuation along the ray. Materials count with their attenuation at energy_kev (see at_energy).
  double line_integral(const Ray& ray, Scratch& scratch) const;
  // The same by material: slot 0 in 1/mm * mm, the others in g/cm^3 * mm.
  MaterialIntegrals material_integrals(const Ray& ray, Scratch& scratch) const;
  // The pieces themselves, in the order of the shapes (add) or of the ray (replace).
  const std::vector<Segment>& segments(const Ray& ray, Scratch& scratch) const;

  double value_at(Vec3 point_mm) const;                                                           // 1/mm
  double value_of(std::int32_t shape) const { return values_[static_cast<std::size_t>(shape)]; }  // 1/mm

  double energy_kev() const { return energy_kev_; }
  Phantom at_energy(double energy_kev) const;  // values of materials at another energy than default_energy_kev

private:
  template <class Visit>
  void visit_hits(const Ray& ray, Scratch& scratch, Visit&& visit) const;
  void resolve_replacement(Scratch& scratch) const;
  void set_energy(double energy_kev);

  std::string name_;
  Combine combine_ = Combine::add;
  std::vector<Shape> shapes_;
  std::vector<PreparedShape> prepared_;
  std::vector<double> values_;          // 1/mm at energy_kev_
  std::vector<std::int32_t> material_;  // slot of each shape
  BoxTree tree_;
  bool use_tree_ = false;
  bool has_materials_ = false;
  double energy_kev_ = default_energy_kev;
};

}  // namespace lepus
