// SPDX-License-Identifier: Apache-2.0
// The one file that knows toml++.
#include "scan/document.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include <toml++/toml.h>

#include "core/format.h"
#include "core/nesting.h"
#include "core/text.h"
#include "scan/kinds/kinds.h"

namespace lepus {
namespace {

[[noreturn]] void fail_at(const std::filesystem::path& file, int line, std::string what, std::string why,
                          std::string hint) {
  throw Error(ErrorKind::input, {.what = std::move(what),
                                 .where = line > 0 ? format("{}:{}", file.string(), line) : file.string(),
                                 .why = std::move(why),
                                 .hint = std::move(hint)});
}

int line_of(const toml::node& node) { return static_cast<int>(node.source().begin.line); }

const char* found_words(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::string:
      return "text";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a number";
    case toml::node_type::boolean:
      return "true or false";
    default:
      return "a date or time";
  }
}

std::string plain_type_words(const ScanKey& key) {
  std::string words = type_words(key);
  std::erase(words, '`');
  return words;
}

// Turns the node of one key into its value, or says what is wrong with it.
class ValueReader {
public:
  ValueReader(const std::filesystem::path& file, const ScanKey& key, const std::string& name)
      : file_(file), key_(key), name_(name) {}

  KeyValue read(const toml::node& node) const {
    const toml::array* list = node.as_array();
    switch (key_.type) {
      case ScanKeyType::boolean:
        return boolean(node);
      case ScanKeyType::integer:
        return integer(node);
      case ScanKeyType::number:
        return number(node);
      case ScanKeyType::text:
        return text(node);
      case ScanKeyType::choice:
        return choice(node);
      case ScanKeyType::names:
        return list ? elements<std::string>(node, &ValueReader::text) : std::vector{text(node)};
      case ScanKeyType::integers:
        return elements<std::int64_t>(node, &ValueReader::integer);
      case ScanKeyType::numbers:
        return elements<double>(node, &ValueReader::number);
      case ScanKeyType::booleans:
        return elements<bool>(node, &ValueReader::boolean);
      case ScanKeyType::number_or_numbers:
        if (!list) return std::vector<double>(static_cast<std::size_t>(key_.count), number(node));
        return elements<double>(node, &ValueReader::number);
      case ScanKeyType::choice_or_integers:
        if (!list) return choice(node);
        return elements<std::int64_t>(node, &ValueReader::integer);
    }
    wrong_type(node);
  }

private:
  [[noreturn]] void wrong_type(const toml::node& node) const {
    fail_at(file_, line_of(node), format("{} has the wrong type", name_),
            format("found {}, expected {}", found_words(node), plain_type_words(key_)), std::string(key_.meaning));
  }

  bool boolean(const toml::node& node) const {
    if (!node.is_boolean()) wrong_type(node);
    return **node.as_boolean();
  }

  std::int64_t integer(const toml::node& node) const {
    if (!node.is_integer()) wrong_type(node);
    const std::int64_t value = **node.as_integer();
    check_range(node, static_cast<double>(value));
    return value;
  }

  double number(const toml::node& node) const {
    if (!node.is_number()) wrong_type(node);
    const double value = node.is_integer() ? static_cast<double>(**node.as_integer()) : **node.as_floating_point();
    if (!std::isfinite(value))
      fail_at(file_, line_of(node), format("{} is not a finite number", name_), format("found {}", value),
              std::string(key_.meaning));
    check_range(node, value);
    return value;
  }

  void check_range(const toml::node& node, double value) const {
    ScanKeyRange range = key_.range;
    // Beyond these nothing is a scan, and squares and sines of it are no numbers any more.
    const double sane = key_.unit == "mm" ? 1e9 : key_.unit == "deg" ? 1e7 : std::numeric_limits<double>::infinity();
    range.minimum = std::max(range.minimum, -sane);
    range.maximum = std::min(range.maximum, sane);
    if (key_.unit == "mm" && range.minimum == 0 && range.open && value > 0) range = {1e-9, range.maximum, false};
    const auto& [least, most, open] = range;
    if ((open ? value > least : value >= least) && value <= most) return;
    const std::string low = std::isfinite(least) ? format("{} {:g}", open ? "above" : "at least", least) : "";
    const std::string high = std::isfinite(most) ? format("at most {:g}", most) : "";
    fail_at(file_, line_of(node), format("{} is out of range", name_),
            format("found {}, must be {}{}{}", value, low, !low.empty() && !high.empty() ? " and " : "", high),
            std::string(key_.meaning));
  }

  std::string text(const toml::node& node) const {
    if (!node.is_string()) wrong_type(node);
    if (node.as_string()->get().empty())
      fail_at(file_, line_of(node), format("{} is empty", name_), "", std::string(key_.meaning));
    return node.as_string()->get();
  }

  std::string choice(const toml::node& node) const {
    if (!node.is_string()) wrong_type(node);
    std::string word = node.as_string()->get();
    const auto known = split_words(key_.choices);
    if (std::ranges::find(known, word) != known.end()) return word;
    const auto nearest = nearest_name(word, known);
    fail_at(file_, line_of(node), format("{} = \"{}\" is not known", name_, word),
            format("expected {}", plain_type_words(key_)),
            nearest.empty() ? std::string(key_.meaning) : format("did you mean \"{}\"?", nearest));
  }

  template <class T>
  std::vector<T> elements(const toml::node& node, T (ValueReader::*read_one)(const toml::node&) const) const {
    const toml::array* list = node.as_array();
    if (!list) wrong_type(node);
    if (key_.count > 0 ? list->size() != static_cast<std::size_t>(key_.count) : list->empty())
      fail_at(file_, line_of(node), format("{} has the wrong length", name_),
              format("found {} values, expected {}", list->size(), plain_type_words(key_)), std::string(key_.meaning));
    std::vector<T> values;
    for (const auto& element : *list) values.push_back((this->*read_one)(element));
    return values;
  }

  const std::filesystem::path& file_;
  const ScanKey& key_;
  const std::string& name_;
};

// "did you mean", over this section first and then over all: a right key in a wrong section is told where it belongs.
std::string suggestion(std::string_view section, std::string_view typed) {
  std::vector<std::string> here, everywhere;
  for (const auto& key : scan_keys()) {
    (key.section == section ? here : everywhere).emplace_back(key.name);
    if (key.name == typed && key.section != section) return format("it belongs to [{}]", key.section);
  }
  if (const auto near = nearest_name(typed, here); !near.empty()) return format("did you mean {}?", near);
  const auto near = nearest_name(typed, everywhere);
  for (const auto& key : scan_keys())
    if (key.name == near) return format("did you mean {}, which belongs to [{}]?", near, key.section);
  return "docs/scan-file.md lists all keys";
}

std::string joined(std::string_view section, std::string_view key) {
  return section.empty() ? std::string(key) : format("{}.{}", section, key);
}

bool is_section(std::string_view name) {
  return std::ranges::any_of(scan_sections(), [&](const ScanSection& s) { return s.name == name; });
}

ParameterValue parameter_of(KeyValue value) {
  return std::visit(
      [](auto&& v) -> ParameterValue {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_constructible_v<ParameterValue, T>)
          return v;
        else if constexpr (std::is_same_v<T, std::vector<std::string>>)
          return v.empty() ? std::string() : v.front();
        else
          return std::vector<double>(v.begin(), v.end());
      },
      std::move(value));
}

// "12.5" where the value on this line is 12,5; "" where it is not.
std::string with_decimal_point(const std::string& text, int line) {
  std::istringstream lines(text);
  std::string found;
  for (int i = 0; i < line; ++i) std::getline(lines, found);
  const auto past = [&](std::size_t at, const char* characters) {
    return std::min(found.find_first_not_of(characters, at), found.size());
  };
  constexpr const char *blanks = " \t\r", *digits = "0123456789";
  const std::size_t equals = std::min(found.find('='), found.size());
  const std::size_t value = past(equals + 1, blanks), whole = value + (found[value] == '+' || found[value] == '-');
  const std::size_t comma = past(whole, digits), end = past(comma + 1, digits), rest = past(end, blanks);
  if (found[comma] != ',' || comma == whole || end == comma + 1 || (found[rest] != '#' && rest < found.size()))
    return {};
  return found.substr(value, comma - value) + "." + found.substr(comma + 1, end - comma - 1);
}

// What others depend on is a choice or a whole number.
bool is_chosen(const CorrectionSpec& spec, const CorrectionKind::OnlyWith& rule) {
  const ParameterValue& value = spec.parameters.at(std::string(rule.other));
  const auto* number = std::get_if<std::int64_t>(&value);
  const std::string word = number ? format("{}", *number) : std::get<std::string>(value);
  return std::ranges::count(split_words(rule.is_one_of), word) > 0;
}

std::string taken_parameters(const CorrectionSpec& spec, const CorrectionKind& kind) {
  std::string names;
  for (const ScanKey& key : kind.parameters)
    if (std::ranges::all_of(kind.only_with, [&](const CorrectionKind::OnlyWith& rule) {
          return rule.parameter != key.name || is_chosen(spec, rule);
        }))
      names += format("{}{}", names.empty() ? "" : ", ", key.name);
  return names;
}

// "a", "a or b", "a, b or c"
std::string alternatives(std::string_view words) {
  const std::vector<std::string> all = split_words(words);
  std::string text = all.front();
  for (std::size_t i = 1; i < all.size(); ++i) text += (i + 1 == all.size() ? " or " : ", ") + all[i];
  return text;
}

KeyValue default_of(const ScanKey& key) {
  const auto table = toml::parse(format("value = {}", key.default_toml));
  return ValueReader("defaults", key, "value").read(*table.get("value"));
}

}  // namespace

struct ScanDocument::Parser {
  ScanDocument& document;

  void section(const toml::table& table, const std::string& name) {
    for (const auto& [name_node, node] : table) {
      const std::string key(name_node.str());
      const std::string full = joined(name, key);
      if (is_section(full)) {
        if (full == "correct")
          chain(node, full, correction_kinds(), document.corrections_);
        else if (full == "post")
          chain(node, full, post_kinds(), document.post_);
        else if (const auto* inner = node.as_table()) {
          document.section_lines_[full] = line_of(node);
          section(*inner, full);
        } else
          fail_at(document.file_, line_of(node), format("{} is a section", full), format("found {}", found_words(node)),
                  format("write [{}] on a line of its own, and its keys below it", full));
        continue;
      }
      const ScanKey* known = find_scan_key(name, key);
      if (!known) unknown(name, key, node);
      document.values_[full] = {ValueReader(document.file_, *known, full).read(node), line_of(node)};
    }
  }

  [[noreturn]] void unknown(const std::string& section, const std::string& key, const toml::node& node) {
    const std::string full = joined(section, key);
    if (node.is_table() || node.is_array_of_tables()) {
      std::vector<std::string> names;
      for (const auto& s : scan_sections()) names.emplace_back(s.name);
      const auto near = nearest_name(full, names);
      const bool list = near == "correct" || near == "post";
      fail_at(document.file_, line_of(node), format("unknown section [{}]", full), "",
              near.empty() ? "docs/scan-file.md lists all sections"
                           : format("did you mean {}?", list ? format("[[{}]]", near) : format("[{}]", near)));
    }
    if (section.empty())
      fail_at(document.file_, line_of(node), format("key {} stands outside every section", key), "",
              suggestion(section, key));
    fail_at(document.file_, line_of(node), format("unknown key {}", full), "", suggestion(section, key));
  }

  // [[correct]] and [[post]]: one step each, of one of the kinds.
  void chain(const toml::node& node, const std::string& name, std::span<const CorrectionKind> kinds,
             std::vector<CorrectionSpec>& out) {
    const auto* list = node.as_array();
    if (!list || !list->is_homogeneous(toml::node_type::table))
      fail_at(document.file_, line_of(node), format("{} is a list of sections", name),
              format("found {}", found_words(node)),
              format("write [[{}]] with two brackets on each side, once for each step", name));
    document.section_lines_[name] = line_of(node);
    for (const auto& element : *list) out.push_back(step(*element.as_table(), name, kinds));
  }

  CorrectionSpec step(const toml::table& table, const std::string& section, std::span<const CorrectionKind> kinds) {
    CorrectionSpec spec;
    spec.line = line_of(table);
    spec.folder = document.folder();
    const auto* kind_node = table.get("kind");
    std::vector<std::string> names;
    for (const auto& known : kinds) names.emplace_back(known.name);
    std::string all;
    for (const auto& known : names) all += (all.empty() ? "" : ", ") + known;
    if (!kind_node)
      fail_at(document.file_, spec.line, format("{}.kind is missing", section),
              format("every [[{}]] names one kind", section), format("known: {}", all));
    spec.kind = std::get<std::string>(
        ValueReader(document.file_, *find_scan_key(section, "kind"), section + ".kind").read(*kind_node));
    const char* what = section == "correct" ? "correction" : "step";
    const auto kind = std::ranges::find_if(kinds, [&](const CorrectionKind& k) { return k.name == spec.kind; });
    if (kind == kinds.end()) {
      const auto near = nearest_name(spec.kind, names);
      fail_at(
          document.file_, line_of(*kind_node), format("unknown {} \"{}\"", what, spec.kind), format("known: {}", all),
          near.empty() ? format("docs/scan-file.md describes each {}", what) : format("did you mean \"{}\"?", near));
    }
    std::vector<std::string> parameters{"kind"};
    for (const auto& parameter : kind->parameters) {
      parameters.emplace_back(parameter.name);
      if (!parameter.default_toml.empty())
        spec.parameters[std::string(parameter.name)] = parameter_of(default_of(parameter));
    }
    for (const auto& [name_node, value] : table) {
      const std::string name(name_node.str());
      if (name == "kind") continue;
      const auto parameter = std::ranges::find_if(kind->parameters, [&](const ScanKey& p) { return p.name == name; });
      if (parameter == kind->parameters.end()) {
        const auto near = nearest_name(name, parameters);
        fail_at(document.file_, line_of(value), format("unknown key {} of {} \"{}\"", name, what, spec.kind), "",
                near.empty() ? "docs/scan-file.md lists all keys" : format("did you mean {}?", near));
      }
      spec.parameters[name] =
          parameter_of(ValueReader(document.file_, *parameter, format("{}.{}", section, name)).read(value));
    }
    refuse_without_effect(spec, *kind, table, what);
    return spec;
  }

  // A parameter that is not as by default although what it belongs to was not chosen. A resolved scan file has them
  // all, as they are by default.
  void refuse_without_effect(const CorrectionSpec& spec, const CorrectionKind& kind, const toml::table& table,
                             const char* what) {
    for (const CorrectionKind::OnlyWith& rule : kind.only_with) {
      const std::string name(rule.parameter), other(rule.other);
      const auto* given = table.get(name);
      if (!given || is_chosen(spec, rule)) continue;
      const auto key = std::ranges::find(kind.parameters, rule.parameter, &ScanKey::name);
      if (!key->default_toml.empty() && spec.parameters.at(name) == parameter_of(default_of(*key))) continue;
      fail_at(document.file_, line_of(*given),
              format("{} \"{}\" with {} = {} does not use {}", what, spec.kind, other,
                     to_toml(std::visit([](const auto& v) { return KeyValue(v); }, spec.parameters.at(other))), name),
              format("it takes {}", taken_parameters(spec, kind)),
              format("leave {} out, or set {} to {}", name, other, alternatives(rule.is_one_of)));
    }
  }
};

ScanDocument::ScanDocument(const std::string& text, std::filesystem::path file) : file_(std::move(file)) {
  check_toml_nesting(text, file_.string());
  try {
    const toml::table table = toml::parse(text, file_.string());
    Parser{*this}.section(table, "");
  } catch (const toml::parse_error& error) {
    const int line = static_cast<int>(error.source().begin.line);
    const std::string point = with_decimal_point(text, line);
    fail_at(file_, line, "not a valid TOML file", std::string(error.description()),
            point.empty() ? "docs/scan-file.md has examples to start from"
                          : format("numbers have a decimal point: {}", point));
  }
}

std::filesystem::path ScanDocument::folder() const {
  const auto parent = file_.parent_path();
  return parent.empty() ? std::filesystem::path(".") : parent;
}

std::filesystem::path ScanDocument::path_of(std::string_view name) const { return folder() / get<std::string>(name); }

const KeyValue* ScanDocument::lookup(std::string_view name) const {
  if (const auto found = values_.find(name); found != values_.end()) return &found->second.first;
  const auto& defaults = default_values();
  const auto found = defaults.find(name);
  return found == defaults.end() ? nullptr : &found->second;
}

std::string ScanDocument::where(std::string_view name) const {
  if (const auto found = values_.find(name); found != values_.end())
    return format("{}:{}", file_.string(), found->second.second);
  for (; !name.empty(); name = name.substr(0, name.find('.') == name.npos ? 0 : name.rfind('.')))
    if (const auto found = section_lines_.find(name); found != section_lines_.end())
      return format("{}:{}", file_.string(), found->second);
  return file_.string();
}

void ScanDocument::fail(std::string_view key, std::string what, std::string why, std::string hint,
                        ErrorKind kind) const {
  throw Error(kind, {.what = std::move(what), .where = where(key), .why = std::move(why), .hint = std::move(hint)});
}

void ScanDocument::missing(std::string_view name, std::string_view because) const {
  const auto dot = name.rfind('.');
  const auto* key = find_scan_key(name.substr(0, dot), name.substr(dot + 1));
  fail(name, format("{} is missing", name), std::string(because),
       format("add {} = ... to [{}]: {}", key->name, key->section, key->meaning));
}

const std::map<std::string, KeyValue, std::less<>>& default_values() {
  static const auto defaults = [] {
    std::map<std::string, KeyValue, std::less<>> values;
    for (const auto& key : scan_keys())
      if (!key.default_toml.empty()) values.emplace(joined(key.section, key.name), default_of(key));
    return values;
  }();
  return defaults;
}

}  // namespace lepus
