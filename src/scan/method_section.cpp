// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "scan/sections.h"

namespace lepus {
namespace {

constexpr std::string_view section_head = "\n[method]\n";

// Names of files are relative to the scan file's folder.
std::string method_file(const ScanDocument& document, std::string_view key) {
  return document.given(key) ? document.path_of(key).string() : "";
}

}  // namespace

MethodSettings read_method_section(const ScanDocument& document, Resolution& resolution) {
  MethodSettings settings;
  settings.name = document.get<std::string>("method.name");
  if (!document.section_given("method"))
    for (const ScanKey& key : scan_keys())
      if (key.section == "method") resolution.inactive.insert(format("method.{}", key.name));
  settings.named = document.given("method.name") || std::ranges::none_of(scan_keys(), [&](const ScanKey& key) {
                     return key.section == "method" && document.given(format("method.{}", key.name));
                   });
  settings.iterations = document.get<std::int64_t>("method.iterations");
  settings.subsets = document.find<std::int64_t>("method.subsets");
  settings.order = document.get<std::string>("method.order");
  settings.seed = document.get<std::int64_t>("method.seed");
  settings.relaxation = document.get<double>("method.relaxation");
  settings.strength = document.get<double>("method.strength");
  settings.choose_strength = document.get<bool>("method.choose_strength");
  settings.huber = document.get<double>("method.huber");
  settings.total_variation_steps = static_cast<int>(document.get<std::int64_t>("method.total_variation_steps"));
  settings.low = document.find<double>("method.low").value_or(settings.low);
  settings.high = document.find<double>("method.high").value_or(settings.high);
  settings.start = document.get<std::string>("method.start");
  if (settings.start != "zero" && settings.start != "fdk") settings.start = method_file(document, "method.start");
  settings.weights = document.get<std::string>("method.weights");
  settings.mask = method_file(document, "method.mask");
  settings.prior = method_file(document, "method.prior");
  settings.prior_share = document.get<double>("method.prior_share");
  settings.extend = document.get<std::vector<double>>("method.extend");
  settings.model = document.get<std::string>("method.model");
  settings.stop_residual = document.get<double>("method.stop_residual");
  settings.stop_change = document.get<double>("method.stop_change");
  settings.stop_at_noise = document.get<bool>("method.stop_at_noise");
  settings.noise = document.find<double>("method.noise");
  settings.save_every = document.get<std::int64_t>("method.save_every");
  settings.save_minutes = document.get<double>("method.save_minutes");
  return settings;
}

std::vector<std::string> MethodSettings::volume_files() const {
  std::vector<std::string> files;
  for (const std::string& file : {start, mask, prior})
    if (!file.empty() && file != "zero" && file != "fdk") files.push_back(file);
  return files;
}

std::string method_toml(const MethodSettings& s) {
  if (!s.iterative()) return "";
  std::string text(section_head);
  const auto add = [&](std::string_view key, const KeyValue& value) {
    text += format("{} = {}\n", key, to_toml(value));
  };
  add("name", s.name);
  add("iterations", s.iterations);
  if (s.subsets) add("subsets", *s.subsets);
  add("order", s.order);
  add("seed", s.seed);
  add("relaxation", s.relaxation);
  add("strength", s.strength);
  add("choose_strength", s.choose_strength);
  add("huber", s.huber);
  add("total_variation_steps", std::int64_t{s.total_variation_steps});
  if (std::isfinite(s.low)) add("low", s.low);
  if (std::isfinite(s.high)) add("high", s.high);
  add("start", s.start);
  add("weights", s.weights);
  if (!s.mask.empty()) add("mask", s.mask);
  if (!s.prior.empty()) add("prior", s.prior);
  add("prior_share", s.prior_share);
  add("extend", s.extend);
  add("model", s.model);
  add("stop_residual", s.stop_residual);
  add("stop_change", s.stop_change);
  add("stop_at_noise", s.stop_at_noise);
  if (s.noise) add("noise", *s.noise);
  add("save_every", s.save_every);
  add("save_minutes", s.save_minutes);
  return text;
}

std::string with_method(const std::string& resolved, const MethodSettings& settings) {
  const std::size_t begin = resolved.find(section_head);
  if (begin == std::string::npos) return resolved + method_toml(settings);
  const std::size_t end = std::min(resolved.find("\n[", begin + 1), resolved.size());
  return resolved.substr(0, begin) + method_toml(settings) + resolved.substr(end);
}

}  // namespace lepus
