// SPDX-License-Identifier: Apache-2.0
// DICOM files (PS3.10): the elements of one, with its sequences, and the bytes of one that is written, in explicit
// little-endian order. Pixels stay in the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lepus {

// Group and element: 0x00280010 is (0028,0010), Rows.
using DicomTag = std::uint32_t;
std::string tag_text(DicomTag tag);  // "(0028,0010)"

struct DicomItem;
struct DicomElement {
  std::string type;              // "DS"; "" where the file does not say it
  std::string value;             // as it is in the file, without what fills it up
  std::vector<DicomItem> items;  // of a sequence
};
struct DicomItem {
  std::map<DicomTag, DicomElement> elements;

  const DicomElement* find(DicomTag tag) const;
  std::string text(DicomTag tag) const;  // "" where there is none
  // Of a decimal or integer string; none where there is none, Error(input) naming `file` where it is anything else.
  std::vector<double> numbers(DicomTag tag, const std::filesystem::path& file) const;
  const DicomItem* first_item(DicomTag tag) const;  // of a sequence; null where there is none
};

struct DicomFile {
  DicomItem data;
  DicomTag pixel_tag = 0;  // of the pixels: integers (7FE0,0010), float (7FE0,0008) or double (7FE0,0009)
  std::int64_t pixel_offset = 0, pixel_bytes = 0;
};
// Values of more than 1 MiB are left out. Error(input) where it is no DICOM file or is cut off, Error(unsupported) for
// packed pixels and other byte orders.
DicomFile read_dicom_file(const std::filesystem::path& file);

// The elements of a data set or of an item, in any order, to be written in the order of their tags.
class DicomWriter {
public:
  DicomWriter& text(DicomTag tag, const char* type, const std::string& value);
  DicomWriter& number(DicomTag tag, std::uint16_t value);
  DicomWriter& long_number(DicomTag tag, std::uint32_t value);
  DicomWriter& tag_value(DicomTag tag, DicomTag value);
  DicomWriter& sequence(DicomTag tag, const std::vector<DicomWriter>& items);
  // What every object says of patient and study, whoever it is: the elements are there, and empty.
  DicomWriter& nobody();
  std::string bytes() const;

private:
  std::map<DicomTag, std::string> elements_;
};
// Preamble, the file's own elements and `data`, up to the first pixel of `pixel_bytes`.
std::string dicom_start(const DicomWriter& data, const std::string& object_class, const std::string& instance,
                        std::int64_t pixel_bytes);

// A number that nobody else has, as an identifier; `index` makes others of the same length from it.
class DicomIdentifiers {
public:
  DicomIdentifiers();
  std::string operator()(std::int64_t index) const;

private:
  std::string root_;
};

}  // namespace lepus
