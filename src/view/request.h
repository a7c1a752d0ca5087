// SPDX-License-Identifier: Apache-2.0
// What the page asks and what it is answered, whatever carries it (docs/view-protocol.md). Everything in a request was
// written by somebody else: each parameter is read with its limits, and one that nobody knows is an error.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <lepus/error.h>

namespace lepus::view {

using Parameters = std::multimap<std::string, std::string>;

struct Request {
  std::string method = "GET", path;  // "/api/volumes/0/slice"
  Parameters parameters;             // decoded
  std::string body;
};

struct Answer {
  int status = 200;
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  // In place of the body: a file of so many bytes that is read while it is sent.
  std::int64_t file_bytes = -1;
  std::function<void(std::int64_t offset, char* out, std::int64_t bytes)> read_file;
  std::shared_ptr<void> memory;  // held until all is sent (Admission)
};

// A request that is refused with a status of HTTP.
class Refusal : public Error {
public:
  Refusal(int status, ErrorParts parts) : Error(ErrorKind::usage, std::move(parts)), status_(status) {}
  int status() const { return status_; }

private:
  int status_;
};

// What is wrong, as JSON with the status that fits.
Answer answer_of_error(const Error& error);

// The parameters of a request, each read once.
class Query {
public:
  explicit Query(const Request& request);  // throws where one is given twice

  bool has(const std::string& name) const { return parameters_.contains(name); }
  std::string text(const std::string& name, const std::string& otherwise);
  // One of these words; the first where it is not given.
  std::string word(const std::string& name, const std::vector<std::string>& words);
  std::int64_t integer(const std::string& name, std::optional<std::int64_t> otherwise, std::int64_t low,
                       std::int64_t high);
  // Nothing where it says "auto"; `otherwise` where it is not given.
  std::optional<std::int64_t> integer_or_auto(const std::string& name, std::int64_t otherwise, std::int64_t low,
                                              std::int64_t high);
  double number(const std::string& name, std::optional<double> otherwise);
  // Exactly so many finite numbers, parted by commas; nothing where it is not given.
  std::optional<std::vector<double>> numbers(const std::string& name, std::size_t count);
  std::optional<std::vector<std::int64_t>> integers(const std::string& name, std::size_t count);

  // Throws for a parameter that nobody asked for: a typing error would otherwise be taken for its default.
  void finish() const;

private:
  const Parameters& parameters_;
  std::set<std::string> known_{"token"};
};

[[noreturn]] void refuse_parameter(const std::string& name, const std::string& why);

// "a=1&b=2%2C3" -> {"a": "1", "b": "2,3"}; what has no sense in it stays as it is.
Parameters parse_query(const std::string& text);

}  // namespace lepus::view
