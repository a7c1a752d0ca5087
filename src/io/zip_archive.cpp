// SPDX-License-Identifier: Apache-2.0
#include "io/zip_archive.h"

#include <algorithm>
#include <string_view>

#include "core/format.h"
#include "io/header_text.h"

namespace lepus {
namespace {

constexpr std::uint32_t local_signature = 0x04034B50, entry_signature = 0x02014B50, end_signature = 0x06054B50,
                        long_end_signature = 0x06064B50, locator_signature = 0x07064B50;
constexpr std::uint32_t too_long = 0xFFFFFFFF;  // the number stands in the 64-bit record

// Numbers of an archive's records, lowest byte first.
class Record {
public:
  Record& two(std::uint64_t x) { return put(x, 2); }
  Record& four(std::uint64_t x) { return put(x, 4); }
  Record& eight(std::uint64_t x) { return put(x, 8); }
  Record& text(const std::string& s) {
    bytes_ += s;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

private:
  Record& put(std::uint64_t x, int n) {
    for (int i = 0; i < n; ++i) bytes_.push_back(static_cast<char>(x >> (8 * i) & 0xFF));
    return *this;
  }
  std::string bytes_;
};

std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < count && at + i < bytes.size(); ++i)
    number |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return number;
}

bool needs_64_bits(std::int64_t number) { return number >= std::int64_t{too_long}; }
std::uint64_t or_too_long(std::int64_t number) {
  return needs_64_bits(number) ? too_long : static_cast<std::uint64_t>(number);
}

// What both records of an entry have in common: version, flags, not packed, time, day, sum, sizes, length of the name.
void common_part(Record& record, const ZipEntry& entry) {
  constexpr std::uint32_t day = 0x21;  // the first of January 1980
  const std::uint64_t size = or_too_long(entry.bytes);
  record.two(needs_64_bits(entry.bytes) || needs_64_bits(entry.start) ? 45 : 20).two(0).two(0).two(0).two(day);
  record.four(entry.checksum).four(size).four(size).two(entry.name.size());
}

struct Directory {
  std::int64_t start = 0, bytes = 0;
};

std::string read_bytes(const InputFile& file, std::int64_t offset, std::int64_t bytes) {
  std::string text(static_cast<std::size_t>(bytes), '\0');
  file.read(offset, text.data(), bytes);
  return text;
}

// From the record at the end of the archive, which may be followed by a comment of up to 64 KiB.
Directory find_directory(const InputFile& file) {
  constexpr std::int64_t record = 22, locator = 20, longest_comment = 65535;
  const std::int64_t tail_bytes = std::min(file.size(), record + longest_comment + locator);
  const std::string tail = read_bytes(file, file.size() - tail_bytes, tail_bytes);
  for (std::size_t at = tail.size() < 22 ? 0 : tail.size() - 22 + 1; at-- > 0;) {
    if (number_at(tail, at, 4) != end_signature || at + 22 > tail.size()) continue;
    Directory found{static_cast<std::int64_t>(number_at(tail, at + 16, 4)),
                    static_cast<std::int64_t>(number_at(tail, at + 12, 4))};
    if (at >= 20 && number_at(tail, at - 20, 4) == locator_signature) {
      const auto place = static_cast<std::int64_t>(number_at(tail, at - 12, 8));
      if (place < 0 || place > file.size() - 56) throw_bad_header(file.path(), "the archive's directory is damaged");
      const std::string end = read_bytes(file, place, 56);
      if (number_at(end, 0, 4) != long_end_signature)
        throw_bad_header(file.path(), "the archive's directory is damaged");
      found = {static_cast<std::int64_t>(number_at(end, 48, 8)), static_cast<std::int64_t>(number_at(end, 40, 8))};
    }
    if (found.start < 0 || found.bytes < 0 || found.start > file.size() || found.bytes > file.size() - found.start)
      throw_bad_header(file.path(), "the archive's directory lies outside the file");
    return found;
  }
  throw_bad_header(file.path(), "the archive has no directory: it is cut off, or no ZIP");
}

// The 64-bit numbers of an entry stand in its extra fields, in this order, each only where the short one is too long.
void read_long_sizes(std::string_view extra, ZipEntry& entry) {
  for (std::size_t at = 0; at + 4 <= extra.size();) {
    const std::size_t length = number_at(extra, at + 2, 2);
    if (number_at(extra, at, 2) == 1) {
      std::string_view numbers = extra.substr(at + 4, length);
      for (std::int64_t* number : {&entry.bytes, &entry.packed_bytes, &entry.start}) {
        if (*number != std::int64_t{too_long} || numbers.size() < 8) continue;
        *number = static_cast<std::int64_t>(number_at(numbers, 0, 8));
        numbers.remove_prefix(8);
      }
    }
    at += 4 + length;
  }
}

}  // namespace

std::vector<ZipEntry> read_zip_directory(const InputFile& file) {
  const Directory place = find_directory(file);
  constexpr std::int64_t longest = std::int64_t{64} << 20;
  if (place.bytes > longest) throw_bad_header(file.path(), "the archive's directory is larger than 64 MiB");
  const std::string all = read_bytes(file, place.start, place.bytes);
  std::vector<ZipEntry> entries;
  for (std::size_t at = 0; at + 46 <= all.size();) {
    const std::string_view bytes = std::string_view(all).substr(at);
    if (number_at(bytes, 0, 4) != entry_signature) throw_bad_header(file.path(), "the archive's directory is damaged");
    const std::size_t name = number_at(bytes, 28, 2), extra = number_at(bytes, 30, 2),
                      comment = number_at(bytes, 32, 2);
    if (46 + name + extra + comment > bytes.size()) throw_bad_header(file.path(), "the archive's directory is cut off");
    at += 46 + name + extra + comment;
    ZipEntry entry{.name = std::string(bytes.substr(46, name)),
                   .checksum = static_cast<std::uint32_t>(number_at(bytes, 16, 4)),
                   .bytes = static_cast<std::int64_t>(number_at(bytes, 24, 4)),
                   .start = static_cast<std::int64_t>(number_at(bytes, 42, 4)),
                   .data = 0,
                   .packed_bytes = static_cast<std::int64_t>(number_at(bytes, 20, 4)),
                   .packed = number_at(bytes, 10, 2) == 8};
    read_long_sizes(bytes.substr(46 + name, extra), entry);
    const bool encrypted = number_at(bytes, 8, 2) & 1, plain = number_at(bytes, 10, 2) == 0;
    if (encrypted || (!plain && !entry.packed)) continue;
    if (entry.start < 0 || entry.start > file.size() - 30)
      throw_bad_header(file.path(), format("{} lies outside the archive", entry.name));
    const std::string local = read_bytes(file, entry.start, 30);
    entry.data = entry.start + 30 + static_cast<std::int64_t>(number_at(local, 26, 2) + number_at(local, 28, 2));
    if (number_at(local, 0, 4) != local_signature || entry.data > file.size() || entry.packed_bytes < 0 ||
        entry.packed_bytes > file.size() - entry.data || (plain && entry.bytes != entry.packed_bytes))
      throw_bad_header(file.path(), format("{} lies outside the archive", entry.name));
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::string zip_record(const ZipEntry& entry) {
  Record record, extra;
  if (needs_64_bits(entry.bytes))
    extra.two(1).two(16).eight(static_cast<std::uint64_t>(entry.bytes)).eight(static_cast<std::uint64_t>(entry.bytes));
  record.four(local_signature);
  common_part(record, entry);
  return record.two(extra.bytes().size()).text(entry.name).text(extra.bytes()).bytes();
}

std::string zip_directory(const std::vector<ZipEntry>& entries, std::int64_t start) {
  Record directory;
  for (const ZipEntry& entry : entries) {
    Record numbers;
    if (needs_64_bits(entry.bytes))
      numbers.eight(static_cast<std::uint64_t>(entry.bytes)).eight(static_cast<std::uint64_t>(entry.bytes));
    if (needs_64_bits(entry.start)) numbers.eight(static_cast<std::uint64_t>(entry.start));
    Record extra;
    if (!numbers.bytes().empty()) extra.two(1).two(numbers.bytes().size()).text(numbers.bytes());
    directory.four(entry_signature).two(45);
    common_part(directory, entry);
    directory.two(extra.bytes().size()).two(0).two(0).two(0).four(0).four(or_too_long(entry.start));
    directory.text(entry.name).text(extra.bytes());
  }
  const auto size = static_cast<std::int64_t>(directory.bytes().size());
  const std::uint64_t count = entries.size();
  if (needs_64_bits(start) || count >= 0xFFFF) {
    const std::int64_t end = start + size;
    directory.four(long_end_signature).eight(44).two(45).two(45).four(0).four(0).eight(count).eight(count);
    directory.eight(static_cast<std::uint64_t>(size)).eight(static_cast<std::uint64_t>(start));
    directory.four(locator_signature).four(0).eight(static_cast<std::uint64_t>(end)).four(1);
  }
  const std::uint64_t shown = std::min<std::uint64_t>(count, 0xFFFF);
  directory.four(end_signature).two(0).two(0).two(shown).two(shown).four(or_too_long(size)).four(or_too_long(start));
  return directory.two(0).bytes();
}

}  // namespace lepus
