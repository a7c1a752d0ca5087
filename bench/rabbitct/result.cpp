// SPDX-License-Identifier: Apache-2.0
#include "bench/rabbitct/result.h"

#include "core/format.h"
#include "core/output_file.h"
#include "io/file.h"
#include "bench/rabbitct/bytes.h"
#include "bench/rabbitct/format.h"
#include <lepus/error.h>

namespace lepus::rabbitct {
namespace {

struct Magic {
  int version;
  std::int32_t begin, end;
};
constexpr Magic magics[] = {{1, 591984, 489195}, {2, 531982, 289135}};

[[noreturn]] void refuse_result(const InputFile& file, std::string what, std::string why) {
  throw Error(ErrorKind::input, {.what = std::move(what),
                                 .where = file.path().string(),
                                 .why = std::move(why),
                                 .hint = "give a result file of RabbitCT's runner or of 'lepus rabbitct run'"});
}

const Magic* magic_of(const InputFile& file) {
  if (file.size() < 4) return nullptr;
  unsigned char word[4];
  file.read(0, word, 4);
  for (const Magic& magic : magics)
    if (little_endian_at<std::int32_t>(word) == magic.begin) return &magic;
  return nullptr;
}

}  // namespace

bool is_result(const std::filesystem::path& path) { return magic_of(InputFile(path)) != nullptr; }

void write_result(const std::filesystem::path& path, const Result& result, bool force) {
  const Magic& magic = magics[result.version == 1 ? 0 : 1];
  std::string bytes;
  append_little_endian(bytes, magic.begin);
  if (magic.version == 2) append_little_endian(bytes, std::int32_t{2});
  append_little_endian(bytes, static_cast<std::int32_t>(result.size));
  append_little_endian(bytes, static_cast<std::int32_t>(result.microseconds.size()));
  for (const std::uint64_t t : result.microseconds) append_little_endian(bytes, t);
  for (const float hu : result.centre_slice) append_little_endian(bytes, hu);
  append_little_endian(bytes, result.mean_squared_error);
  append_little_endian(bytes, result.largest_error);
  for (const std::uint32_t count : result.histogram) append_little_endian(bytes, count);
  append_little_endian(bytes, magic.end);
  write_file(path, bytes, force);
}

Result read_result(const std::filesystem::path& path) {
  const InputFile file(path);
  const Magic* magic = magic_of(file);
  if (magic == nullptr)
    refuse_result(file, "this is not a RabbitCT result file", "its first word is neither 591984 nor 531982");
  const std::int64_t header = magic->version == 2 ? 16 : 12;
  if (file.size() < header) refuse_result(file, "the file is cut off", format("it has {} bytes", file.size()));
  unsigned char words[16];
  file.read(0, words, header);
  const auto word = [&](std::int64_t i) { return little_endian_at<std::int32_t>(words + 4 * i); };
  if (magic->version == 2 && word(1) != 2)
    refuse_result(file, "this version of the result file is not known", format("it is {}, known are 1 and 2", word(1)));
  const std::int64_t size = word(magic->version), views = word(magic->version + 1);
  if (std::find(sizes.begin(), sizes.end(), size) == sizes.end() || views <= 0)
    refuse_result(file, "the result file is damaged", format("it says {} voxels a side and {} views", size, views));
  const std::int64_t times = views * 8, slice = size * size * 4;
  const std::int64_t expected = header + times + slice + 16 + 44 + 4;
  if (file.size() != expected)
    refuse_result(
        file, file.size() < expected ? "the file is cut off" : "the file is longer than its header says",
        format("{} views and a slice of {} x {} take {} bytes, it has {}", views, size, size, expected, file.size()));
  Result result;
  result.version = magic->version;
  result.size = size;
  result.microseconds.resize(static_cast<std::size_t>(views));
  file.read(header, result.microseconds.data(), times);
  to_or_from_little_endian(result.microseconds.data(), views);
  result.centre_slice.resize(static_cast<std::size_t>(size * size));
  file.read(header + times, result.centre_slice.data(), slice);
  to_or_from_little_endian(result.centre_slice.data(), size * size);
  unsigned char tail[64];
  file.read(header + times + slice, tail, 64);
  result.mean_squared_error = little_endian_at<double>(tail);
  result.largest_error = little_endian_at<double>(tail + 8);
  for (std::size_t i = 0; i < 11; ++i) result.histogram[i] = little_endian_at<std::uint32_t>(tail + 16 + 4 * i);
  if (const auto end = little_endian_at<std::int32_t>(tail + 60); end != magic->end)
    refuse_result(file, "the result file is damaged", format("its last word is {} instead of {}", end, magic->end));
  return result;
}

}  // namespace lepus::rabbitct
