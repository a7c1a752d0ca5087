// SPDX-License-Identifier: Apache-2.0
// The resolved scan file: what was given, what follows from the scan, and every default that plays a part. Reading it
// from the same folder gives the same scan.
#include <algorithm>
#include <span>

#include "core/format.h"
#include "scan/kinds/kinds.h"
#include "scan/sections.h"

namespace lepus {
namespace {

struct TomlWriter {
  std::string operator()(bool v) const { return v ? "true" : "false"; }
  std::string operator()(std::int64_t v) const { return format("{}", v); }
  std::string operator()(double v) const {  // the shortest text that reads back as the same number
    const std::string text = format("{}", v);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
  }
  std::string operator()(const std::string& v) const {
    std::string text = "\"";
    for (const char c : v) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
        text += format("\\u{:04x}", static_cast<unsigned>(c));
      else if (c == '"' || c == '\\')
        text += {'\\', c};
      else
        text += c;
    }
    return text + "\"";
  }
  template <class T>
  std::string operator()(const std::vector<T>& list) const {
    std::string text = "[";
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i > 0) text += ", ";
      text += (*this)(static_cast<T>(list[i]));
    }
    return text + "]";
  }
};

const KeyValue* value_of(const std::string& name, const ScanDocument& document, const Resolution& resolution) {
  if (const auto found = resolution.derived.find(name); found != resolution.derived.end()) return &found->second;
  if (document.given(name)) return document.lookup(name);
  return resolution.inactive.contains(name) ? nullptr : document.lookup(name);
}

bool is_list_of_integers(std::span<const CorrectionKind> kinds, const CorrectionSpec& spec, const std::string& name) {
  const auto kind = std::ranges::find(kinds, spec.kind, &CorrectionKind::name);
  return kind != kinds.end() && std::ranges::any_of(kind->parameters, [&](const ScanKey& key) {
           return key.name == name && key.type == ScanKeyType::integers;
         });
}

std::string step_text(std::string_view section, const CorrectionSpec& spec) {
  const std::vector<CorrectionKind> of_post = section == "post" ? post_kinds() : std::vector<CorrectionKind>();
  const std::span<const CorrectionKind> kinds = section == "post" ? of_post : correction_kinds();
  std::string text = format("\n[[{}]]\nkind = {}\n", section, to_toml(spec.kind));
  for (const auto& [name, parameter] : spec.parameters) {
    KeyValue value = std::visit([](const auto& v) { return KeyValue(v); }, parameter);
    if (const auto* list = std::get_if<std::vector<double>>(&value); list && is_list_of_integers(kinds, spec, name))
      value = std::vector<std::int64_t>(list->begin(), list->end());
    text += format("{} = {}\n", name, to_toml(value));
  }
  return text;
}

}  // namespace

std::string to_toml(const KeyValue& value) { return std::visit(TomlWriter{}, value); }

std::string resolved_text(const ScanDocument& document, const Scan& scan, const Resolution& resolution) {
  std::string text = "# A scan file for lepus with every value that was left out written in.\n";
  text += format("# {} frames of {} x {} pixels, {}; {} views of {} rows are used.\n", scan.recorded.frames,
                 scan.recorded.columns, scan.recorded.rows, name_of(scan.recorded.type), scan.geometry.views(),
                 scan.selection.rows);
  text += format("# The part of the volume that is reconstructed has {} x {} x {} voxels.\n", scan.grid.nx,
                 scan.grid.ny, scan.grid.nz);
  for (const auto& section : scan_sections()) {
    if (section.name == "correct" || section.name == "post") {
      for (const auto& spec : section.name == "post" ? scan.post : scan.corrections)
        text += step_text(section.name, spec);
      continue;
    }
    std::string lines;
    for (const auto& key : scan_keys()) {
      if (key.section != section.name) continue;
      if (const auto* value = value_of(format("{}.{}", key.section, key.name), document, resolution))
        lines += format("{} = {}\n", key.name, to_toml(*value));
    }
    if (!lines.empty()) text += format("\n[{}]\n{}", section.name, lines);
  }
  return text;
}

}  // namespace lepus
