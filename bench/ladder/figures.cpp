// SPDX-License-Identifier: Apache-2.0
#include "bench/ladder/figures.h"

#include <algorithm>

#include "core/format.h"
#include "plot/text.h"
#include <lepus/error.h>

namespace lepus::ladder {

bool wanted(const LadderOptions& options, const std::string& name) {
  return options.only.empty() || name.find(options.only) != std::string::npos;
}

const Rung& rung_named(const std::vector<Rung>& rungs, std::string_view name) {
  const auto found = std::find_if(rungs.begin(), rungs.end(), [&](const Rung& rung) { return rung.name == name; });
  if (found == rungs.end())
    throw Error(ErrorKind::internal,
                {.what = "the ladder has no such step", .where = std::string(name), .why = {}, .hint = {}});
  return *found;
}

measure::Figure checked_figure(const std::string& group, const std::string& name, const Problem& problem,
                               const Truth& truth, const std::vector<float>& sampled, Weights weights) {
  measure::Figure figure;
  figure.group = group;
  figure.name = name;
  figure.work = problem.updates() / 0x1p30;
  figure.unit = "GUPS";
  figure.error = error_of(truth, sampled);
  figure.error_limit = error_limit(problem, truth, weights);
  figure.error_of = format("rms over the largest value, {} voxels in double precision", truth.offsets.size());
  return figure;
}

std::string figure_line(const measure::Figure& figure) {
  return format("{}, {}: {}, {}{}", figure.group, figure.name, plot::time_text(figure.seconds),
                plot::rate_text(figure.rate(), figure.unit), figure.correct() ? "" : ", WRONG");
}

void show_so_far(const LadderOptions& options, const measure::Report& report) {
  if (options.so_far) options.so_far(report);
}

std::vector<float> sampled_from(const Truth& truth, const float* volume) {
  std::vector<float> sampled;
  sampled.reserve(truth.offsets.size());
  for (const std::int64_t offset : truth.offsets) sampled.push_back(volume[offset]);
  return sampled;
}

void add_published(measure::Figure& figure, const Rung& rung, const Problem& problem) {
  const ScanGeometry& g = problem.scene->geometry;
  if (g.views() != 496 || g.columns != 1248 || g.rows != 960) return;
  figure.published_seconds = problem.size == 512    ? rung.published_seconds
                             : problem.size == 1024 ? rung.published_1024
                                                    : 0;
  if (figure.published_seconds > 0) figure.published = rung.published;
}

}  // namespace lepus::ladder
