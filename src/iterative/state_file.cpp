// SPDX-License-Identifier: Apache-2.0
#include "iterative/state_file.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/format.h"
#include "core/input_file.h"
#include "core/output_file.h"
#include "preprocess/row_audit.h"
#include <lepus/error.h>

namespace lepus {
namespace {

constexpr char first_line[] = "lepus method state 1\n";
constexpr std::int64_t first_bytes = sizeof first_line - 1;
constexpr std::int64_t largest_header = 1 << 20;
constexpr std::int64_t piece_values = 1 << 22;

[[noreturn]] void refuse_state(const std::filesystem::path& file, std::string why, std::string hint) {
  throw Error(ErrorKind::input, {.what = "this state cannot be gone on from",
                                 .where = file.string(),
                                 .why = std::move(why),
                                 .hint = std::move(hint)});
}
[[noreturn]] void refuse_damaged(const std::filesystem::path& file, std::string why) {
  refuse_state(file, std::move(why), "remove it and start anew");
}

// Every bit, infinities too.
std::string bits_of(double value) { return format("{:016x}", std::bit_cast<std::uint64_t>(value)); }
double number_of(const std::string& bits) {
  std::uint64_t value = 0;
  std::from_chars(bits.data(), bits.data() + bits.size(), value, 16);
  return std::bit_cast<double>(value);
}

// body(part of the vector, its length, a number that no other part has) for all vectors, in the order of their names.
template <class Body>
void each_piece(Method& method, const Body& body) {
  std::int64_t number = 0;
  for (auto& [name, vector] : method.kept_vectors())
    for (std::int64_t at = 0; at < vector->size(); at += piece_values)
      body(vector->data() + at, std::min(piece_values, vector->size() - at), number++);
}

nlohmann::json read_header(const InputFile& file, std::int64_t& end) {
  if (file.head(first_bytes) != first_line)
    refuse_damaged(file.path(), "it is no state of a method, or of another version");
  std::int64_t length = 0;
  file.read(first_bytes, &length, sizeof length);
  if (length < 2 || length > largest_header) refuse_damaged(file.path(), "its header is damaged");
  std::string text(static_cast<std::size_t>(length), ' ');
  end = first_bytes + static_cast<std::int64_t>(sizeof length) + length;
  file.read(end - length, text.data(), length);
  nlohmann::json header = nlohmann::json::parse(text, nullptr, false);
  if (!header.is_object()) refuse_damaged(file.path(), "its header is damaged");
  return header;
}

void check_header(const std::filesystem::path& file, const nlohmann::json& header, const StateHeader& expected,
                  Method& method) {
  const std::string hint = "give the scan and the options that it was saved with, or remove it and start anew";
  if (header.at("scan") != expected.scan) refuse_state(file, "it is the state of another scan", hint);
  if (header.at("method") != method.name())
    refuse_state(file, format("it is one of {}, not of {}", header.at("method").get<std::string>(), method.name()),
                 hint);
  if (header.at("options") != expected.options)
    refuse_state(
        file, format("it was saved with {}, not {}", header.at("options").get<std::string>(), expected.options), hint);
  const auto& vectors = header.at("vectors");
  for (const auto& [name, vector] : method.kept_vectors())
    if (!vectors.contains(name) || vectors.at(name) != vector->size())
      refuse_damaged(file, format("its vector \"{}\" has another size", name));
  if (vectors.size() != method.kept_vectors().size()) refuse_damaged(file, "it has other vectors");
}

}  // namespace

void save_state(const std::filesystem::path& file, const StateHeader& header, Method& method) {
  nlohmann::json json{{"scan", header.scan},
                      {"method", method.name()},
                      {"options", header.options},
                      {"iteration", method.iteration()},
                      {"numbers", nlohmann::json::object()},
                      {"vectors", nlohmann::json::object()}};
  for (const auto& [name, value] : method.kept_numbers()) json["numbers"][name] = bits_of(value);
  std::int64_t bytes = largest_header;
  for (const auto& [name, vector] : method.kept_vectors()) {
    json["vectors"][name] = vector->size();
    bytes += vector->bytes();
  }
  const std::string text = json.dump();
  const auto length = static_cast<std::int64_t>(text.size());
  PartialFile out(file, true, bytes);
  out.append(std::string(first_line));
  out.append(&length, sizeof length);
  out.append(text);
  std::vector<float> piece;
  std::uint64_t checksum = 0;
  each_piece(method, [&](float* values, std::int64_t count, std::int64_t number) {
    piece.resize(static_cast<std::size_t>(count));
    method.download(piece.data(), values, count);
    const std::int64_t size = count * static_cast<std::int64_t>(sizeof(float));
    checksum += row_checksum(number, 0, piece.data(), size);
    out.append(piece.data(), size);
  });
  out.append(&checksum, sizeof checksum);
  out.commit();
}

void load_state(const std::filesystem::path& path, const StateHeader& expected, Method& method) {
  const InputFile file(path);
  std::int64_t at = 0;
  const nlohmann::json header = read_header(file, at);
  try {
    check_header(path, header, expected, method);
    for (const auto& [name, bits] : header.at("numbers").items())
      method.kept_numbers()[name] = number_of(bits.get<std::string>());
    method.set_iteration(header.at("iteration").get<std::int64_t>());
  } catch (const nlohmann::json::exception&) {
    refuse_damaged(path, "its header is damaged");
  }
  std::vector<float> piece;
  std::uint64_t checksum = 0, kept = 0;
  each_piece(method, [&](float* values, std::int64_t count, std::int64_t number) {
    piece.resize(static_cast<std::size_t>(count));
    const std::int64_t size = count * static_cast<std::int64_t>(sizeof(float));
    file.read(at, piece.data(), size);
    at += size;
    checksum += row_checksum(number, 0, piece.data(), size);
    method.upload(values, piece.data(), count);
  });
  file.read(at, &kept, sizeof kept);
  if (checksum != kept) refuse_damaged(path, "its bytes are not those that were written");
}

}  // namespace lepus
