// SPDX-License-Identifier: Apache-2.0
#include "iterative/state_file.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <ctime>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/format.h"
#include "core/input_file.h"
#include "core/output_file.h"
#include "preprocess/row_audit.h"

namespace lepus {
namespace {

constexpr char first_line[] = "lepus method state 2\n";
constexpr std::int64_t first_bytes = sizeof first_line - 1;
constexpr std::int64_t longest_header = std::int64_t{1} << 28;  // scans with a matrix for each of many views
constexpr std::int64_t piece_values = 1 << 22;
constexpr auto float_bytes = static_cast<std::int64_t>(sizeof(float));
constexpr auto double_bytes = static_cast<std::int64_t>(sizeof(double));

// Every bit, infinities too.
std::string bits_of(double value) { return format("{:016x}", std::bit_cast<std::uint64_t>(value)); }
double number_of(const nlohmann::json& bits) {
  const auto text = bits.get<std::string>();
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return std::bit_cast<double>(value);
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  char text[32] = "";
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", ::gmtime_r(&now, &utc));
  return text;
}

// The sum of its parts', each mixed with its number.
class Checksum {
public:
  void add(const void* bytes, std::int64_t size) { sum_ += row_checksum(part_++, 0, bytes, size); }
  std::uint64_t sum() const { return sum_; }

private:
  std::int64_t part_ = 0;
  std::uint64_t sum_ = 0;
};

// body(part of a vector, its length) for all vectors, in the order of their names.
template <class Body>
void each_piece(Method& method, const Body& body) {
  for (auto& [name, vector] : method.kept_vectors())
    for (std::int64_t at = 0; at < vector->size(); at += piece_values)
      body(vector->data() + at, std::min(piece_values, vector->size() - at));
}

nlohmann::json header_json(const StateHeader& header, Method& method) {
  nlohmann::json json{{"run", header.run},
                      {"method", method.name()},
                      {"iterations", header.iterations},
                      {"strength", bits_of(header.strength)},
                      {"saved", utc_now()},
                      {"iteration", method.iteration()},
                      {"residuals", header.done.residuals.size()},
                      {"change", bits_of(header.done.change)},
                      {"seconds", header.done.seconds},
                      {"numbers", nlohmann::json::object()},
                      {"vectors", nlohmann::json::object()}};
  for (const auto& [name, value] : method.kept_numbers()) json["numbers"][name] = bits_of(value);
  for (const auto& [name, vector] : method.kept_vectors()) json["vectors"][name] = vector->size();
  return json;
}

// A file whose header and length are those of a state.
class StoredState {
public:
  explicit StoredState(const std::filesystem::path& path) : file_(path) {
    if (file_.head(first_bytes) != first_line)
      throw DamagedState(path, "it is no state of a method, or of another version of lepus");
    std::int64_t length = 0;
    if (file_.size() < first_bytes + 2 * double_bytes) throw DamagedState(path, "it is cut short");
    file_.read(first_bytes, &length, sizeof length);
    at_ = first_bytes + static_cast<std::int64_t>(sizeof length);
    if (length < 2 || length > std::min(longest_header, file_.size() - at_))
      throw DamagedState(path, "its header is damaged");
    std::string text(static_cast<std::size_t>(length), ' ');
    read(text.data(), length);
    json_ = nlohmann::json::parse(text, nullptr, false);
    try {
      take_header();
    } catch (const nlohmann::json::exception&) {
      throw DamagedState(path, "its header is damaged");
    }
  }

  const StateHeader& header() const { return header_; }
  const nlohmann::json& json() const { return json_; }
  const std::filesystem::path& path() const { return file_.path(); }

  // What follows, in order.
  void read(void* into, std::int64_t bytes) {
    file_.read(at_, into, bytes);
    at_ += bytes;
    checksum_.add(into, bytes);
  }
  // What was read so far against the checksum that follows.
  void check() {
    std::uint64_t kept = 0;
    file_.read(at_, &kept, sizeof kept);
    at_ += static_cast<std::int64_t>(sizeof kept);
    if (kept != checksum_.sum()) throw DamagedState(path(), "its bytes are not those that were written");
  }

private:
  void take_header() {
    header_.run = json_.at("run").get<std::string>();
    header_.method = json_.at("method").get<std::string>();
    header_.iterations = json_.at("iterations").get<std::int64_t>();
    header_.strength = number_of(json_.at("strength"));
    header_.saved = json_.at("saved").get<std::string>();
    header_.done.iterations = json_.at("iteration").get<std::int64_t>();
    header_.done.change = number_of(json_.at("change"));
    header_.done.seconds = json_.at("seconds").get<double>();
    const auto residuals = json_.at("residuals").get<std::int64_t>();
    // In floating point: sizes of a damaged file may be anything.
    double bytes = static_cast<double>(residuals) * double_bytes + 2 * sizeof(std::uint64_t);
    bool possible = residuals >= 0 && header_.done.iterations >= 0;
    for (const auto& [name, size] : json_.at("vectors").items()) {
      possible = possible && size.get<std::int64_t>() >= 0;
      bytes += static_cast<double>(size.get<std::int64_t>()) * float_bytes;
    }
    if (!possible) throw DamagedState(path(), "its header is damaged");
    if (static_cast<double>(at_) + bytes != static_cast<double>(file_.size()))
      throw DamagedState(path(), format("it has {} bytes, not {:.0f}", file_.size(), static_cast<double>(at_) + bytes));
    header_.done.residuals.resize(static_cast<std::size_t>(residuals));
    read(header_.done.residuals.data(), residuals * double_bytes);
    check();
  }

  InputFile file_;
  std::int64_t at_ = 0;
  Checksum checksum_;
  nlohmann::json json_;
  StateHeader header_;
};

void take_numbers(const StoredState& stored, Method& method) {
  const auto& vectors = stored.json().at("vectors");
  bool same = vectors.size() == method.kept_vectors().size();
  for (const auto& [name, vector] : method.kept_vectors())
    same = same && vectors.contains(name) && vectors.at(name) == vector->size();
  if (!same) throw DamagedState(stored.path(), "it has other vectors than the method");
  for (auto& [name, value] : method.kept_numbers()) value = number_of(stored.json().at("numbers").at(name));
}

}  // namespace

void save_state(const std::filesystem::path& file, const std::filesystem::path& before,
                const std::filesystem::path& output, const StateHeader& header, Method& method) {
  const std::string text = header_json(header, method).dump();
  const auto length = static_cast<std::int64_t>(text.size());
  const auto residual_bytes = static_cast<std::int64_t>(header.done.residuals.size()) * double_bytes;
  std::int64_t bytes = first_bytes + 3 * double_bytes + length + residual_bytes;
  for (const auto& [name, vector] : method.kept_vectors()) bytes += vector->bytes();
  PartialFile out(OutputLock(output), file, true, bytes);
  Checksum checksum;
  const auto append = [&](const void* from, std::int64_t count) {
    checksum.add(from, count);
    out.append(from, count);
  };
  const auto append_checksum = [&] {
    const std::uint64_t sum = checksum.sum();
    out.append(&sum, sizeof sum);
  };
  out.append(std::string(first_line));
  out.append(&length, sizeof length);
  append(text.data(), length);
  append(header.done.residuals.data(), residual_bytes);
  append_checksum();
  std::vector<float> piece;
  each_piece(method, [&](const float* values, std::int64_t count) {
    piece.resize(static_cast<std::size_t>(count));
    method.download(piece.data(), values, count);
    append(piece.data(), count * float_bytes);
  });
  append_checksum();
  out.sync();
  // From here on one of the two names is always that of a whole state.
  std::error_code ignored;
  std::filesystem::rename(file, before, ignored);
  out.commit();
  sync_folder(file);
}

StateHeader read_state_header(const std::filesystem::path& file) { return StoredState(file).header(); }

StateHeader load_state(const std::filesystem::path& file, Method& method) {
  StoredState stored(file);
  try {
    take_numbers(stored, method);
  } catch (const nlohmann::json::exception&) {
    throw DamagedState(file, "its header is damaged");
  }
  std::vector<float> piece;
  each_piece(method, [&](float* values, std::int64_t count) {
    piece.resize(static_cast<std::size_t>(count));
    stored.read(piece.data(), count * float_bytes);
    method.upload(values, piece.data(), count);
  });
  stored.check();
  method.set_iteration(stored.header().done.iterations);
  return stored.header();
}

}  // namespace lepus
