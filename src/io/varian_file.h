// SPDX-License-Identifier: Apache-2.0
// Images of Varian's on-board imagers: .xim (TrueBeam, ProBeam; a list of named properties after the pixels), .hnd and
// .hnc (OBI; a header of fixed places). docs/scanners/varian.md lists the fields.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/frames.h"
#include "io/packed_rows.h"

namespace lepus {

struct VarianField {
  std::string name, text;       // as people read it
  std::vector<double> numbers;  // empty for a text
};

struct VarianImage {
  std::int64_t columns = 0, rows = 0;  // 0: the imager sent no pixels, which happens
  PixelType type = PixelType::i32;
  std::optional<PackedImage> packed;  // else the pixels lie there as they are:
  std::int64_t data_offset = 0;
  std::vector<VarianField> fields;

  std::optional<double> number(std::string_view name) const;
};

// Throws Error(input) where it is another file, cut off or damaged.
VarianImage read_xim(const std::filesystem::path& path);
VarianImage read_hnd(const std::filesystem::path& path);           // packed
VarianImage read_hnc(const std::filesystem::path& path);           // plain
VarianImage read_varian_image(const std::filesystem::path& path);  // by its ending

// An image and its properties as a .xim file.
struct XimProperty {
  std::string name;
  double value = 0;
};
std::string xim_bytes(const std::int32_t* pixels, std::int64_t columns, std::int64_t rows,
                      const std::vector<XimProperty>& properties);

}  // namespace lepus
