// SPDX-License-Identifier: Apache-2.0
#include "app/method_options.h"

#include <charconv>
#include <cmath>
#include <map>

#include "core/format.h"
#include <lepus/error.h>
#include <lepus/text.h>

namespace lepus::app {
namespace {

double strength_of(const std::string& text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc{} && end == text.data() + text.size()) return value;
  throw Error(ErrorKind::usage, {.what = format("'{}' is not a number", shown(text)),
                                 .where = "option --strength",
                                 .why = {},
                                 .hint = "give a number, for example 0.001, or auto"});
}

// "10": iterations; "30s", "5min", "2h": time.
void set_save_every(MethodChoices& choices, const std::string& text) {
  static const std::map<std::string, double> minutes{{"s", 1.0 / 60}, {"min", 1}, {"h", 60}};
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string unit(end, text.data() + text.size());
  if (code == std::errc{} && value > 0 && minutes.contains(unit))
    choices.save_minutes = value * minutes.at(unit);
  else if (code == std::errc{} && value >= 1 && value < 1e15 && value == std::floor(value) && unit.empty())
    choices.save_every = static_cast<std::int64_t>(value);
  else
    throw Error(ErrorKind::usage, {.what = format("'{}' is neither a number of iterations nor a time", shown(text)),
                                   .where = "option --save-every",
                                   .why = {},
                                   .hint = "give for example 10, 30s, 5min or 2h"});
}

}  // namespace

void MethodArguments::describe(OptionTable& table) {
  table.group("Method");
  table
      .value("--method", "NAME", choices_.name,
             "filtered backprojection (fdk) or an iterative method; docs/iterative.md says which")
      .one_of(method_names())
      .otherwise("method.name of the scan file, or fdk");
  table.value("--iterations", "N", choices_.iterations, "how many at most").otherwise("method.iterations, or 50");
  table.value("--subsets", "N", choices_.subsets, "of the views, for os-sart, osem and os-momentum")
      .otherwise("method.subsets, or 10");
  table
      .value("--strength", "NUMBER", strength_,
             "of the regularisation, without unit (try 0.0001 to 0.01), or auto: as strong as the noise wants it")
      .otherwise("method.strength, or 0");
  table.value("--start", "FILE", choices_.start, "begin with zero, with fdk, or with the volume in a file")
      .otherwise("method.start, or zero");
  table
      .value("--weights", "NAME", choices_.weights,
             "line integrals count all alike (none) or as many photons as they had (counts)")
      .one_of({"none", "counts"})
      .otherwise("method.weights, or none");
  table.value("--model", "NAME", choices_.model, "how a ray meets voxels")
      .one_of({"joseph", "siddon", "footprint", "voxel"})
      .otherwise("method.model, or joseph");
  table
      .value("--save-every", "N|TIME", save_every_,
             "keep the state beside the output after every N iterations, or every 30s, 5min, 2h")
      .otherwise("method.save_every, or as often as it takes a hundredth of the time");
  table.group("Options");
}

MethodChoices MethodArguments::choices() const {
  MethodChoices choices = choices_;
  if (strength_ == "auto")
    choices.choose_strength = true;
  else if (!strength_.empty())
    choices.strength = strength_of(strength_);
  if (!save_every_.empty()) set_save_every(choices, save_every_);
  return choices;
}

}  // namespace lepus::app
