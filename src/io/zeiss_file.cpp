// SPDX-License-Identifier: Apache-2.0
#include "io/zeiss_file.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <initializer_list>
#include <map>

#include "core/format.h"
#include "io/byte_text.h"
#include "io/header_text.h"
#include "io/pixels.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t longest_header_stream = 16 << 20;  // a number for each of 4,000,000 views

template <class Number>
std::vector<double> numbers_in(const std::string& bytes) {
  std::vector<double> numbers;
  for (std::size_t at = 0; at + sizeof(Number) <= bytes.size(); at += sizeof(Number))
    numbers.push_back(static_cast<double>(number_at<Number>(bytes, at)));
  return numbers;
}

bool ends_with_any(const std::string& name, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view e) { return name.ends_with(e); });
}

bool is_text(const std::string& bytes) {
  const std::string text = text_at(bytes, 0, bytes.size());
  return text.size() > 1 && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isprint(c) != 0; });
}

// A float has an exponent in the middle of its range; an integer that is read as a float is next to zero.
bool looks_like_floats(const std::vector<double>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double v) {
    return v == 0 || (std::isfinite(v) && std::abs(v) > 1e-20 && std::abs(v) < 1e20);
  });
}

}  // namespace

ZeissFile::ZeissFile(const fs::path& path) : ole_(path) {
  if (!ole_.find("ImageInfo/ImageWidth"))
    throw Error(ErrorKind::input, {.what = "not a file of a Zeiss microscope",
                                   .where = path.string(),
                                   .why = "it is an OLE compound file without ImageInfo/ImageWidth",
                                   .hint = "name a .txrm, .xrm or .txm file"});
}

std::vector<double> ZeissFile::integers(std::string_view stream) const {
  const OleStream* found = ole_.find(stream);
  return found ? numbers_in<std::int32_t>(ole_.read(*found, longest_header_stream)) : std::vector<double>{};
}

std::vector<double> ZeissFile::floats(std::string_view stream) const {
  const OleStream* found = ole_.find(stream);
  return found ? numbers_in<float>(ole_.read(*found, longest_header_stream)) : std::vector<double>{};
}

std::optional<std::int64_t> ZeissFile::integer(std::string_view stream) const {
  const auto all = integers(stream);
  return all.empty() ? std::nullopt : std::optional(static_cast<std::int64_t>(all.front()));
}

std::optional<double> ZeissFile::number(std::string_view stream) const {
  const auto all = floats(stream);
  return all.empty() ? std::nullopt : std::optional(all.front());
}

ZeissImages ZeissFile::of_type(std::vector<const OleStream*> streams, std::string_view type_stream) const {
  ZeissImages images{.columns = integer("ImageInfo/ImageWidth").value_or(0),
                     .rows = integer("ImageInfo/ImageHeight").value_or(0),
                     .streams = std::move(streams)};
  const std::int64_t code = integer(type_stream).value_or(0);
  if (code != 5 && code != 10)
    throw_unsupported_header(ole_.path(), format("{} is {}", type_stream, code),
                             "lepus reads 5 (uint16) and 10 (float32)");
  images.type = code == 5 ? PixelType::u16 : PixelType::f32;
  const auto bytes = checked_product(images.columns, images.rows, bytes_per_pixel(images.type));
  if (!bytes)
    throw_bad_header(ole_.path(), format("its images have {} columns and {} rows", images.columns, images.rows));
  for (const OleStream* stream : images.streams)
    if (stream->bytes != *bytes)
      throw_bad_header(ole_.path(), format("{} has {} bytes, {} need {}", stream->name, stream->bytes,
                                           describe(images.columns, images.rows, images.type), *bytes));
  return images;
}

ZeissImages ZeissFile::images(std::string_view set) const {
  std::vector<const OleStream*> streams;
  if (set == "ReferenceData") {
    if (const OleStream* one = ole_.find("ReferenceData/Image")) return of_type({one}, "ReferenceData/DataType");
    while (const OleStream* next = ole_.find(format("MultiReferenceData/Image{}", streams.size() + 1)))
      streams.push_back(next);
    return streams.empty() ? ZeissImages{} : of_type(std::move(streams), "MultiReferenceData/DataType");
  }
  // In folders of a hundred. Later images than the first that is missing are a scan with a hole.
  std::map<std::int64_t, const OleStream*> numbered;
  for (const OleStream& stream : ole_.streams()) {
    const std::size_t slash = stream.name.find("/Image");
    if (!stream.name.starts_with("ImageData") || slash == std::string::npos) continue;
    const std::string digits = stream.name.substr(slash + 6);
    if (digits.empty() || digits.size() > 9 || digits.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::int64_t number = std::stoll(digits);
    if (stream.name == format("ImageData{}/Image{}", (number + 99) / 100, number)) numbered.emplace(number, &stream);
  }
  for (const auto& [number, stream] : numbered) {
    const auto expected = static_cast<std::int64_t>(streams.size()) + 1;
    if (number != expected)
      throw Error(ErrorKind::input, {.what = "an image is missing",
                                     .where = ole_.path().string(),
                                     .why = format("there is {}, but no ImageData{}/Image{}", stream->name,
                                                   (expected + 99) / 100, expected),
                                     .hint = "copy the file again from the scanner"});
    streams.push_back(stream);
  }
  if (streams.empty()) throw_bad_header(ole_.path(), "there is no ImageData1/Image1");
  return of_type(std::move(streams), "ImageInfo/DataType");
}

std::string ZeissFile::shown_value(const OleStream& stream) const {
  constexpr std::int64_t enough = 64;
  if (stream.bytes == 0) return "(empty)";
  const std::string bytes = ole_.read(stream, stream.bytes > 4096 ? enough : 4096);
  if (is_text(bytes)) return text_at(bytes, 0, bytes.size());
  if (std::all_of(bytes.begin(), bytes.end(), [](char c) { return c == 0; })) return "0";
  if (stream.bytes % 4 != 0 || bytes.size() < 4) return format("({} bytes)", stream.bytes);
  std::vector<double> numbers = numbers_in<float>(bytes);
  const bool always_integer = ends_with_any(stream.name, {"DataType", "Width", "Height", "NoOfImages", "ImagesTaken"});
  if (always_integer || !looks_like_floats(numbers)) numbers = numbers_in<std::int32_t>(bytes);
  std::string text;
  const std::size_t shown = std::min<std::size_t>(numbers.size(), 8);
  for (std::size_t i = 0; i < shown; ++i) text += format("{}{}", i ? " " : "", static_cast<float>(numbers[i]));
  if (stream.bytes / 4 > static_cast<std::int64_t>(shown)) text += format(" ... ({} numbers)", stream.bytes / 4);
  return text;
}

}  // namespace lepus
