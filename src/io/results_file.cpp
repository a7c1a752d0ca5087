// SPDX-License-Identifier: Apache-2.0
#include "io/results_file.h"

#include <algorithm>
#include <utility>

#include "core/format.h"
#include "core/json.h"
#include "core/row_checksum.h"
#include <lepus/error.h>

namespace lepus {
namespace {

std::uint64_t checksum_of(const std::string& bytes) { return row_checksum(0, 0, bytes.data(), std::ssize(bytes)); }

}  // namespace

ResultsFile::ResultsFile(std::filesystem::path file, const std::vector<JournalRecord>& earlier, Note note)
    : name_(std::move(file)), note_(std::move(note)) {
  for (const auto& [kind, text] : earlier) {
    if (kind != result_kind) continue;
    const auto json = json_or_discarded(text);
    if (!json.is_object()) continue;  // then it is made again
    const Place place{json.value("offset", std::int64_t{0}), json.value("bytes", std::int64_t{0}),
                      std::stoull(json.value("checksum", std::string("0")), nullptr, 16)};
    end_ = std::max(end_, place.offset + place.bytes);
    places_[json.value("name", std::string())] = place;
    seconds_ += json.value("seconds", 0.0);
  }
}

ScratchFile& ResultsFile::file() {
  if (!file_)
    file_ = std::make_unique<ScratchFile>(
        ScratchFile::Kept{name_}, 0,
        ScratchFile::Words{"results of the run", "free some space, or write to another disk"});
  return *file_;
}

std::optional<std::string> ResultsFile::find(const std::string& name) try {
  const std::scoped_lock lock(mutex_);
  const auto place = places_.find(name);
  if (place == places_.end()) return std::nullopt;
  std::error_code code;
  const auto size = std::filesystem::file_size(name_, code);
  const auto [offset, length, checksum] = place->second;
  if (code || offset < 0 || length < 0 || std::cmp_less(size, offset + length)) return std::nullopt;
  std::string bytes(static_cast<std::size_t>(length), '\0');
  file().read(offset, bytes.data(), length);
  return checksum_of(bytes) == checksum ? std::optional(std::move(bytes)) : std::nullopt;
} catch (const Error&) {  // it is made again
  return std::nullopt;
}

void ResultsFile::keep(const std::string& name, const std::string& bytes, double seconds) try {
  const std::scoped_lock lock(mutex_);
  const Place place{end_, std::ssize(bytes), checksum_of(bytes)};
  file().write(place.offset, bytes.data(), place.bytes);
  end_ += place.bytes;
  note_({result_kind, json_text(nlohmann::json{{"name", name},
                                               {"offset", place.offset},
                                               {"bytes", place.bytes},
                                               {"checksum", format("{:016x}", place.checksum)},
                                               {"seconds", seconds}})});
  places_[name] = place;
  seconds_ += seconds;
} catch (const Error&) {  // a full disk ends the run where it matters: without this it is only made again
}

}  // namespace lepus
