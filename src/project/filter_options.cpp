// SPDX-License-Identifier: Apache-2.0
#include "project/filter_options.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/format.h"
#include "project/filter_window.h"
#include <lepus/error.h>

namespace lepus {
namespace {

using filters::Pass;
using filters::Stack;

[[noreturn]] void refuse_filter(std::string what, std::string why, std::string hint) {
  throw Error(ErrorKind::usage,
              {.what = std::move(what), .where = "filter", .why = std::move(why), .hint = std::move(hint)});
}

// What `steps` applications need.
RowBand widened(const FilterOptions& options, RowBand wanted, std::int64_t whole, std::int64_t steps) {
  if (steps == 0) return wanted;
  if (options.border == FilterBorder::wrap) return {0, whole};
  const std::int64_t reach = steps * options.radius;
  return {std::max<std::int64_t>(wanted.first - reach, 0), std::min(wanted.last + reach, whole)};
}

bool holds(RowBand outer, RowBand inner) { return outer.first <= inner.first && inner.last <= outer.last; }

void check_cut(const Planes& in, const Planes& out, const FilterOptions& options, const FilterCut& cut) {
  const RowBand rows =
      options.dimensions > 1 ? needed_along(options, cut.wanted_rows, cut.whole_rows) : cut.wanted_rows;
  const RowBand planes =
      options.dimensions > 2 ? needed_along(options, cut.wanted_planes, cut.whole_planes) : cut.wanted_planes;
  if (in.width != out.width || in.height != cut.rows.size() || in.count != cut.planes.size() ||
      out.height != cut.wanted_rows.size() || out.count != cut.wanted_planes.size() || !holds(cut.rows, rows) ||
      !holds(cut.planes, planes) || !holds({0, cut.whole_rows}, cut.rows) || !holds({0, cut.whole_planes}, cut.planes))
    throw Error(ErrorKind::internal,
                {.what = "the stack does not hold what the filter needs",
                 .where = "filter",
                 .why = format("rows {} to {} of {} are there, {} to {} are needed", cut.rows.first, cut.rows.last,
                               cut.whole_rows, rows.first, rows.last),
                 .hint = ""});
}

}  // namespace

FilterCut uncut(const Planes& in) {
  const RowBand rows{0, in.height}, planes{0, in.count};
  return {rows, rows, in.height, planes, planes, in.count};
}

FilterCut cut_rows(const Planes& in, RowBand rows, std::int64_t whole_rows, RowBand wanted) {
  const RowBand planes{0, in.count};
  return {rows, wanted, whole_rows, planes, planes, in.count};
}

RowBand needed_along(const FilterOptions& options, RowBand wanted, std::int64_t whole) {
  return widened(options, wanted, whole, options.iterations);
}

void check_filter(const FilterOptions& options, std::int64_t width, std::int64_t height, std::int64_t count) {
  if (options.dimensions < 1 || options.dimensions > 3)
    refuse_filter(format("{} dimensions", options.dimensions), "there are 1, 2 or 3", "");
  if (options.iterations < 1) refuse_filter(format("{} iterations", options.iterations), "", "ask for at least 1");
  if (options.radius < 1) refuse_filter(format("a radius of {} pixels", options.radius), "", "ask for at least 1");
  if (options.kind == FilterKind::median && options.radius > largest_median_radius)
    refuse_filter(format("a median of radius {} pixels", options.radius), "",
                  format("take at most {}", largest_median_radius));
  const bool smooth = options.kind == FilterKind::gaussian || options.kind == FilterKind::bilateral;
  if (smooth && !(options.sigma > 0 && options.sigma < 1e9))
    refuse_filter(format("a sigma of {} pixels", options.sigma), "", "it must lie between 0 and 1e9");
  if (options.kind == FilterKind::bilateral && !(options.sigma_value > 1e-15 && options.sigma_value < 1e15))
    refuse_filter(format("a sigma of {:.3g} in value", options.sigma_value),
                  "it is sigma_value times the values' range",
                  "it must lie between 1e-15 and 1e15: change sigma_value or value_range");
  const std::array<std::int64_t, 3> sides{width, height, count};
  constexpr std::array<const char*, 3> names{"wide", "high", "deep"};
  for (int axis = 0; axis < options.dimensions; ++axis) {
    const std::int64_t side = sides[static_cast<std::size_t>(axis)];
    const std::int64_t largest = options.border == FilterBorder::keep ? (side - 1) / 2 : side - 1;
    if (options.radius <= largest) continue;
    refuse_filter(format("a radius of {} pixels is too large", options.radius),
                  format("what is filtered is {} pixels {}{}", side, names[static_cast<std::size_t>(axis)],
                         options.border == FilterBorder::keep ? ", and no pixel has a full mask" : ""),
                  largest > 0 ? format("take at most {}", largest) : "leave this filter out");
  }
}

std::vector<Pass> filters::passes_of(const FilterOptions& options, const FilterCut& cut) {
  const bool keep = options.border == FilterBorder::keep, by_axis = filters::separable(options.kind);
  const int dimensions = options.dimensions, parts = by_axis ? dimensions : 1;
  std::vector<Pass> passes;
  for (int iteration = 0; iteration < options.iterations; ++iteration)
    for (int axis = 0; axis < parts; ++axis) {
      Pass pass;
      pass.kind = options.kind;
      pass.border = keep ? FilterBorder::clamp : options.border;
      const auto reach = [&](int other) {
        return other < dimensions && (!by_axis || other == axis) ? options.radius : 0;
      };
      pass.reach_u = reach(0), pass.reach_v = reach(1), pass.reach_z = reach(2);
      if (keep && axis == parts - 1) {
        pass.kept_u = options.radius;
        pass.kept_v = dimensions > 1 ? options.radius : 0;
        pass.kept_z = dimensions > 2 ? options.radius : 0;
      }
      pass.sigma = options.sigma;
      pass.sigma_value = options.sigma_value;
      // What the later iterations need; and where later passes of this one work along an axis, its reach more.
      const int later = options.iterations - 1 - iteration;
      const auto steps = [&](int other) {
        return other >= dimensions ? 0 : later + (axis < parts - 1 && axis < other ? 1 : 0);
      };
      pass.rows = widened(options, cut.wanted_rows, cut.whole_rows, steps(1));
      pass.planes = widened(options, cut.wanted_planes, cut.whole_planes, steps(2));
      passes.push_back(pass);
    }
  return passes;
}

void filters::run_passes(const Planes& in, const Planes& out, const FilterOptions& options, const FilterCut& cut,
                         const std::function<float*(int, std::int64_t)>& scratch, const RunPass& run) {
  check_filter(options, in.width, cut.whole_rows, cut.whole_planes);
  check_cut(in, out, options, cut);
  const std::vector<Pass> passes = passes_of(options, cut);
  const Stack original = stack_of(in, cut.rows, cut.planes, cut);
  Stack from = original;
  for (std::size_t i = 0; i < passes.size(); ++i) {
    const Pass& pass = passes[i];
    const bool last = i + 1 == passes.size();
    const std::int64_t floats = in.width * pass.rows.size() * pass.planes.size();
    const Stack to = last ? stack_of(out, cut.wanted_rows, cut.wanted_planes, cut)
                          : packed_stack(scratch(static_cast<int>(i % 2), floats), in.width, pass, cut);
    run(pass, original, from, to);
    from = to;
  }
}

}  // namespace lepus
