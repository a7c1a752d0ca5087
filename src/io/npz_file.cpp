// SPDX-License-Identifier: Apache-2.0
#include "io/npz_file.h"

#include <bit>

#include "core/crc32.h"
#include "io/npy_header.h"

namespace lepus {

static_assert(std::endian::native == std::endian::little, "the types of the arrays say so");

void append_npz_array(PartialFile& out, const NpzArray& array, std::vector<ZipEntry>& entries) {
  std::vector<std::int64_t> shape;
  if (array.count >= 0) shape.push_back(array.count);
  const std::string header = npy_header(array.type, shape);
  ZipEntry entry;
  entry.name = array.name + ".npy";
  entry.checksum = crc32(crc32(0, header.data(), static_cast<std::int64_t>(header.size())), array.data, array.bytes);
  entry.bytes = static_cast<std::int64_t>(header.size()) + array.bytes;
  entry.start = out.end();
  out.append(zip_record(entry) + header);
  out.append(array.data, array.bytes);
  entries.push_back(std::move(entry));
}

void write_npz_file(const std::filesystem::path& file, bool force, const std::vector<NpzArray>& arrays) {
  constexpr std::int64_t header_bytes = 512;  // of each array, more than needed
  std::int64_t bytes = 0;
  for (const NpzArray& array : arrays) bytes += array.bytes + header_bytes;
  PartialFile out(file, force, bytes);
  std::vector<ZipEntry> entries;
  for (const NpzArray& array : arrays) append_npz_array(out, array, entries);
  out.append(zip_directory(entries, out.end()));
  out.commit();
}

}  // namespace lepus
