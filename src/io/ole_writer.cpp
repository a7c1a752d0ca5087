// SPDX-License-Identifier: Apache-2.0
#include "io/ole_writer.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <map>
#include <memory>

#include "core/format.h"
#include "io/byte_text.h"
#include <lepus/error.h>

namespace lepus {

namespace {

constexpr std::int64_t ole_sector = 4096, ole_small_sector = 64, ole_small_below = 4096;
constexpr std::uint32_t end_of_chain = 0xFFFFFFFE, free_sector = 0xFFFFFFFF, table_sector = 0xFFFFFFFD,
                        list_sector = 0xFFFFFFFC, no_entry = 0xFFFFFFFF;
constexpr std::size_t numbers_in_sector = ole_sector / 4, tables_in_header = 109;

std::int64_t sectors_for(std::int64_t bytes, std::int64_t sector) { return (bytes + sector - 1) / sector; }

// The order of names that the format asks for: shorter ones first, then by capital letters.
struct NameOrder {
  static std::string key(const std::string& name) {
    std::string upper = name;
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return upper;
  }
  bool operator()(const std::string& a, const std::string& b) const {
    return a.size() != b.size() ? a.size() < b.size() : key(a) < key(b);
  }
};

struct Folder;
struct Entry {
  const std::string* name = nullptr;
  std::unique_ptr<Folder> folder;  // of a storage
  std::uint32_t first = 0;
  std::int64_t bytes = 0;
};
struct Folder {
  std::map<std::string, Entry, NameOrder> entries;
};

// Entries of 128 bytes; the members of a folder are a binary tree, red and black.
class DirectoryText {
public:
  std::string bytes;

  std::uint32_t add(const std::string& name, char type, std::uint32_t first, std::int64_t size) {
    const auto number = static_cast<std::uint32_t>(bytes.size() / 128);
    std::string entry(64, '\0');
    for (std::size_t i = 0; i < name.size(); ++i) entry[2 * i] = name[i];
    append_number(entry, static_cast<std::uint16_t>(name.empty() ? 0 : 2 * (name.size() + 1)));
    entry += type;
    entry += '\1';  // black
    for (int i = 0; i < 3; ++i) append_number(entry, no_entry);
    entry.append(36, '\0');  // class, state, times
    append_number(entry, first);
    append_number(entry, static_cast<std::uint64_t>(size));
    bytes += entry;
    return number;
  }
  void set(std::uint32_t entry, std::size_t offset, std::uint32_t value) {
    bytes.replace(128 * std::size_t{entry} + offset, 4, reinterpret_cast<const char*>(&value), 4);
  }

  // Halves of halves: all levels but the last are full, so that red ones in the last keep the tree's rule.
  std::uint32_t add_members(const Folder& folder) {
    std::vector<std::pair<const std::string*, const Entry*>> members;
    for (const auto& [name, entry] : folder.entries) members.emplace_back(&name, &entry);
    const int full_levels = static_cast<int>(std::bit_width(members.size() + 1)) - 1;
    return add_range(members, 0, members.size(), 0, full_levels);
  }

private:
  using Members = std::vector<std::pair<const std::string*, const Entry*>>;
  std::uint32_t add_range(const Members& members, std::size_t from, std::size_t to, int level, int full_levels) {
    if (from == to) return no_entry;
    const std::size_t middle = from + (to - from) / 2;
    const auto& [name, entry] = members[middle];
    const std::uint32_t number = add(*name, entry->folder ? '\1' : '\2', entry->first, entry->bytes);
    if (level >= full_levels) bytes[128 * std::size_t{number} + 67] = '\0';  // red
    set(number, 68, add_range(members, from, middle, level + 1, full_levels));
    set(number, 72, add_range(members, middle + 1, to, level + 1, full_levels));
    if (entry->folder) set(number, 76, add_members(*entry->folder));
    return number;
  }
};

}  // namespace

std::uint32_t OleWriter::take_sectors(std::int64_t bytes) {
  const auto first = static_cast<std::uint32_t>(next_.size());
  for (std::int64_t i = sectors_for(bytes, ole_sector); i > 0; --i)
    next_.push_back(i == 1 ? end_of_chain : static_cast<std::uint32_t>(next_.size()) + 1);
  return first;
}

std::uint32_t OleWriter::append_sectors(const std::string& bytes) {
  const std::uint32_t first = take_sectors(static_cast<std::int64_t>(bytes.size()));
  std::string whole = bytes;
  whole.resize(static_cast<std::size_t>(sectors_for(static_cast<std::int64_t>(bytes.size()), ole_sector) * ole_sector));
  file_.write((std::int64_t{first} + 1) * ole_sector, whole.data(), static_cast<std::int64_t>(whole.size()));
  return first;
}

std::size_t OleWriter::reserve(std::string name, std::int64_t bytes) {
  if (bytes < ole_small_below)
    throw Error(ErrorKind::internal, {.what = "a small stream has no place of its own",
                                      .where = name,
                                      .why = format("{} bytes", bytes),
                                      .hint = "report this"});
  const std::uint32_t first = take_sectors(bytes);
  streams_.push_back({std::move(name), bytes, first, {}});
  return streams_.size() - 1;
}

void OleWriter::write(std::size_t stream, std::int64_t offset, const void* data, std::int64_t bytes) {
  file_.write((std::int64_t{streams_.at(stream).first} + 1) * ole_sector + offset, data, bytes);
}

void OleWriter::add(std::string name, std::string bytes) {
  const auto size = static_cast<std::int64_t>(bytes.size());
  if (size >= ole_small_below) {
    const std::size_t stream = reserve(std::move(name), size);
    write(stream, 0, bytes.data(), size);
  } else {
    streams_.push_back({std::move(name), size, end_of_chain, std::move(bytes)});
  }
}

std::string OleWriter::directory(std::uint32_t small_first, std::int64_t small_bytes) const {
  Folder top;
  for (const Stream& stream : streams_) {
    Folder* folder = &top;
    std::size_t from = 0;
    for (std::size_t slash; (slash = stream.name.find('/', from)) != std::string::npos; from = slash + 1) {
      Entry& entry = folder->entries[stream.name.substr(from, slash - from)];
      if (!entry.folder) entry.folder = std::make_unique<Folder>();
      folder = entry.folder.get();
    }
    Entry& entry = folder->entries[stream.name.substr(from)];
    entry.first = stream.first;
    entry.bytes = stream.bytes;
  }
  DirectoryText text;
  text.add("Root Entry", '\5', small_first, small_bytes);
  text.set(0, 76, text.add_members(top));
  while (text.bytes.size() % ole_sector != 0) {
    const std::uint32_t unused = text.add("", '\0', 0, 0);
    text.bytes[128 * std::size_t{unused} + 67] = '\0';
  }
  return text.bytes;
}

void OleWriter::finish() {
  std::string small, small_next;
  for (Stream& stream : streams_) {
    if (stream.small.empty()) continue;
    stream.first = static_cast<std::uint32_t>(static_cast<std::int64_t>(small.size()) / ole_small_sector);
    const std::int64_t pieces = sectors_for(stream.bytes, ole_small_sector);
    for (std::int64_t i = 1; i <= pieces; ++i)
      append_number(small_next, i == pieces ? end_of_chain : stream.first + static_cast<std::uint32_t>(i));
    small += stream.small;
    small.resize((small.size() + ole_small_sector - 1) / ole_small_sector * ole_small_sector);
  }
  while (small_next.size() % ole_sector != 0) append_number(small_next, free_sector);
  const auto small_bytes = static_cast<std::int64_t>(small.size());
  const std::uint32_t small_first = small.empty() ? end_of_chain : append_sectors(small);
  const std::uint32_t small_table = small.empty() ? end_of_chain : append_sectors(small_next);
  const std::string directory_bytes = directory(small_first, small_bytes);
  const std::uint32_t directory_first = append_sectors(directory_bytes);

  // The tables describe themselves, too: as many as are needed for all others and for them.
  std::size_t tables = 0, lists = 0;
  for (std::size_t needed = 1; tables < needed;) {
    tables = needed;
    lists =
        tables <= tables_in_header ? 0 : (tables - tables_in_header + numbers_in_sector - 2) / (numbers_in_sector - 1);
    needed = (next_.size() + tables + lists + numbers_in_sector - 1) / numbers_in_sector;
  }
  const std::size_t first_table = next_.size(), first_list = first_table + tables;
  next_.insert(next_.end(), tables, table_sector);
  next_.insert(next_.end(), lists, list_sector);
  std::vector<std::uint32_t> table = next_;
  table.resize(tables * numbers_in_sector, free_sector);
  const auto place = [](std::size_t sector) { return static_cast<std::int64_t>(sector + 1) * ole_sector; };
  file_.write(place(first_table), table.data(), static_cast<std::int64_t>(4 * table.size()));
  for (std::size_t k = 0; k < lists; ++k) {
    std::string list;
    for (std::size_t i = 0; i + 1 < numbers_in_sector; ++i) {
      const std::size_t number = tables_in_header + k * (numbers_in_sector - 1) + i;
      append_number(list, number < tables ? static_cast<std::uint32_t>(first_table + number) : free_sector);
    }
    append_number(list, k + 1 < lists ? static_cast<std::uint32_t>(first_list + k + 1) : end_of_chain);
    file_.write(place(first_list + k), list.data(), ole_sector);
  }

  std::string header("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", 8);
  header.append(16, '\0');  // class
  for (const std::uint16_t word : std::initializer_list<std::uint16_t>{0x3E, 4, 0xFFFE, 12, 6, 0, 0, 0})
    append_number(header, word);
  for (const std::size_t number :
       {directory_bytes.size() / ole_sector, tables, std::size_t{directory_first}, std::size_t{0},
        std::size_t{ole_small_below}, std::size_t{small_table}, small_next.size() / ole_sector,
        lists > 0 ? first_list : std::size_t{end_of_chain}, lists})
    append_number(header, static_cast<std::uint32_t>(number));
  for (std::size_t i = 0; i < tables_in_header; ++i)
    append_number(header, i < tables ? static_cast<std::uint32_t>(first_table + i) : free_sector);
  header.resize(ole_sector);
  file_.write(0, header.data(), ole_sector);
  file_.commit();
}

}  // namespace lepus
