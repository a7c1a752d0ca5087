// SPDX-License-Identifier: Apache-2.0
#include "run/kept_rows.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "core/format.h"
#include "core/json.h"
#include "core/row_checksum.h"
#include <lepus/error.h>

namespace lepus {
namespace {

constexpr const char* rows_kind = "rows";
// Rows in memory are written where correcting them took so many times as long as a disk of this speed takes.
constexpr double worth_factor = 20, disk_bytes_per_second = 1e9;

// body(view, rows of it) for every view.
template <class Body>
void each_view(RowBand rows, const RowKeeper& store, const RowStoreSize& size, ThreadPool& threads, const Body& body) {
  threads.parallel_for(0, size.views, 1, [&](std::int64_t begin, std::int64_t end, int) {
    std::vector<float> values(static_cast<std::size_t>(rows.size() * size.columns));
    for (std::int64_t view = begin; view < end; ++view) {
      store.get(view, rows, values.data());
      body(view, values);
    }
  });
}

std::uint64_t checksum_of(std::int64_t view, RowBand rows, const std::vector<float>& values) {
  return row_checksum(view, rows.first, values.data(), static_cast<std::int64_t>(values.size()) * float_bytes);
}

// None where they cannot be read.
std::optional<std::uint64_t> checksum_in(const RowKeeper& store, RowBand rows, const RowStoreSize& size,
                                         ThreadPool& threads) try {
  std::atomic<std::uint64_t> sum = 0;
  each_view(rows, store, size, threads,
            [&](std::int64_t view, const std::vector<float>& values) { sum += checksum_of(view, rows, values); });
  return sum;
} catch (const Error& error) {
  if (error.kind() != ErrorKind::disk) throw;
  return std::nullopt;
}

}  // namespace

KeptRows::KeptRows(ResumableVolume& volume) : volume_(volume), file_(volume.kept_file(kept_rows)) {
  for (const auto& [kind, text] : volume.earlier_notes()) {
    if (kind != rows_kind) continue;
    const auto json = json_or_discarded(text);
    if (!json.is_object()) continue;  // then they are corrected again
    const auto [first, last] = json.at("rows").get<std::pair<std::int64_t, std::int64_t>>();
    earlier_[{first, last}] = {std::stoull(json.at("checksum").get<std::string>(), nullptr, 16)};
  }
}

std::int64_t KeptRows::band_rows() const {
  std::int64_t most = 0;  // the last band of a detector may be lower
  for (const auto& [place, band] : earlier_) most = std::max(most, place.second - place.first);
  return most;
}

bool KeptRows::has(RowBand rows, const RowKeeper& store, const RowStoreSize& size, ThreadPool& threads) {
  if (earlier_.empty() || store.file() != file_) return false;
  std::int64_t next = rows.first;  // what is before it is there
  for (auto& [place, band] : earlier_) {
    const RowBand kept{place.first, place.second};
    if (kept.last <= next || kept.first > next || kept.last > size.rows) continue;
    if (!band.intact) band.intact = checksum_in(store, kept, size, threads) == band.checksum;
    if (*band.intact) next = kept.last;
    if (next >= rows.last) break;
  }
  if (next < rows.last) return false;
  taken_ += rows.size();
  return true;
}

std::optional<JournalRecord> KeptRows::keep(RowBand rows, const RowKeeper& store, const RowStoreSize& size,
                                            double seconds, ThreadPool& threads) try {
  const bool in_file = store.file() == file_;
  if (!in_file && store.memory_bytes() == 0) return std::nullopt;  // they are on a card
  const auto bytes = static_cast<double>(rows.size() * size.columns * size.views * float_bytes);
  if (!in_file && seconds < worth_factor * bytes / disk_bytes_per_second) return std::nullopt;
  if (!in_file && !copy_)
    copy_ = std::make_unique<ScratchFile>(ScratchFile::Kept{file_}, size.floats() * float_bytes,
                                          ScratchFile::Words{"corrected rows", "free some space"});
  std::atomic<std::uint64_t> sum = 0;
  each_view(rows, store, size, threads, [&](std::int64_t view, const std::vector<float>& values) {
    sum += checksum_of(view, rows, values);
    if (!in_file)
      copy_->write(size.offset(view, rows.first) * float_bytes, values.data(), std::ssize(values) * float_bytes);
  });
  return JournalRecord{rows_kind, json_text(nlohmann::json{{"rows", {rows.first, rows.last}},
                                                           {"checksum", format("{:016x}", sum.load())}})};
} catch (const Error& error) {
  if (error.kind() != ErrorKind::disk) throw;
  return std::nullopt;  // where the disk is full, they are corrected again
}

}  // namespace lepus
