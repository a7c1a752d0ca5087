// SPDX-License-Identifier: Apache-2.0
// The methods by name, and which choices each of them has.
#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "core/text.h"
#include "iterative/method.h"
#include <lepus/error.h>

namespace lepus {
namespace {

[[noreturn]] void refuse_option(const MethodOptions& options, std::string what, std::string why, std::string hint) {
  throw Error(ErrorKind::usage, {.what = std::move(what),
                                 .where = format("method {}", options.method),
                                 .why = std::move(why),
                                 .hint = std::move(hint)});
}

std::string names_of(bool MethodKind::*has) {
  std::string names;
  for (const MethodKind& kind : method_kinds())
    if (kind.*has) names += (names.empty() ? "" : ", ") + std::string(kind.name);
  return names;
}

}  // namespace

const std::vector<MethodKind>& method_kinds() {
  using enum MethodKind::Weights;
  static const std::vector<MethodKind> kinds{
      {.name = "sirt",
       .summary = "simultaneous: slow, smooth, safe",
       .make = make_sirt,
       .relaxed = true,
       .bounded = true,
       .weights = direct},
      {.name = "sart",
       .summary = "view after view",
       .make = make_sart,
       .ordered = true,
       .relaxed = true,
       .bounded = true,
       .weights = direct},
      {.name = "os-sart",
       .summary = "subset after subset: the usual choice for few views",
       .make = make_os_sart,
       .subsets = true,
       .ordered = true,
       .relaxed = true,
       .bounded = true,
       .weights = direct},
      {.name = "cgls",
       .summary = "least squares by conjugate gradients",
       .make = make_cgls,
       .regularised = true,
       .residual_after = true,
       .exact_transpose = true},
      {.name = "lsqr",
       .summary = "least squares by bidiagonalisation",
       .make = make_lsqr,
       .volumes = 10,
       .regularised = true,
       .residual_after = true,
       .exact_transpose = true},
      {.name = "ramp-cgls",
       .summary = "conjugate gradients on ramp-filtered residuals: least squares in few iterations",
       .make = make_ramp_cgls,
       .regularised = true,
       .residual_after = true,
       .exact_transpose = true,
       .weights = refused},
      {.name = "mlem",
       .summary = "maximum likelihood, never below zero",
       .make = make_mlem,
       .non_negative = true,
       .weights = refused},
      {.name = "osem",
       .summary = "maximum likelihood, subset after subset",
       .make = make_osem,
       .subsets = true,
       .ordered = true,
       .non_negative = true,
       .weights = refused},
      {.name = "iterative-fdk",
       .summary = "FDK of what is left, again and again",
       .make = make_iterative_fdk,
       .relaxed = true,
       .bounded = true,
       .weights = refused},
      {.name = "fista-tv",
       .summary = "least squares with total variation",
       .make = make_fista_tv,
       .volumes = 17,
       .regularised = true,
       .inner_steps = true,
       .bounded = true},
      {.name = "chambolle-pock",
       .summary = "least squares with total variation, Huber's rule, a prior volume",
       .make = make_chambolle_pock,
       .volumes = 18,
       .regularised = true,
       .bounded = true,
       .prior = true,
       .huber = true,
       .oscillates = true},
      {.name = "os-momentum",
       .summary = "ordered subsets with momentum: few iterations, total variation where wanted",
       .make = make_os_momentum,
       .volumes = 18,
       .subsets = true,
       .ordered = true,
       .regularised = true,
       .inner_steps = true,
       .bounded = true,
       .weights = direct},
  };
  return kinds;
}

const MethodKind& method_kind(std::string_view name) {
  std::vector<std::string> names;
  for (const MethodKind& kind : method_kinds()) {
    if (name == kind.name) return kind;
    names.emplace_back(kind.name);
  }
  const std::string near = nearest_name(name, names);
  std::string all = "fdk";
  for (const auto& one : names) all += ", " + one;
  throw Error(ErrorKind::usage, {.what = format("no method is called \"{}\"", shown(name)),
                                 .where = "method",
                                 .why = "there are " + all,
                                 .hint = near.empty() ? "take one of these" : format("did you mean {}?", near)});
}

void check_options(const MethodOptions& options, std::int64_t views) {
  const MethodKind& kind = method_kind(options.method);
  const auto not_negative = [&](const char* name, double value) {
    if (!(value >= 0))
      refuse_option(options, format("{} = {}", name, value), "it is not a number above or equal to zero",
                    "leave it out");
  };
  if (options.iterations < 1)
    refuse_option(options, format("{} iterations", options.iterations), "at least one is needed",
                  "ask for one or more");
  if (options.subsets < 1 || options.subsets > views)
    refuse_option(options, format("{} subsets", options.subsets), format("the scan has {} views", views),
                  format("take between 1 and {}", views));
  if (options.subsets > 1 && !kind.subsets)
    refuse_option(options, format("{} subsets", options.subsets), "it has no subsets of the views",
                  "take one of " + names_of(&MethodKind::subsets));
  not_negative("strength", options.strength);
  if (options.strength > 0 && !kind.regularised)
    refuse_option(options, format("strength = {}", options.strength), "it does not regularise",
                  "take one of " + names_of(&MethodKind::regularised));
  not_negative("huber", options.huber);
  if (options.huber > 0 && !kind.huber)
    refuse_option(options, format("huber = {}", options.huber), "it does not know Huber's rule",
                  "take " + names_of(&MethodKind::huber));
  not_negative("residual", options.residual);
  not_negative("change", options.change);
  not_negative("noise", options.noise);
  if (!(options.relaxation > 0 && options.relaxation < 2))
    refuse_option(options, format("relaxation = {}", options.relaxation), "steps converge between 0 and 2", "try 1");
  if (!(options.prior_share >= 0 && options.prior_share <= 1))
    refuse_option(options, format("prior_share = {}", options.prior_share), "it is a share", "take 0 to 1");
  if (options.total_variation_steps < 1)
    refuse_option(options, format("{} steps of total variation", options.total_variation_steps),
                  "at least one is needed", "try 20");
  const MethodOptions usual;
  const auto only = [&](const char* name, bool given, bool MethodKind::*has) {
    if (given && !(kind.*has))
      refuse_option(options, format("{} is given", name), "it does not use it",
                    format("leave it out, or take one of {}", names_of(has)));
  };
  only("relaxation", options.relaxation != usual.relaxation, &MethodKind::relaxed);
  only("order", options.order != usual.order, &MethodKind::ordered);
  only("seed", options.seed != usual.seed, &MethodKind::ordered);
  only("total_variation_steps", options.total_variation_steps != usual.total_variation_steps, &MethodKind::inner_steps);
  only("prior_share", options.prior_share != usual.prior_share, &MethodKind::prior);
  const bool bounds = std::isfinite(options.low) || std::isfinite(options.high);
  if (!(options.low < options.high))
    refuse_option(options, format("bounds {} to {}", options.low, options.high), "nothing lies between them",
                  "give the lower one first");
  if (bounds && !kind.bounded && !(kind.non_negative && options.low == 0 && !std::isfinite(options.high)))
    refuse_option(options, format("bounds {} to {}", options.low, options.high), "it does not keep them",
                  "take one of " + names_of(&MethodKind::bounded));
}

void check_inputs(const MethodOptions& options, const MethodInputs& inputs) {
  const MethodKind& kind = method_kind(options.method);
  if (inputs.prior && !kind.prior)
    refuse_option(options, "a prior volume", "it does not use one", "take " + names_of(&MethodKind::prior));
  if (inputs.weights && kind.weights == MethodKind::Weights::refused)
    refuse_option(options, "statistical weights", "it does not use them", "leave them out, or take another method");
  if (!inputs.exact_transpose && kind.exact_transpose)
    refuse_option(options, "a model whose A' is not the transpose of A (voxel)",
                  "its steps follow from the transpose: it diverges, and its residual is none of the volume's",
                  "take the model joseph, or sirt or os-sart");
  if ((inputs.prior || options.huber > 0) && options.strength == 0 && !inputs.chooses_strength)
    refuse_option(options, inputs.prior ? "a prior volume without a strength" : "huber without a strength",
                  "it belongs to the regularisation, which has the strength 0",
                  "give a strength, for example 0.001, or auto");
}

std::unique_ptr<Method> make_method(Problem& problem, const MethodOptions& options) {
  check_options(options, problem.map->views());
  check_inputs(options, {.prior = static_cast<bool>(problem.prior),
                         .weights = static_cast<bool>(problem.weights),
                         .exact_transpose = problem.map->exact_transpose()});
  const MethodKind& kind = method_kind(options.method);
  if (kind.non_negative) Algebra(*problem.map).clamp(problem.data, 0, HUGE_VAL);
  return kind.make(problem, options);
}

}  // namespace lepus
