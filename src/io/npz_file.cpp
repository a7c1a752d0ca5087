// SPDX-License-Identifier: Apache-2.0
#include "io/npz_file.h"

#include <bit>

#include "core/crc32.h"
#include "core/format.h"
#include "core/output_file.h"
#include <lepus/error.h>

namespace lepus {
namespace {

static_assert(std::endian::native == std::endian::little, "npy headers below say so");

std::string npy_header(const NpzArray& array) {
  const std::string shape = array.count < 0 ? "()" : format("({},)", array.count);
  std::string text = format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", array.type, shape);
  // Magic, version and length take 10 bytes; all of it ends with a line at a multiple of 64.
  text.append(63 - (10 + text.size()) % 64, ' ').push_back('\n');
  const auto length = static_cast<std::uint16_t>(text.size());
  std::string header("\x93NUMPY\x01\x00", 8);
  header.push_back(static_cast<char>(length & 0xFF));
  header.push_back(static_cast<char>(length >> 8));
  return header + text;
}

// Numbers of an archive's records, lowest byte first.
class Record {
public:
  Record& two(std::uint32_t x) { return put(x, 2); }
  Record& four(std::uint32_t x) { return put(x, 4); }
  Record& text(const std::string& s) {
    bytes_ += s;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

private:
  Record& put(std::uint32_t x, int n) {
    for (int i = 0; i < n; ++i) bytes_.push_back(static_cast<char>(x >> (8 * i) & 0xFF));
    return *this;
  }
  std::string bytes_;
};

}  // namespace

void write_npz_file(const std::filesystem::path& file, bool force, const std::vector<NpzArray>& arrays) {
  constexpr std::int64_t header_bytes = 512;  // of each array, more than needed
  std::int64_t bytes = 0;
  for (const NpzArray& array : arrays) bytes += array.bytes + header_bytes;
  if (bytes >= (std::int64_t{1} << 32))
    throw Error(ErrorKind::usage, {.what = "the arrays are too large for an .npz file",
                                   .where = file.string(),
                                   .why = format("they have {} MiB, and it may have 4095", bytes >> 20),
                                   .hint = "take a smaller problem"});
  PartialFile out(file, force, bytes);
  constexpr std::uint32_t version = 20, day = 0x21;  // ZIP 2.0; the first of January 1980
  Record directory;
  for (const NpzArray& array : arrays) {
    const std::string header = npy_header(array), name = array.name + ".npy";
    const std::uint32_t sum =
        crc32(crc32(0, header.data(), static_cast<std::int64_t>(header.size())), array.data, array.bytes);
    const auto size = static_cast<std::uint32_t>(static_cast<std::int64_t>(header.size()) + array.bytes);
    const auto start = static_cast<std::uint32_t>(out.end());
    // What both records of a file have in common: version, flags, not compressed, time, day, sum, sizes, name, extra.
    const auto common = [&](Record& record) {
      record.two(version).two(0).two(0).two(0).two(day).four(sum).four(size).four(size);
      record.two(static_cast<std::uint32_t>(name.size())).two(0);
    };
    Record local;
    local.four(0x04034B50);
    common(local);
    out.append(local.text(name).bytes());
    out.append(header);
    out.append(array.data, array.bytes);
    directory.four(0x02014B50).two(version);
    common(directory);
    directory.two(0).two(0).two(0).four(0).four(start).text(name);
  }
  const auto start = static_cast<std::uint32_t>(out.end());
  const auto size = static_cast<std::uint32_t>(directory.bytes().size()),
             count = static_cast<std::uint32_t>(arrays.size());
  Record end;
  end.four(0x06054B50).two(0).two(0).two(count).two(count).four(size).four(start).two(0);
  out.append(directory.bytes());
  out.append(end.bytes());
  out.commit();
}

}  // namespace lepus
