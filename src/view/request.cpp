// SPDX-License-Identifier: Apache-2.0
#include "view/request.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/format.h"
#include "core/json.h"
#include "core/text.h"

namespace lepus::view {
namespace {

std::vector<std::string> parted(const std::string& text) {
  std::vector<std::string> pieces(1);
  for (const char c : text)
    if (c == ',') {
      pieces.emplace_back();
    } else {
      pieces.back() += c;
    }
  return pieces;
}

template <class Number>
std::optional<Number> number_in(const std::string& text) {
  Number value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <class Number>
std::vector<Number> list_in(const std::string& name, const std::string& text, std::size_t count, const char* what) {
  std::vector<Number> values;
  for (const std::string& piece : parted(text)) {
    const auto value = number_in<Number>(piece);
    if (!value || !std::isfinite(static_cast<double>(*value)) || values.size() == count)
      refuse_parameter(name, format("'{}' is not {} {} parted by commas", shown(text), count, what));
    values.push_back(*value);
  }
  if (values.size() != count)
    refuse_parameter(name, format("'{}' is not {} {} parted by commas", shown(text), count, what));
  return values;
}

int status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return 400;
    case ErrorKind::memory:
      return 413;
    case ErrorKind::internal:
      return 500;
    case ErrorKind::disk:
      return 507;
    case ErrorKind::cancelled:
      return 503;
    default:
      return 422;
  }
}

}  // namespace

Answer answer_of_error(const Error& error) {
  const auto* refusal = dynamic_cast<const Refusal*>(&error);
  const ErrorParts& p = error.parts();
  const nlohmann::json object{{"error", {{"what", p.what}, {"where", p.where}, {"why", p.why}, {"hint", p.hint}}}};
  Answer answer;
  answer.status = refusal ? refusal->status() : status_of(error.kind());
  answer.body = json_text(object);
  return answer;
}

void refuse_parameter(const std::string& name, const std::string& why) {
  throw Refusal(400, {.what = format("the parameter '{}' cannot be taken", shown(name)),
                      .where = {},
                      .why = why,
                      .hint = "docs/view-protocol.md has all parameters and their limits"});
}

Query::Query(const Request& request) : parameters_(request.parameters) {
  for (const auto& [name, value] : parameters_)
    if (parameters_.count(name) > 1) refuse_parameter(name, "it is given twice");
}

std::string Query::text(const std::string& name, const std::string& otherwise) {
  known_.insert(name);
  const auto found = parameters_.find(name);
  return found == parameters_.end() ? otherwise : found->second;
}

std::string Query::word(const std::string& name, const std::vector<std::string>& words) {
  std::string chosen = text(name, words.front());
  if (std::ranges::find(words, chosen) == words.end()) {
    std::string all;
    for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
    refuse_parameter(name, format("'{}' is none of {}", shown(chosen), all));
  }
  return chosen;
}

std::int64_t Query::integer(const std::string& name, std::optional<std::int64_t> otherwise, std::int64_t low,
                            std::int64_t high) {
  if (!has(name)) {
    known_.insert(name);
    if (!otherwise) refuse_parameter(name, "it has to be given");
    return *otherwise;
  }
  const std::string given = text(name, "");
  const auto value = number_in<std::int64_t>(given);
  if (!value || *value < low || *value > high)
    refuse_parameter(name, format("'{}' is not an integer from {} to {}", shown(given), low, high));
  return *value;
}

std::optional<std::int64_t> Query::integer_or_auto(const std::string& name, std::int64_t otherwise, std::int64_t low,
                                                   std::int64_t high) {
  if (text(name, "") == "auto") return std::nullopt;
  return integer(name, otherwise, low, high);
}

double Query::number(const std::string& name, std::optional<double> otherwise) {
  if (const auto values = numbers(name, 1)) return values->front();
  if (!otherwise) refuse_parameter(name, "it has to be given");
  return *otherwise;
}

std::optional<std::vector<double>> Query::numbers(const std::string& name, std::size_t count) {
  if (!has(name)) {
    known_.insert(name);
    return std::nullopt;
  }
  return list_in<double>(name, text(name, ""), count, "finite numbers");
}

std::optional<std::vector<std::int64_t>> Query::integers(const std::string& name, std::size_t count) {
  if (!has(name)) {
    known_.insert(name);
    return std::nullopt;
  }
  return list_in<std::int64_t>(name, text(name, ""), count, "integers");
}

void Query::finish() const {
  for (const auto& [name, value] : parameters_)
    if (!known_.contains(name)) refuse_parameter(name, "this request has no such parameter");
}

Parameters parse_query(const std::string& text) {
  const auto decoded = [](const std::string& part) {
    std::string out;
    for (std::size_t i = 0; i < part.size(); ++i) {
      int code = 0;
      if (part[i] == '%' && i + 2 < part.size() &&
          std::from_chars(part.data() + i + 1, part.data() + i + 3, code, 16).ptr == part.data() + i + 3) {
        out += static_cast<char>(code);
        i += 2;
      } else {
        out += part[i] == '+' ? ' ' : part[i];
      }
    }
    return out;
  };
  Parameters parameters;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('&', at), text.size());
    const std::string pair = text.substr(at, end - at);
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (!pair.empty())
      parameters.emplace(decoded(pair.substr(0, equals)), equals < pair.size() ? decoded(pair.substr(equals + 1)) : "");
    at = end + 1;
  }
  return parameters;
}

}  // namespace lepus::view
