// SPDX-License-Identifier: Apache-2.0
#include "iterative/state_file.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <ctime>
#include <optional>
#include <vector>

#include "core/format.h"
#include "core/json.h"
#include "core/input_file.h"
#include "core/output_file.h"
#include "preprocess/row_audit.h"

namespace lepus {
namespace {

constexpr char first_line[] = "lepus method state 3\n";
constexpr std::int64_t first_bytes = sizeof first_line - 1;
constexpr std::int64_t longest_header = std::int64_t{1} << 28;  // scans with a matrix for each of many views
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

nlohmann::json header_json(const StateHeader& header, Method& method, const KeptPieces& pieces) {
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
  for (const auto& [name, vector] : method.kept_vectors()) json["vectors"][name] = pieces.size(name);
  return json;
}

StateHeader header_of(const nlohmann::json& json) {
  StateHeader header;
  header.run = json.at("run").get<std::string>();
  header.method = json.at("method").get<std::string>();
  header.iterations = json.at("iterations").get<std::int64_t>();
  header.strength = number_of(json.at("strength"));
  header.saved = json.at("saved").get<std::string>();
  header.done.iterations = json.at("iteration").get<std::int64_t>();
  header.done.change = number_of(json.at("change"));
  header.done.seconds = json.at("seconds").get<double>();
  return header;
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
    json_ = json_or_discarded(text);
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
    header_ = header_of(json_);
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

void take_numbers(const StoredState& stored, Method& method, const KeptPieces& pieces) {
  const auto& vectors = stored.json().at("vectors");
  bool same = vectors.size() == method.kept_vectors().size();
  for (const auto& [name, vector] : method.kept_vectors())
    same = same && vectors.contains(name) && vectors.at(name) == pieces.size(name);
  if (!same) throw DamagedState(stored.path(), "it has other vectors than the method");
  for (auto& [name, value] : method.kept_numbers()) value = number_of(stored.json().at("numbers").at(name));
}

// A state while it is written; under its own name when all of it is on the disk.
class StateWriter {
public:
  StateWriter(const std::filesystem::path& file, const std::filesystem::path& output, const StateHeader& header,
              Method& method, const KeptPieces& pieces)
      : StateWriter(file, output, header, json_text(header_json(header, method, pieces)), bytes_of(method, pieces)) {}

  void append(const void* from, std::int64_t bytes) {
    checksum_.add(from, bytes);
    out_.append(from, bytes);
  }
  void append_checksum() {
    const std::uint64_t sum = checksum_.sum();
    out_.append(&sum, sizeof sum);
  }
  void commit(const std::filesystem::path& before) {
    out_.sync();
    // From here on one of the two names is always that of a whole state.
    std::error_code ignored;
    std::filesystem::rename(file_, before, ignored);
    out_.commit();
    sync_folder(file_);
  }

private:
  StateWriter(const std::filesystem::path& file, const std::filesystem::path& output, const StateHeader& header,
              const std::string& text, std::int64_t vector_bytes)
      : file_(file),
        out_(OutputLock(output), file, true,
             first_bytes + 3 * double_bytes + std::ssize(text) + residual_bytes(header) + vector_bytes) {
    const auto length = static_cast<std::int64_t>(text.size());
    out_.append(std::string(first_line));
    out_.append(&length, sizeof length);
    append(text.data(), length);
    append(header.done.residuals.data(), residual_bytes(header));
    append_checksum();
  }
  static std::int64_t residual_bytes(const StateHeader& header) {
    return std::ssize(header.done.residuals) * double_bytes;
  }
  static std::int64_t bytes_of(Method& method, const KeptPieces& pieces) {
    std::int64_t values = 0;
    for (const auto& [name, vector] : method.kept_vectors()) values += pieces.size(name);
    return values * float_bytes;
  }

  std::filesystem::path file_;
  PartialFile out_;
  Checksum checksum_;
};

// Before the other ranks hear of it.
void require_whole(const std::filesystem::path& file, const KeptPieces& pieces) {
  StoredState stored(file);
  std::vector<float> piece;
  for (const std::int64_t count : pieces.counts()) {
    piece.resize(static_cast<std::size_t>(count));
    stored.read(piece.data(), count * float_bytes);
  }
  stored.check();
}

}  // namespace

void save_state(const std::filesystem::path& file, const std::filesystem::path& before,
                const std::filesystem::path& output, const StateHeader& header, Method& method) {
  KeptPieces pieces(method);
  std::optional<StateWriter> writer;
  const auto begin = [&] {
    if (!writer) writer.emplace(file, output, header, method, pieces);
  };
  pieces.collect([&](const float* values, std::int64_t count) {
    begin();
    writer->append(values, count * float_bytes);
  });
  if (!pieces.first()) return;
  begin();
  writer->append_checksum();
  writer->commit(before);
}

StateHeader read_state_header(const std::filesystem::path& file) { return StoredState(file).header(); }

StateHeader load_state(const std::filesystem::path& file, Method& method, KeptPieces& pieces) {
  StoredState stored(file);
  try {
    take_numbers(stored, method, pieces);
  } catch (const nlohmann::json::exception&) {
    throw DamagedState(file, "its header is damaged");
  }
  if (pieces.ranks()) {
    require_whole(file, pieces);
    pieces.ranks()->broadcast(json_text(stored.json()));
    const std::vector<double>& residuals = stored.header().done.residuals;
    pieces.ranks()->broadcast(
        std::string(reinterpret_cast<const char*>(residuals.data()), residuals.size() * sizeof(double)));
  }
  pieces.distribute([&](float* values, std::int64_t count) { stored.read(values, count * float_bytes); });
  stored.check();
  method.set_iteration(stored.header().done.iterations);
  return stored.header();
}

StateHeader load_state(const std::filesystem::path& file, Method& method) {
  KeptPieces pieces(method);
  return load_state(file, method, pieces);
}

StateHeader receive_state(Method& method, KeptPieces& pieces) {
  const auto json = parse_json(pieces.ranks()->broadcast(""));
  StateHeader header = header_of(json);
  const std::string residuals = pieces.ranks()->broadcast("");
  header.done.residuals.resize(residuals.size() / sizeof(double));
  std::memcpy(header.done.residuals.data(), residuals.data(), residuals.size());
  for (auto& [name, value] : method.kept_numbers()) value = number_of(json.at("numbers").at(name));
  pieces.distribute({});
  method.set_iteration(header.done.iterations);
  return header;
}

}  // namespace lepus
