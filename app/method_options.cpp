// SPDX-License-Identifier: Apache-2.0
#include "app/method_options.h"

#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>

#include "core/format.h"
#include "core/text.h"
#include "iterative/method.h"
#include "job/method_input.h"
#include <lepus/error.h>

namespace lepus::app {
namespace {

double strength_of(const std::string& text, const char* option) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc{} && end == text.data() + text.size()) return value;
  throw Error(ErrorKind::usage, {.what = format("'{}' is not a number", shown(text)),
                                 .where = format("option {}", option),
                                 .why = {},
                                 .hint = "give a number, for example 0.001, or auto"});
}

// "10": iterations; "30s", "5min", "2h": time.
void set_save_every(MethodSettings& settings, const std::string& text) {
  static const std::map<std::string, double> minutes{{"s", 1.0 / 60}, {"min", 1}, {"h", 60}};
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string unit(end, text.data() + text.size());
  settings.save_every = 0;
  settings.save_minutes = 0;
  if (code == std::errc{} && value > 0 && minutes.contains(unit))
    settings.save_minutes = value * minutes.at(unit);
  else if (code == std::errc{} && value >= 1 && value < 1e15 && value == std::floor(value) && unit.empty())
    settings.save_every = static_cast<std::int64_t>(value);
  else
    throw Error(ErrorKind::usage, {.what = format("'{}' is neither a number of iterations nor a time", shown(text)),
                                   .where = "option --save-every",
                                   .why = {},
                                   .hint = "give for example 10, 30s, 5min or 2h"});
}

}  // namespace

void MethodArguments::describe(OptionTable& table) {
  std::vector<std::string> names{"fdk"};
  for (const MethodKind& kind : method_kinds()) names.emplace_back(kind.name);
  table.group("Method");
  table
      .value("--method", "NAME", method,
             "filtered backprojection (fdk) or an iterative method; docs/iterative.md says which")
      .one_of(std::move(names))
      .otherwise("method.name of the scan file, or fdk");
  table.value("--iterations", "N", iterations, "how many at most").otherwise("method.iterations, or 50");
  table.value("--subsets", "N", subsets, "of the views, for os-sart, osem and os-momentum")
      .otherwise("method.subsets, or 10");
  table
      .value("--strength", "NUMBER", strength,
             "of the regularisation, without unit (try 0.0001 to 0.01), or auto: as strong as the noise wants it")
      .otherwise("method.strength, or 0");
  table.value("--start", "FILE", start, "begin with zero, with fdk, or with the volume in a file")
      .otherwise("method.start, or zero");
  table
      .value("--weights", "NAME", weights,
             "line integrals count all alike (none) or as many photons as they had (counts)")
      .one_of({"none", "counts"})
      .otherwise("method.weights, or none");
  table.value("--model", "NAME", model, "how a ray meets voxels")
      .one_of({"joseph", "siddon", "footprint", "voxel"})
      .otherwise("method.model, or joseph");
  table
      .value("--save-every", "N|TIME", save_every,
             "keep the state beside the output after every N iterations, or every 30s, 5min, 2h")
      .otherwise("method.save_every, or as often as it takes a hundredth of the time");
  table.group("Options");
}

void MethodArguments::refuse_states() const {
  if (resume || !save_every.empty())
    throw Error(ErrorKind::usage, {.what = resume ? "--resume of a comparison" : "--save-every in a comparison",
                                   .where = "option --compare-methods",
                                   .why = "no state of the methods that are compared is kept",
                                   .hint = "leave it out"});
}

void MethodArguments::apply(Scan& scan, bool several) const {
  MethodSettings& settings = scan.method;
  if (!method.empty()) {
    std::vector<std::string> left_out;
    const std::string before = settings.name;
    if (method != before && settings.iterative()) settings = choices_for(method, settings, left_out);
    std::string keys;
    for (const std::string& key : left_out) keys += (keys.empty() ? "" : ", ") + key;
    if (!keys.empty())
      scan.warnings.push_back(
          format("[method] of the scan file is for {}: {} has no use for its {}", before, method, keys));
    settings.name = method;
    settings.named = true;
  }
  if (iterations) settings.iterations = *iterations;
  if (subsets) settings.subsets = subsets;
  if (!strength.empty()) settings.choose_strength = strength == "auto";
  if (!strength.empty() && strength != "auto") settings.strength = strength_of(strength, "--strength");
  if (!start.empty()) settings.start = start;
  if (!weights.empty()) settings.weights = weights;
  if (!model.empty()) settings.model = model;
  if (!save_every.empty()) set_save_every(settings, save_every);
  settings.resume = resume;
  settings.restart = restart;
  if (several) return refuse_states();
  const bool given = iterations || subsets || !save_every.empty() || !strength.empty() || !start.empty() ||
                     !weights.empty() || !model.empty();
  if (!settings.iterative()) {
    require_named_method(scan);
    if (given)
      throw Error(ErrorKind::usage, {.what = "the method fdk has no iterations and none of their options",
                                     .where = scan.file.string(),
                                     .why = "neither --method nor method.name names an iterative method",
                                     .hint = "add for example --method os-sart"});
    return;
  }
  method_options(settings, scan.geometry.views(), 0);  // whatever can be said against them is said before any work
  scan.resolved = with_method(scan.resolved, settings);
}

}  // namespace lepus::app
