// SPDX-License-Identifier: Apache-2.0
#include "geometry/check_scan.h"

#include <cmath>
#include <utility>

#include "core/check_numbers.h"
#include "core/format.h"
#include <lepus/error.h>

namespace lepus {
namespace {

[[noreturn]] void refuse_sizes(std::string what, std::string why) {
  throw Error(ErrorKind::usage, {.what = std::move(what), .where = {}, .why = std::move(why), .hint = {}});
}

void check_pixels(std::int64_t views, std::int64_t columns, std::int64_t rows, const std::string& who) {
  const auto has = [&] { return format("it has {} views of {} x {} pixels", views, columns, rows); };
  if (views < 1 || columns < 1 || rows < 1) refuse_sizes(who + " needs a scan with views and pixels", has());
  // Pixels that cannot be counted would be none.
  constexpr std::int64_t most = std::int64_t{1} << 48;
  if (columns > most || rows > most / columns || views > most / columns / rows)
    refuse_sizes("a scan of too many pixels", has());
}

}  // namespace

void check_scan(const ScanGeometry& geometry, const std::string& who) {
  check_named(geometry.beam, Beam::parallel, "Beam");
  check_pixels(geometry.views(), geometry.columns, geometry.rows, who);
  if (!geometry.recorded_on_arc) return;
  const ArcDetector& arc = *geometry.recorded_on_arc;
  check_pixels(geometry.views(), arc.columns, arc.rows, who);
  for (const double length : {arc.radius_mm, arc.pixel_width_mm, arc.pixel_height_mm})
    if (!(length > 0 && std::isfinite(length)))
      refuse_sizes("an arc detector needs a radius and pixels", format("a length of it is {} mm", length));
  check_finite(arc.central_column, "central column of the arc detector");
  check_finite(arc.central_row, "central row of the arc detector");
}

}  // namespace lepus
