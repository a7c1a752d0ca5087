// SPDX-License-Identifier: Apache-2.0
#include "simulate/builtin_phantoms.h"

#include <cmath>
#include <utility>

#include "core/format.h"
#include "simulate/forbild_text.h"
#include "simulate/phantom_file.h"
#include <lepus/error.h>

namespace lepus {
namespace {

struct TableRow {
  Vec3 centre, half_axes;
  double angle_deg;  // of the first axis from x towards y, about z
  double value, modified_value;
};

// Kak and Slaney, Principles of Computerized Tomographic Imaging, table 3.1.
constexpr TableRow kak_slaney_table[] = {
    {{0, 0, 0}, {0.69, 0.92, 0.90}, 0, 2.0, 1.0},
    {{0, 0, 0}, {0.6624, 0.874, 0.88}, 0, -0.98, -0.8},
    {{-0.22, 0, -0.25}, {0.41, 0.16, 0.21}, 108, -0.02, -0.2},
    {{0.22, 0, -0.25}, {0.31, 0.11, 0.22}, 72, -0.02, -0.2},
    {{0, 0.35, -0.25}, {0.21, 0.25, 0.50}, 0, 0.02, 0.1},
    {{0, 0.10, -0.25}, {0.046, 0.046, 0.046}, 0, 0.02, 0.1},
    {{-0.08, -0.65, -0.25}, {0.046, 0.023, 0.02}, 0, 0.01, 0.1},
    {{0.06, -0.65, -0.25}, {0.046, 0.023, 0.02}, 90, 0.01, 0.1},
    {{0.06, -0.105, 0.625}, {0.056, 0.04, 0.10}, 90, 0.02, 0.1},
    {{0, 0.10, 0.625}, {0.056, 0.056, 0.10}, 0, -0.02, -0.1},
};

void require_positive(double value, const char* name) {
  if (!(value > 0))
    throw Error(ErrorKind::usage, {.what = "phantom cannot be made",
                                   .where = name,
                                   .why = format("it is {}", value),
                                   .hint = "give a number above zero"});
}

}  // namespace

Phantom shepp_logan(SheppLogan kind, double scale_mm, double value_per_mm) {
  require_positive(scale_mm, "scale");
  std::vector<Shape> shapes;
  for (const TableRow& row : kak_slaney_table) {
    Vec3 centre = row.centre;
    double angle = radians(row.angle_deg);
    if (kind == SheppLogan::rtk) {
      // RTK writes the table with y and z exchanged, which mirrors it; turned back so that its y is our z, the plane
      // of the slices has its second axis reversed.
      centre.y = -centre.y;
      angle = -angle;
    }
    Shape shape = ellipsoid(scale_mm * centre, scale_mm * row.half_axes,
                            value_per_mm * (kind == SheppLogan::modified ? row.modified_value : row.value));
    shape.axes = rotation(0, 0, angle);
    shapes.push_back(shape);
  }
  const char* const name = kind == SheppLogan::modified ? "shepp-logan-modified"
                           : kind == SheppLogan::rtk    ? "shepp-logan-rtk"
                                                        : "shepp-logan";
  return Phantom(name, Combine::add, std::move(shapes));
}

Phantom defrise_disks(double radius_mm, double value_per_mm, int disks) {
  require_positive(radius_mm, "radius");
  require_positive(disks, "number of disks");
  // Equal gaps between disks of equal thickness within +-0.7 radius, where disks of 0.7 radius still fit the ball.
  const double pitch = 1.4 / disks;
  std::vector<Shape> shapes;
  for (int i = 0; i < disks; ++i) {
    const double z = -0.7 + pitch * (i + 0.5);
    shapes.push_back(
        ellipsoid({0, 0, z * radius_mm}, {0.7 * radius_mm, 0.7 * radius_mm, 0.25 * pitch * radius_mm}, value_per_mm));
  }
  return Phantom("defrise", Combine::add, std::move(shapes));
}

Phantom uniform_ball(double radius_mm, double value_per_mm) {
  require_positive(radius_mm, "radius");
  return Phantom("ball", Combine::add, {sphere({}, radius_mm, value_per_mm)});
}

Phantom forbild_head(bool ear, double water_per_mm) {
  PhantomFileOptions options;
  options.water_per_mm = water_per_mm;
  Phantom read = parse_pd(ear ? forbild_head_text : forbild_head_no_ear_text, "forbild_head.pd", options);
  return Phantom(ear ? "forbild-head" : "forbild-head-no-ear", read.combine(), read.shapes());
}

BeadResult bead_phantom(const BeadPhantom& o) {
  require_positive(o.radius_mm, "radius");
  require_positive(o.height_mm, "height");
  require_positive(o.bead_radius_mm, "bead radius");
  require_positive(o.beads, "number of beads");
  constexpr int maximum_beads = 1'000'000;
  if (o.beads > maximum_beads)
    throw Error(ErrorKind::usage, {.what = format("{} beads are too many", o.beads),
                                   .where = "bead phantom",
                                   .why = {},
                                   .hint = format("take at most {}", maximum_beads)});
  const double ring = o.radius_mm - 2 * o.bead_radius_mm, reach = o.height_mm / 2 - 2 * o.bead_radius_mm;
  if (!(ring > 0 && reach > 0))
    throw Error(ErrorKind::usage, {.what = "beads do not fit",
                                   .where = "bead phantom",
                                   .why = format("beads of {} mm in a cylinder of radius {} mm and height {} mm",
                                                 o.bead_radius_mm, o.radius_mm, o.height_mm),
                                   .hint = "make the beads smaller"});
  BeadResult result;
  std::vector<Shape> shapes{cylinder({}, o.radius_mm, o.height_mm, o.value_per_mm)};
  for (int i = 0; i < o.beads; ++i) {
    double angle = 0, z = 0;
    if (o.two_rings) {
      const int half = (o.beads + 1) / 2;
      angle = 2 * pi * (i % half) / half;
      z = i < half ? -reach : reach;
    } else {
      const double share = o.beads == 1 ? 0.5 : static_cast<double>(i) / (o.beads - 1);
      angle = 2 * pi * o.turns * share;
      z = reach * (2 * share - 1);
    }
    const Vec3 centre{ring * std::cos(angle), ring * std::sin(angle), z};
    result.centres_mm.push_back(centre);
    shapes.push_back(sphere(centre, o.bead_radius_mm, o.bead_value_per_mm));
  }
  result.phantom = Phantom("beads", Combine::replace, std::move(shapes));
  return result;
}

}  // namespace lepus
