// SPDX-License-Identifier: Apache-2.0
#include "job/method_choices.h"

#include <cmath>
#include <utility>

#include "core/format.h"
#include "iterative/method.h"
#include "job/method_input.h"
#include <lepus/error.h>

namespace lepus {
namespace {

void set_method(Scan& scan, const std::string& name) {
  MethodSettings& settings = scan.method;
  std::vector<std::string> left_out;
  const std::string before = settings.name;
  if (name != before && settings.iterative()) settings = choices_for(name, settings, left_out);
  std::string keys;
  for (const std::string& key : left_out) keys += (keys.empty() ? "" : ", ") + key;
  if (!keys.empty())
    scan.warnings.push_back(
        format("[method] of the scan file is for {}: {} has no use for its {}", before, name, keys));
  settings.name = name;
  settings.named = true;
}

}  // namespace

std::vector<std::string> method_names() {
  std::vector<std::string> names{"fdk"};
  for (const MethodKind& kind : method_kinds()) names.emplace_back(kind.name);
  return names;
}

namespace {

// The reader of scan files has refused what cannot be in one; here are numbers that did not come from one.
void check_choices(const MethodChoices& choices) {
  const auto refuse = [](std::string what, std::string hint) {
    throw Error(ErrorKind::usage, {.what = std::move(what), .where = "method", .why = {}, .hint = std::move(hint)});
  };
  if (choices.strength && std::isinf(*choices.strength))
    refuse(format("a strength of {}", *choices.strength), "0.0001 to 0.01 are usual");
  if (choices.strength && choices.choose_strength.value_or(false))
    refuse("a strength that is given and is to be chosen, too", "leave one of them out");
  if (choices.save_every && *choices.save_every < 1)
    refuse(format("a state after every {} iterations", *choices.save_every), "give 1 or more");
  if (choices.save_minutes && !(*choices.save_minutes > 0 && std::isfinite(*choices.save_minutes)))
    refuse(format("a state after every {} minutes", *choices.save_minutes), "give minutes above zero");
}

}  // namespace

void set_choices(Scan& scan, const MethodChoices& choices) {
  check_choices(choices);
  if (!choices.name.empty()) set_method(scan, choices.name);
  MethodSettings& settings = scan.method;
  if (choices.iterations) settings.iterations = *choices.iterations;
  if (choices.subsets) settings.subsets = choices.subsets;
  if (choices.strength) settings.strength = *choices.strength;
  if (choices.strength || choices.choose_strength) settings.choose_strength = choices.choose_strength.value_or(false);
  if (!choices.start.empty()) settings.start = choices.start;
  if (!choices.weights.empty()) settings.weights = choices.weights;
  if (!choices.model.empty()) settings.model = choices.model;
  if (!choices.save_every && !choices.save_minutes) return;
  settings.save_every = choices.save_every.value_or(0);
  settings.save_minutes = choices.save_minutes.value_or(0);
}

void choose_method(Scan& scan, const MethodChoices& choices) {
  set_choices(scan, choices);
  if (scan.method.iterative()) {
    method_options(scan.method, scan.geometry.views(), 0);  // whatever can be said against them is said before any work
    scan.resolved = with_method(scan.resolved, scan.method);
    return;
  }
  require_named_method(scan);
  MethodChoices of_iterations = choices;
  of_iterations.name.clear();
  if (of_iterations != MethodChoices{})
    throw Error(ErrorKind::usage, {.what = "the method fdk has no iterations and none of their options",
                                   .where = scan.file.string(),
                                   .why = "neither --method nor method.name names an iterative method",
                                   .hint = "add for example --method os-sart"});
}

}  // namespace lepus
