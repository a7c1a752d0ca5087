// SPDX-License-Identifier: Apache-2.0
// Steps as they are typed: "median radius=2 dimensions=3".
#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <sstream>

#include "core/format.h"
#include "core/text.h"
#include "post/post.h"
#include "scan/kinds/kinds.h"
#include <lepus/error.h>

namespace lepus {
namespace {

struct TypedStep {
  std::string where;

  [[noreturn]] void fail(std::string what, std::string why, std::string hint) const {
    throw Error(ErrorKind::usage,
                {.what = std::move(what), .where = where, .why = std::move(why), .hint = std::move(hint)});
  }

  [[noreturn]] void wrong(const ScanKey& key, const std::string& text) const {
    std::string words = type_words(key);
    std::erase(words, '`');
    fail(format("{} = '{}' cannot be used", key.name, text), format("expected {}", words), std::string(key.meaning));
  }

  template <class T>
  T number(const ScanKey& key, const std::string& text) const {
    T value{};
    const char *first = text.data(), *last = first + text.size();
    const auto [end, error] = std::from_chars(first, last, value);
    if (error != std::errc() || end != last) wrong(key, text);
    if constexpr (std::is_floating_point_v<T>)
      if (!std::isfinite(value)) wrong(key, text);
    const auto& [least, most, open] = key.range;
    const auto v = static_cast<double>(value);
    if ((open ? v > least : v >= least) && v <= most) return value;
    const std::string low = std::isfinite(least) ? format("{} {}", open ? "above" : "at least", least) : "";
    const std::string high = std::isfinite(most) ? format("at most {}", most) : "";
    fail(format("{} = {} is out of range", key.name, text),
         format("it must be {}{}{}", low, !low.empty() && !high.empty() ? " and " : "", high),
         std::string(key.meaning));
  }

  std::vector<double> integers(const ScanKey& key, const std::string& text) const {
    std::vector<double> values;
    std::string word;
    for (std::istringstream list(text); std::getline(list, word, ',');)
      values.push_back(static_cast<double>(number<std::int64_t>(key, word)));
    if (values.size() != static_cast<std::size_t>(key.count)) wrong(key, text);
    return values;
  }

  ParameterValue value(const ScanKey& key, const std::string& text) const {
    switch (key.type) {
      case ScanKeyType::boolean:
        if (text != "true" && text != "false") wrong(key, text);
        return text == "true";
      case ScanKeyType::integer:
        return number<std::int64_t>(key, text);
      case ScanKeyType::number:
        return number<double>(key, text);
      case ScanKeyType::integers:
        return integers(key, text);
      default: {
        const auto known = split_words(key.choices);
        if (std::ranges::find(known, text) != known.end()) return text;
        const std::string near = nearest_name(text, known);
        fail(format("{} = '{}' is not known", key.name, text), format("known: {}", key.choices),
             near.empty() ? std::string(key.meaning) : format("did you mean {}={}?", key.name, near));
      }
    }
  }
};

std::string without_quotes(std::string_view toml) {
  const bool quoted = toml.size() >= 2 && toml.front() == '"';
  return std::string(quoted ? toml.substr(1, toml.size() - 2) : toml);
}

template <class List>
std::string names_of(const List& list) {
  std::string text;
  for (const auto& item : list) text += format("{}{}", text.empty() ? "" : ", ", item.name);
  return text;
}

template <class List>
auto find_named(const List& list, const std::string& name, const TypedStep& typed, const std::string& what) {
  const auto found = std::ranges::find_if(list, [&](const auto& item) { return item.name == name; });
  if (found != list.end()) return found;
  std::vector<std::string> names;
  names.reserve(list.size());
  for (const auto& item : list) names.emplace_back(item.name);
  const std::string near = nearest_name(name, names);
  typed.fail(format("there is no {} '{}'", what, name), format("known: {}", names_of(list)),
             near.empty() ? "'lepus post --help' lists them all" : format("did you mean '{}'?", near));
}

}  // namespace

PostSpec parse_post_step(const std::string& text) {
  const TypedStep typed{format("--do \"{}\"", text)};
  std::istringstream words(text);
  std::string word;
  if (!(words >> word)) typed.fail("the step is empty", "", "name a kind, such as --do \"median radius=2\"");
  const std::vector<CorrectionKind> kinds = post_kinds();
  const auto kind = find_named(kinds, word, typed, "step");
  PostSpec spec;
  spec.step.kind = word;
  spec.where = typed.where;
  for (const ScanKey& key : kind->parameters)
    if (!key.default_toml.empty())
      spec.step.parameters[std::string(key.name)] = typed.value(key, without_quotes(key.default_toml));
  std::set<std::string_view> given;
  while (words >> word) {
    const auto equals = word.find('=');
    if (equals == std::string::npos)
      typed.fail(format("'{}' has no value", word), "", format("write it as {}=...", word));
    const auto key = find_named(kind->parameters, word.substr(0, equals), typed, "parameter");
    if (!given.insert(key->name).second)
      typed.fail(format("{} is given twice", key->name), "only one of them could count", "leave one of them out");
    spec.step.parameters[std::string(key->name)] = typed.value(*key, word.substr(equals + 1));
  }
  for (const ScanKey& key : kind->parameters)
    if (key.default_words == "required" && !spec.step.parameters.contains(std::string(key.name)))
      typed.fail(format("{} is missing", key.name), std::string(key.meaning), format("add {}=...", key.name));
  return spec;
}

}  // namespace lepus
