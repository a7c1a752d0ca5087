// SPDX-License-Identifier: Apache-2.0
// A phantom by its name or from a file.
#include <algorithm>
#include <utility>

#include "core/format.h"
#include "core/text.h"
#include "geometry/row_band.h"
#include "simulate/phantom_file.h"
#include "simulate/simulate.h"
#include <lepus/error.h>

namespace lepus {

std::vector<std::string> builtin_phantom_names() {
  return {"shepp-logan",  "shepp-logan-modified", "shepp-logan-rtk", "defrise", "ball",
          "forbild-head", "forbild-head-no-ear",  "porous-block",    "beads"};
}

double fitting_size_mm(const ScanGeometry& geometry) {
  const VolumeGrid grid = automatic_grid(geometry);
  const double height = static_cast<double>(grid.nz) * std::abs(grid.step_mm.z);
  return 0.8 * std::min(2 * field_of_view_radius_mm(geometry), height);
}

MadePhantom make_phantom(const PhantomChoice& c, double fitting_mm, std::uint64_t seed) {
  const std::filesystem::path file = c.name;
  MadePhantom made;
  if (const std::string ending = file.extension(); ending == ".toml" || ending == ".pd" || is_stl(file)) {
    made.phantom = read_phantom(file, {.water_per_mm = c.value_per_mm, .material = c.material, .size_mm = c.size_mm});
    return made;
  }
  const double size = c.size_mm > 0 ? c.size_mm : fitting_mm;
  if (c.name == "shepp-logan") {
    made.phantom = shepp_logan(SheppLogan::kak_slaney, size / 2, c.value_per_mm);
  } else if (c.name == "shepp-logan-modified") {
    made.phantom = shepp_logan(SheppLogan::modified, size / 2, c.value_per_mm);
  } else if (c.name == "shepp-logan-rtk") {
    made.phantom = shepp_logan(SheppLogan::rtk, size / 2, c.value_per_mm);
  } else if (c.name == "defrise") {
    made.phantom = defrise_disks(size / 2, c.value_per_mm);
  } else if (c.name == "ball") {
    made.phantom = uniform_ball(size / 2, c.value_per_mm);
  } else if (c.name == "forbild-head" || c.name == "forbild-head-no-ear") {
    made.phantom = forbild_head(c.name == "forbild-head", c.value_per_mm);
  } else if (c.name == "porous-block") {
    // The edge of a cube whose upright edges stay within a circle of diameter `size`.
    const double edge = c.size_mm > 0 ? size : size / std::sqrt(2.0);
    PorousResult block = porous_block({.size_mm = {edge, edge, edge},
                                       .value_per_mm = c.value_per_mm,
                                       .pores = c.pores,
                                       .smallest_radius_mm = c.smallest_pore * edge,
                                       .largest_radius_mm = c.largest_pore * edge,
                                       .overlap = c.overlap,
                                       .seed = seed});
    made = {std::move(block.phantom), std::move(block.centres_mm), std::move(block.radii_mm), block.porosity,
            block.uncertainty};
  } else if (c.name == "beads") {
    BeadResult beads = bead_phantom({.radius_mm = size / 2,
                                     .height_mm = size,
                                     .value_per_mm = c.value_per_mm,
                                     .bead_radius_mm = c.bead_radius * size,
                                     .bead_value_per_mm = c.bead_contrast * c.value_per_mm,
                                     .beads = c.beads,
                                     .two_rings = c.two_rings,
                                     .turns = 2});
    made.phantom = std::move(beads.phantom);
    made.radii_mm.assign(beads.centres_mm.size(), c.bead_radius * size);
    made.centres_mm = std::move(beads.centres_mm);
  } else {
    std::string all;
    for (const std::string& n : builtin_phantom_names()) all += (all.empty() ? "" : ", ") + n;
    const std::string nearest = nearest_name(c.name, builtin_phantom_names());
    throw Error(ErrorKind::usage,
                {.what = format("unknown phantom \"{}\"", c.name),
                 .where = "phantom",
                 .why = "known are " + all + ", and files ending in .toml, .stl or .pd",
                 .hint = nearest.empty() ? "use one of these" : format("did you mean \"{}\"?", nearest)});
  }
  return made;
}

}  // namespace lepus
