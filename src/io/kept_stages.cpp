// SPDX-License-Identifier: Apache-2.0
#include "io/kept_stages.h"

#include <atomic>

#include "core/format.h"
#include "core/json.h"
#include "core/input_file.h"
#include "core/io_threads.h"
#include "core/output_file.h"
#include "core/row_checksum.h"

namespace lepus {
namespace fs = std::filesystem;

namespace {

// By several threads; "" where there is no such file.
std::string content_of(const fs::path& path) {
  constexpr std::int64_t part = 16 << 20;
  std::error_code code;
  if (!fs::is_regular_file(path, code)) return {};
  const InputFile file(path);
  const std::int64_t bytes = file.size();
  std::atomic<std::uint64_t> sum = 0;
  io_parallel((bytes + part - 1) / part, io_threads(), [&](std::int64_t i) {
    std::vector<char> content(static_cast<std::size_t>(std::min(part, bytes - i * part)));
    file.read(i * part, content.data(), std::ssize(content));
    sum += row_checksum(0, i, content.data(), std::ssize(content));
  });
  return format("{} {:016x}", bytes, sum.load());
}

}  // namespace

KeptStages::KeptStages(ResumableFolder& folder) : folder_(folder) { fs::create_directory(scratch("").parent_path()); }

std::optional<std::string> KeptStages::find(const std::string& stage) {
  const auto details = folder_.finished(stage);
  if (!details) return std::nullopt;
  const auto files = parse_json(*details);
  for (const auto& [name, content] : files.items())
    if (content_of(folder_.path() / name) != content.get<std::string>()) return std::nullopt;
  return read_text_file(scratch(stage), std::int64_t{1} << 40);
}

void KeptStages::finish(const std::string& stage, const std::string& result, std::vector<fs::path> files) {
  write_file(scratch(stage), result, true);
  files.push_back(scratch(stage));
  nlohmann::json contents = nlohmann::json::object();
  for (const fs::path& file : files) contents[file.lexically_relative(folder_.path()).string()] = content_of(file);
  folder_.finish(stage, 1, json_text(contents));
}

}  // namespace lepus
