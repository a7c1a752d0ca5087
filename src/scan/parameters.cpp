// SPDX-License-Identifier: Apache-2.0
#include "scan/parameters.h"

#include <algorithm>
#include <utility>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus {
namespace {

const ParameterValue* find(const CorrectionSpec& spec, const std::string& name) {
  const auto found = spec.parameters.find(name);
  return found == spec.parameters.end() ? nullptr : &found->second;
}

template <class T>
T parameter(const CorrectionSpec& spec, const std::string& name, const char* type) {
  const ParameterValue* value = find(spec, name);
  if (const T* typed = value ? std::get_if<T>(value) : nullptr) return *typed;
  refuse(spec, format("'{}' must be {}", name, type), value ? "it is of another type" : "it is not given", "");
}

}  // namespace

double number_of(const CorrectionSpec& spec, const std::string& name) {
  const ParameterValue* value = find(spec, name);
  if (const auto* whole = value ? std::get_if<std::int64_t>(value) : nullptr) return static_cast<double>(*whole);
  return parameter<double>(spec, name, "a number");
}

std::int64_t integer_of(const CorrectionSpec& spec, const std::string& name) {
  return parameter<std::int64_t>(spec, name, "an integer");
}

int small_integer_of(const CorrectionSpec& spec, const std::string& name) {
  return static_cast<int>(std::clamp<std::int64_t>(integer_of(spec, name), -1, 1 << 20));
}

bool flag_of(const CorrectionSpec& spec, const std::string& name) {
  return parameter<bool>(spec, name, "true or false");
}

std::string text_of(const CorrectionSpec& spec, const std::string& name) {
  return parameter<std::string>(spec, name, "text");
}

std::vector<double> numbers_of(const CorrectionSpec& spec, const std::string& name) {
  return find(spec, name) ? parameter<std::vector<double>>(spec, name, "a list of numbers") : std::vector<double>{};
}

std::filesystem::path file_of(const CorrectionSpec& spec, const std::string& name) {
  return spec.folder / text_of(spec, name);
}

std::optional<std::filesystem::path> written_file(const CorrectionSpec& spec) {
  if (!spec.parameters.contains("write")) return std::nullopt;
  std::filesystem::path file = file_of(spec, "write");
  if (file.has_filename() && !file.has_extension()) file += ".mha";
  return file;
}

std::size_t choice_of(const CorrectionSpec& spec, const std::string& name,
                      std::initializer_list<std::string_view> choices) {
  const std::string text = text_of(spec, name);
  if (const auto found = std::ranges::find(choices, text); found != choices.end())
    return static_cast<std::size_t>(found - choices.begin());
  std::string known;
  for (const std::string_view choice : choices) known += format("{}\"{}\"", known.empty() ? "" : ", ", choice);
  refuse(spec, format("'{}' is \"{}\"", name, text), "", format("write one of {}", known));
}

std::string warning_of(const CorrectionSpec& spec, const std::string& message) {
  return format("correction \"{}\", line {}: {}", spec.kind, spec.line, message);
}

void refuse(const CorrectionSpec& spec, std::string what, std::string why, std::string hint) {
  throw Error(ErrorKind::input, {.what = format("correction \"{}\": {}", spec.kind, what),
                                 .where = format("line {} of the scan file", spec.line),
                                 .why = std::move(why),
                                 .hint = std::move(hint)});
}

}  // namespace lepus
