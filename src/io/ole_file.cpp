// SPDX-License-Identifier: Apache-2.0
#include "io/ole_file.h"

#include <algorithm>
#include <utility>

#include "core/format.h"
#include "io/byte_text.h"
#include "io/file.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t last_sector = 0xFFFFFFFA;  // what is above it marks ends and free places
constexpr std::int64_t small_sector_bytes = 64, entry_bytes = 128, header_bytes = 512;
constexpr std::string_view ole_signature("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", 8);

// UTF-16 -> UTF-8 for names without surrogate pairs, which no scanner writes.
std::string name_of_entry(std::string_view entry) {
  const std::size_t length = std::min<std::size_t>(number_at<std::uint16_t>(entry, 64), 64);
  std::string name;
  for (std::size_t i = 0; i + 2 < length; i += 2) {  // the last two bytes are the zero at the end
    const auto c = number_at<std::uint16_t>(entry, i);
    if (c < 0x80) {
      name += static_cast<char>(c);
    } else if (c < 0x800) {
      name += static_cast<char>(0xC0 | c >> 6);
      name += static_cast<char>(0x80 | (c & 0x3F));
    } else {
      name += static_cast<char>(0xE0 | c >> 12);
      name += static_cast<char>(0x80 | (c >> 6 & 0x3F));
      name += static_cast<char>(0x80 | (c & 0x3F));
    }
  }
  return name;
}

}  // namespace

void OleFile::damaged(const std::string& why) const {
  throw Error(ErrorKind::input, {.what = "OLE compound file is damaged or cut off",
                                 .where = file_.path().string(),
                                 .why = why,
                                 .hint = "copy it again from the scanner"});
}

OleFile::OleFile(const fs::path& path) : file_(path) {
  const std::string header = file_.head(header_bytes);
  if (!std::string_view(header).starts_with(ole_signature))
    throw Error(ErrorKind::input, {.what = "not an OLE compound file",
                                   .where = path.string(),
                                   .why = "its first bytes are others",
                                   .hint = "name a .txrm, .xrm or .txm file"});
  if (header.size() < header_bytes) damaged(format("it has only {} bytes", header.size()));
  const int version = number_at<std::uint16_t>(header, 26), shift = number_at<std::uint16_t>(header, 30);
  if (!((version == 3 && shift == 9) || (version == 4 && shift == 12)))
    damaged(format("version {} with sectors of 2^{} bytes", version, shift));
  sector_bytes_ = std::int64_t{1} << shift;
  sectors_ = (file_.size() - 1) / sector_bytes_;  // without the header's, with a last one that is cut off
  small_below_ = number_at<std::uint32_t>(header, 56);
  read_allocation(header);
  read_directory(number_at<std::uint32_t>(header, 48));
}

std::string OleFile::read_sector(std::uint32_t sector) const {
  if (sector >= sectors_) damaged(format("it refers to sector {} of {}", sector, sectors_));
  std::string bytes(static_cast<std::size_t>(sector_bytes_), '\0');
  file_.read((std::int64_t{sector} + 1) * sector_bytes_, bytes.data(), sector_bytes_);
  return bytes;
}

// The tables that say which sector follows which.
void OleFile::read_allocation(std::string_view header) {
  const std::size_t entries = static_cast<std::size_t>(sector_bytes_) / 4;
  const auto read_table_sector = [&](std::uint32_t sector) {
    const std::string bytes = read_sector(sector);
    for (std::size_t i = 0; i < entries; ++i) next_.push_back(number_at<std::uint32_t>(bytes, 4 * i));
  };
  // No more than one entry for each sector of the file is of use, however many the file claims to have.
  const auto whole = [&] { return static_cast<std::int64_t>(next_.size()) >= sectors_; };
  for (std::size_t i = 0; i < 109 && !whole(); ++i) {
    const auto sector = number_at<std::uint32_t>(header, 76 + 4 * i);
    if (sector <= last_sector) read_table_sector(sector);
  }
  std::uint32_t list = number_at<std::uint32_t>(header, 68);
  for (std::int64_t walked = 0; list <= last_sector && !whole(); ++walked) {
    if (walked > sectors_) damaged("its list of allocation tables runs in a circle");
    const std::string bytes = read_sector(list);
    for (std::size_t i = 0; i + 1 < entries && !whole(); ++i) {
      const auto sector = number_at<std::uint32_t>(bytes, 4 * i);
      if (sector <= last_sector) read_table_sector(sector);
    }
    list = number_at<std::uint32_t>(bytes, 4 * (entries - 1));
  }
  const auto first_small = number_at<std::uint32_t>(header, 60);
  if (first_small > last_sector) return;
  for (const std::uint32_t sector : chain(first_small, next_)) {
    const std::string bytes = read_sector(sector);
    for (std::size_t i = 0; i < entries; ++i) next_small_.push_back(number_at<std::uint32_t>(bytes, 4 * i));
  }
}

std::vector<std::uint32_t> OleFile::chain(std::uint32_t first, const std::vector<std::uint32_t>& next) const {
  std::vector<std::uint32_t> sectors;
  for (std::uint32_t sector = first; sector <= last_sector; sector = next[sector]) {
    if (sector >= next.size()) damaged(format("a stream leads to sector {}, which no table has", sector));
    if (sectors.size() >= next.size()) damaged("a stream runs in a circle");
    sectors.push_back(sector);
  }
  return sectors;
}

void OleFile::read_directory(std::uint32_t first_sector) {
  std::string entries;
  for (const std::uint32_t sector : chain(first_sector, next_)) entries += read_sector(sector);
  const std::size_t count = entries.size() / entry_bytes;
  const auto entry = [&](std::size_t i) { return std::string_view(entries).substr(i * entry_bytes, entry_bytes); };
  const auto stream_of = [&](std::string_view e, std::string name) {
    const auto bytes = sector_bytes_ == 512 ? number_at<std::uint32_t>(e, 120) : number_at<std::uint64_t>(e, 120);
    if (bytes > static_cast<std::uint64_t>(file_.size())) damaged(format("{} has {} bytes", name, bytes));
    return OleStream{std::move(name), static_cast<std::int64_t>(bytes), number_at<std::uint32_t>(e, 116)};
  };
  constexpr char root = 5, storage = 1, stream = 2;
  if (count == 0 || entry(0)[66] != root) damaged("it has no directory");
  small_ = stream_of(entry(0), "the stream of small streams");
  if (small_.bytes > 0) small_extents_ = pieces(chain(small_.first_sector, next_), small_.bytes, small_.name);

  struct Step {
    std::uint32_t entry;
    std::string folder;
    int depth;
  };
  constexpr int deepest = 32;
  std::vector<bool> seen(count, false);
  std::vector<Step> steps{{number_at<std::uint32_t>(entry(0), 76), "", 0}};
  while (!steps.empty()) {
    const Step step = std::move(steps.back());
    steps.pop_back();
    if (step.entry > last_sector) continue;
    if (step.entry >= count || seen[step.entry]) damaged("its directory is no tree");
    seen[step.entry] = true;
    const std::string_view e = entry(step.entry);
    std::string name = step.folder + name_of_entry(e);
    steps.push_back({number_at<std::uint32_t>(e, 72), step.folder, step.depth});  // right, seen after left
    if (e[66] == storage) {
      if (step.depth >= deepest) damaged(format("folders are nested more than {} deep", deepest));
      steps.push_back({number_at<std::uint32_t>(e, 76), name + "/", step.depth + 1});
    } else if (e[66] == stream) {
      by_name_.emplace(lower_case(name), streams_.size());
      streams_.push_back(stream_of(e, std::move(name)));
    }
    steps.push_back({number_at<std::uint32_t>(e, 68), step.folder, step.depth});
  }
}

const OleStream* OleFile::find(std::string_view name) const {
  const auto found = by_name_.find(lower_case(std::string(name)));
  return found == by_name_.end() ? nullptr : &streams_[found->second];
}

std::vector<OleExtent> OleFile::pieces(const std::vector<std::uint32_t>& sectors, std::int64_t bytes,
                                       const std::string& name) const {
  std::vector<OleExtent> extents;
  std::int64_t left = bytes;
  for (const std::uint32_t sector : sectors) {
    if (left <= 0) break;
    const std::int64_t offset = (std::int64_t{sector} + 1) * sector_bytes_, length = std::min(left, sector_bytes_);
    if (offset + length > file_.size())
      damaged(format("{} reaches byte {}, the file has {}", name, offset + length, file_.size()));
    if (!extents.empty() && extents.back().offset + extents.back().bytes == offset)
      extents.back().bytes += length;
    else
      extents.push_back({offset, length});
    left -= length;
  }
  if (left > 0) damaged(format("{} has {} bytes, {} of them are missing", name, bytes, left));
  return extents;
}

std::vector<OleExtent> OleFile::extents(const OleStream& stream) const {
  if (stream.bytes == 0) return {};
  if (stream.bytes >= small_below_) return pieces(chain(stream.first_sector, next_), stream.bytes, stream.name);
  // A small sector lies inside one sector of the file: both lengths are powers of two.
  std::vector<OleExtent> extents;
  std::int64_t left = stream.bytes;
  for (const std::uint32_t sector : chain(stream.first_sector, next_small_)) {
    if (left <= 0) break;
    std::int64_t at = sector * small_sector_bytes;
    const std::int64_t length = std::min(left, small_sector_bytes);
    if (at + length > small_.bytes) damaged(format("{} lies outside the stream of small streams", stream.name));
    auto piece = small_extents_.begin();
    for (; at >= piece->bytes; ++piece) at -= piece->bytes;
    extents.push_back({piece->offset + at, length});
    left -= length;
  }
  if (left > 0) damaged(format("{} has {} bytes, {} of them are missing", stream.name, stream.bytes, left));
  return extents;
}

std::string OleFile::read(const OleStream& stream, std::int64_t limit) const {
  std::string bytes;
  for (const OleExtent& extent : extents(stream)) {
    const auto have = static_cast<std::int64_t>(bytes.size());
    const std::int64_t more = std::min(extent.bytes, limit - have);
    if (more <= 0) break;
    bytes.resize(static_cast<std::size_t>(have + more));
    file_.read(extent.offset, bytes.data() + have, more);
  }
  return bytes;
}

}  // namespace lepus
