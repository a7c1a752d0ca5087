// SPDX-License-Identifier: Apache-2.0
// RabbitCT's data file (.rct), versions 1 and 2, little-endian, read and written a view and a slice at a time:
//   header: [u32 version = 2, only in version 2] u32 width, height, views; f32 HU scale[2]
//   each view: 12 f64, the 3x4 matrix column by column; height x width f32, u fastest
//   references: u16 volumes of 128^3, 256^3, 512^3, 1024^3 voxels, x fastest; the file may end after any of them.
// Rohkohl, Keck, Hofmann, Hornegger: RabbitCT - an open platform for benchmarking 3D cone-beam reconstruction
// algorithms, Med. Phys. 36 (2009). docs/rabbitct.md.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "core/output_file.h"
#include "io/file.h"
#include <lepus/geometry.h>

namespace lepus::rabbitct {

// The edge of a volume in voxels.
inline constexpr std::array<std::int64_t, 4> sizes{128, 256, 512, 1024};
// Scored values end at 4095, so that no voxel of a reference can hold this: it marks voxels that nobody computed.
inline constexpr std::uint16_t not_computed = 0xFFFF;

void check_size(std::int64_t size);            // throws Error(usage) where it is none of the four
VolumeGrid grid_of(std::int64_t size);         // 256 mm in `size` steps, centred: origin -step (size - 1) / 2
std::string name_of_sizes(std::int64_t last);  // "128, 256 and 512"

struct Header {
  int version = 2;
  std::int64_t columns = 0, rows = 0, views = 0;
  std::array<float, 2> hu_scale{1, 0};  // HU = scale[0] * value + scale[1]
};

// Where things lie in the file, and how large it is.
struct Layout {
  std::int64_t header_bytes = 0, view_bytes = 0;

  explicit Layout(const Header& header);
  std::int64_t view(std::int64_t index) const { return header_bytes + index * view_bytes; }
  // Of the volume of `size`; past the last one for twice the largest size.
  std::int64_t reference(std::int64_t views, std::int64_t size) const;
};

class DataFile {
public:
  // Throws Error(input) where the file is no RabbitCT file, is cut off, or is of a size that its header does not give.
  explicit DataFile(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return file_.path(); }
  const Header& header() const { return header_; }
  std::int64_t last_size() const { return last_size_; }  // of the largest reference; 0: there is none
  // Throws Error(input) where the file has no reference of that size.
  void require_reference(std::int64_t size) const;

  // Throw Error(input) that names the view where a number is not finite.
  Matrix34 matrix(std::int64_t view) const;
  void read_view(std::int64_t view, float* pixels) const;
  void read_reference(std::int64_t size, std::int64_t z0, std::int64_t z1, std::uint16_t* voxels) const;

private:
  InputFile file_;
  Header header_;
  std::int64_t last_size_ = 0;
};

// Views in order, then slices in order: of 128^3 first, up to the size that was announced.
class DataWriter {
public:
  DataWriter(const std::filesystem::path& path, const Header& header, std::int64_t last_size, bool force);
  void write_view(const Matrix34& matrix, const float* pixels);
  void write_slice(std::int64_t size, const std::uint16_t* voxels);  // null: not computed
  void finish();  // renames into place; throws Error(internal) where something is missing

private:
  Header header_;
  std::int64_t last_size_;
  PartialFile file_;
  std::vector<std::uint16_t> blank_;
};

}  // namespace lepus::rabbitct
