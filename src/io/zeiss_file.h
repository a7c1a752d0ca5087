// SPDX-License-Identifier: Apache-2.0
// Scans of Zeiss (Xradia) microscopes: .txrm (views), .xrm (one image), .txm (slices of a volume). Each is an OLE
// compound file whose streams are numbers without a type: what a stream holds is known by its name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/frames.h"
#include "io/ole_file.h"

namespace lepus {

// The images of a file that belong together, in order.
struct ZeissImages {
  std::int64_t columns = 0, rows = 0;
  PixelType type = PixelType::u16;
  std::vector<const OleStream*> streams;
};

class ZeissFile {
public:
  explicit ZeissFile(const std::filesystem::path& path);  // Error(input) where it holds no ImageInfo

  const OleFile& ole() const { return ole_; }
  // All numbers of a stream; empty where there is no such stream.
  std::vector<double> integers(std::string_view stream) const;  // of 32 bits
  std::vector<double> floats(std::string_view stream) const;    // of 32 bits
  // The first of them.
  std::optional<std::int64_t> integer(std::string_view stream) const;
  std::optional<double> number(std::string_view stream) const;

  // "ImageData": Image1, Image2, ... as far as they are there; one that is missing before the last is an error.
  // "ReferenceData": the flats, also where the file calls them MultiReferenceData; empty where it has none.
  ZeissImages images(std::string_view set) const;

  // What a stream says, for people: a text, or its first numbers.
  std::string shown_value(const OleStream& stream) const;

private:
  ZeissImages of_type(std::vector<const OleStream*> streams, std::string_view type_stream) const;
  OleFile ole_;
};

}  // namespace lepus
