// SPDX-License-Identifier: Apache-2.0
#include "io/dicom_file.h"

#include <algorithm>
#include <array>
#include <random>

#include "core/format.h"
#include "core/input_file.h"
#include "io/header_text.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

using namespace std::string_view_literals;

constexpr std::uint32_t undefined_length = 0xFFFFFFFF;
constexpr DicomTag item_tag = 0xFFFEE000, item_end = 0xFFFEE00D, sequence_end = 0xFFFEE0DD;
constexpr std::string_view explicit_little = "1.2.840.10008.1.2.1", implicit_little = "1.2.840.10008.1.2";

// Without types in the file nothing else says that these are sequences.
constexpr std::array<DicomTag, 8> known_sequences{0x52009229, 0x52009230, 0x00289110, 0x00209116,
                                                  0x00289145, 0x00209113, 0x00209111, 0x00189301};

// Types whose length has four bytes, after two that say nothing.
bool has_long_length(std::string_view type) {
  constexpr std::array long_types{"OB"sv, "OD"sv, "OF"sv, "OL"sv, "OV"sv, "OW"sv, "SQ"sv,
                                  "UC"sv, "UN"sv, "UR"sv, "UT"sv, "SV"sv, "UV"sv};
  return std::find(long_types.begin(), long_types.end(), type) != long_types.end();
}

class DicomReader {
public:
  explicit DicomReader(const fs::path& path) : file_(path) {}

  DicomFile read() {
    const std::string start = file_.head(132);
    if (start.size() < 132 || start.substr(128) != "DICM") throw_bad_header(file_.path(), "it is no DICOM file");
    at_ = 132;
    explicit_ = true;
    DicomItem own;
    while (at_ + 8 <= file_.size() && group_ahead() == 2) element(own, 0);
    const std::string syntax = own.text(0x00020010);
    explicit_ = syntax != implicit_little;
    if (explicit_ && syntax != explicit_little)
      throw Error(ErrorKind::unsupported,
                  {.what = "DICOM file whose pixels are packed or in another byte order",
                   .where = file_.path().string(),
                   .why = format("its transfer syntax is {}", syntax),
                   .hint = "unpack it: gdcmconv --raw in.dcm out.dcm, or dcmdjpeg in.dcm out.dcm"});
    while (found_.pixel_tag == 0 && at_ < file_.size()) element(found_.data, 0);
    if (found_.pixel_tag == 0) throw_bad_header(file_.path(), "it has no pixels");
    return std::move(found_);
  }

private:
  template <class Number>
  Number take() {
    Number value{};
    file_.read(at_, &value, sizeof value);
    at_ += static_cast<std::int64_t>(sizeof value);
    return value;
  }
  std::uint16_t group_ahead() const {
    std::uint16_t group = 0;
    file_.read(at_, &group, 2);
    return group;
  }
  DicomTag take_tag() {
    const auto group = take<std::uint16_t>(), number = take<std::uint16_t>();
    return DicomTag{group} << 16 | number;
  }
  void check_length(std::uint32_t length) const {
    if (length > file_.size() - at_)
      throw_bad_header(file_.path(),
                       format("an element of {} bytes at byte {}, and the file ends before", length, at_));
  }

  void element(DicomItem& into, int depth) {
    const DicomTag tag = take_tag();
    std::string type;
    std::uint32_t length = 0;
    if (explicit_) {
      type.resize(2);
      file_.read(at_, type.data(), 2);
      at_ += 2;
      length = take<std::uint16_t>();
      if (has_long_length(type)) length = take<std::uint32_t>();
    } else {
      length = take<std::uint32_t>();
    }
    const bool pixels = tag == 0x7FE00010 || tag == 0x7FE00008 || tag == 0x7FE00009;
    if (pixels && depth == 0) {
      if (length == undefined_length) throw_bad_header(file_.path(), "the pixels have no length");
      check_length(length);
      found_.pixel_tag = tag;
      found_.pixel_offset = at_;
      found_.pixel_bytes = length;
      return;
    }
    const bool sequence =
        type == "SQ" || length == undefined_length ||
        (!explicit_ && std::find(known_sequences.begin(), known_sequences.end(), tag) != known_sequences.end());
    if (sequence) return items(into.elements[tag], length, depth + 1);
    check_length(length);
    constexpr std::uint32_t longest = 1 << 20;
    if (length <= longest) {
      std::string value(length, '\0');
      file_.read(at_, value.data(), length);
      into.elements[tag].type = type;
      into.elements[tag].value = std::move(value);
    }
    at_ += length;
  }

  void items(DicomElement& sequence, std::uint32_t length, int depth) {
    if (depth > 16) throw_bad_header(file_.path(), "sequences within sequences, more than 16 deep");
    if (length != undefined_length) check_length(length);
    const std::int64_t end = length == undefined_length ? file_.size() : at_ + length;
    while (at_ < end) {
      const DicomTag tag = take_tag();
      const auto item_length = take<std::uint32_t>();
      if (tag == sequence_end) return;
      if (tag != item_tag) throw_bad_header(file_.path(), format("no item at byte {}", at_ - 8));
      if (item_length != undefined_length) check_length(item_length);
      const std::int64_t item_stop = item_length == undefined_length ? file_.size() : at_ + item_length;
      sequence.items.emplace_back();
      while (at_ < item_stop) {
        if (item_length == undefined_length && at_ + 8 <= file_.size() && group_ahead() == 0xFFFE) {
          if (take_tag() != item_end) throw_bad_header(file_.path(), format("no end of an item at byte {}", at_ - 4));
          at_ += 4;
          break;
        }
        element(sequence.items.back(), depth);
      }
    }
  }

  InputFile file_;
  std::int64_t at_ = 0;
  bool explicit_ = true;
  DicomFile found_;
};

void put(std::string& bytes, std::uint64_t number, int count) {
  for (int i = 0; i < count; ++i) bytes.push_back(static_cast<char>(number >> (8 * i) & 0xFF));
}

std::string encoded(DicomTag tag, std::string_view type, const std::string& value) {
  std::string bytes;
  put(bytes, tag >> 16, 2);
  put(bytes, tag & 0xFFFF, 2);
  bytes += type;
  if (has_long_length(type)) put(bytes, 0, 2);
  put(bytes, value.size(), has_long_length(type) ? 4 : 2);
  return bytes + value;
}

std::string identifier_text(const std::string& text) { return text.size() % 2 ? text + '\0' : text; }

}  // namespace

std::string tag_text(DicomTag tag) { return format("({:04x},{:04x})", tag >> 16, tag & 0xFFFF); }

const DicomElement* DicomItem::find(DicomTag tag) const {
  const auto found = elements.find(tag);
  return found == elements.end() ? nullptr : &found->second;
}

std::string DicomItem::text(DicomTag tag) const {
  const DicomElement* element = find(tag);
  if (!element) return {};
  const std::string& value = element->value;
  return std::string(trimmed(std::string_view(value).substr(0, value.find('\0'))));
}

std::vector<double> DicomItem::numbers(DicomTag tag, const fs::path& file) const {
  std::string values = text(tag);
  std::replace(values.begin(), values.end(), '\\', ' ');
  return parse_numbers(values, tag_text(tag), file);
}

const DicomItem* DicomItem::first_item(DicomTag tag) const {
  const DicomElement* element = find(tag);
  return element && !element->items.empty() ? &element->items.front() : nullptr;
}

DicomFile read_dicom_file(const fs::path& file) { return DicomReader(file).read(); }

DicomWriter& DicomWriter::text(DicomTag tag, const char* type, const std::string& value) {
  const char fill = type == "UI"sv ? '\0' : ' ';
  elements_[tag] = encoded(tag, type, value.size() % 2 ? value + fill : value);
  return *this;
}
DicomWriter& DicomWriter::nobody() {
  for (const auto& [tag, type] : {std::pair{0x00080020U, "DA"},
                                  {0x00080030U, "TM"},
                                  {0x00080050U, "SH"},
                                  {0x00080090U, "PN"},
                                  {0x00100010U, "PN"},
                                  {0x00100020U, "LO"},
                                  {0x00100030U, "DA"},
                                  {0x00100040U, "CS"},
                                  {0x00200010U, "SH"}})
    text(tag, type, "");
  return *this;
}
DicomWriter& DicomWriter::number(DicomTag tag, std::uint16_t value) {
  std::string bytes;
  put(bytes, value, 2);
  elements_[tag] = encoded(tag, "US", bytes);
  return *this;
}
DicomWriter& DicomWriter::long_number(DicomTag tag, std::uint32_t value) {
  std::string bytes;
  put(bytes, value, 4);
  elements_[tag] = encoded(tag, "UL", bytes);
  return *this;
}
DicomWriter& DicomWriter::tag_value(DicomTag tag, DicomTag value) {
  std::string bytes;
  put(bytes, value >> 16, 2);
  put(bytes, value & 0xFFFF, 2);
  elements_[tag] = encoded(tag, "AT", bytes);
  return *this;
}
DicomWriter& DicomWriter::sequence(DicomTag tag, const std::vector<DicomWriter>& items) {
  std::string all;
  for (const DicomWriter& item : items) {
    const std::string bytes = item.bytes();
    put(all, item_tag >> 16, 2);
    put(all, item_tag & 0xFFFF, 2);
    put(all, bytes.size(), 4);
    all += bytes;
  }
  elements_[tag] = encoded(tag, "SQ", all);
  return *this;
}
std::string DicomWriter::bytes() const {
  std::string all;
  for (const auto& [tag, bytes] : elements_) all += bytes;
  return all;
}

std::string dicom_start(const DicomWriter& data, const std::string& object_class, const std::string& instance,
                        std::int64_t pixel_bytes) {
  const std::string own =
      encoded(0x00020001, "OB", {"\0\1", 2}) + encoded(0x00020002, "UI", identifier_text(object_class)) +
      encoded(0x00020003, "UI", identifier_text(instance)) +
      encoded(0x00020010, "UI", identifier_text(std::string(explicit_little))) +
      encoded(0x00020012, "UI", identifier_text("2.25.2174332683901640917")) + encoded(0x00020013, "SH", "LEPUS ");
  std::string length;
  put(length, own.size(), 4);
  std::string start(128, '\0');
  start += "DICM" + encoded(0x00020000, "UL", length) + own + data.bytes() + encoded(0x7FE00010, "OW", {});
  start.resize(start.size() - 4);  // the length of the pixels, which are not here
  put(start, static_cast<std::uint64_t>(pixel_bytes), 4);
  return start;
}

DicomIdentifiers::DicomIdentifiers() {
  std::random_device random;
  root_ = "2.25.1";
  for (int i = 0; i < 27; ++i) root_.push_back(static_cast<char>('0' + random() % 10));
}

std::string DicomIdentifiers::operator()(std::int64_t index) const { return format("{}{:07}", root_, index); }

}  // namespace lepus
