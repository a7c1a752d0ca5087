// SPDX-License-Identifier: Apache-2.0
#include "bench/rabbitct/format.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/format.h"
#include "core/memory.h"
#include "bench/rabbitct/bytes.h"
#include <lepus/error.h>

namespace lepus::rabbitct {
namespace {

constexpr std::int64_t matrix_bytes = 12 * sizeof(double);
// A detector or a sweep larger than this is no RabbitCT file but something else; all products stay below 2^63.
constexpr std::int64_t maximum_pixels_a_side = 1 << 16, maximum_views = 1 << 20;

[[noreturn]] void refuse_file(const std::filesystem::path& path, std::string what, std::string why, std::string hint) {
  throw Error(ErrorKind::input,
              {.what = std::move(what), .where = path.string(), .why = std::move(why), .hint = std::move(hint)});
}

bool plausible(const Header& h) {
  return h.columns > 0 && h.rows > 0 && h.views > 0 && h.columns <= maximum_pixels_a_side &&
         h.rows <= maximum_pixels_a_side && h.views <= maximum_views;
}

// The first word is the version, or in version 1 the width: nobody has a detector of two columns.
std::optional<Header> parse_header(const std::string& head) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(head.data());
  if (head.size() < 20) return std::nullopt;
  Header h;
  h.version = little_endian_at<std::uint32_t>(bytes) == 2 ? 2 : 1;
  if (h.version == 2) bytes += 4;
  if (h.version == 2 && head.size() < 24) return std::nullopt;
  h.columns = little_endian_at<std::uint32_t>(bytes);
  h.rows = little_endian_at<std::uint32_t>(bytes + 4);
  h.views = little_endian_at<std::uint32_t>(bytes + 8);
  h.hu_scale = {little_endian_at<float>(bytes + 12), little_endian_at<float>(bytes + 16)};
  if (!plausible(h)) return std::nullopt;
  return h;
}

std::string described(const Header& h) {
  return format("version {}, {} views of {} x {}", h.version, h.views, h.columns, h.rows);
}

}  // namespace

void check_size(std::int64_t size) {
  if (std::find(sizes.begin(), sizes.end(), size) == sizes.end())
    throw Error(ErrorKind::usage, {.what = format("RabbitCT has no volume of {0} x {0} x {0} voxels", size),
                                   .where = {},
                                   .why = "its sizes are 128, 256, 512 and 1024",
                                   .hint = "give one of them with --size"});
}

VolumeGrid grid_of(std::int64_t size) {
  check_size(size);
  const double step = 256.0 / static_cast<double>(size);
  return centred_grid(size, size, size, {step, step, step});
}

std::string name_of_sizes(std::int64_t last) {
  std::string names;
  for (const std::int64_t size : sizes) {
    if (size > last) break;
    names += names.empty() ? format("{}", size) : format("{}{}", size == last ? " and " : ", ", size);
  }
  return names.empty() ? "none" : names;
}

Layout::Layout(const Header& header)
    : header_bytes(header.version == 2 ? 24 : 20),
      view_bytes(matrix_bytes + header.columns * header.rows * static_cast<std::int64_t>(sizeof(float))) {}

std::int64_t Layout::reference(std::int64_t views, std::int64_t size) const {
  std::int64_t offset = view(views);
  for (const std::int64_t s : sizes)
    if (s < size) offset += s * s * s * static_cast<std::int64_t>(sizeof(std::uint16_t));
  return offset;
}

DataFile::DataFile(const std::filesystem::path& path) : file_(path) {
  const auto header = parse_header(file_.head(24));
  if (!header)
    refuse_file(path, "this is not a RabbitCT data file",
                format("its {} do not start with the header of version 1 or 2", format_bytes(file_.size())),
                "give the .rct file of RabbitCT, or one that 'lepus rabbitct make' wrote");
  header_ = *header;
  const Layout layout(header_);
  const std::int64_t views_end = layout.view(header_.views);
  if (file_.size() < views_end)
    refuse_file(path, "the file is cut off",
                format("{} take {} bytes, the file ends after {}, in view {}", described(header_), views_end,
                       file_.size(), std::max<std::int64_t>(0, file_.size() - layout.header_bytes) / layout.view_bytes),
                "copy or download it again; if it is no RabbitCT data file, its first bytes only look like one");
  if (!std::isfinite(header_.hu_scale[0]) || !std::isfinite(header_.hu_scale[1]) || !(header_.hu_scale[0] > 0))
    refuse_file(path, "the HU scale cannot be used",
                format("it is {} and {}", header_.hu_scale[0], header_.hu_scale[1]), "the header is damaged");
  for (const std::int64_t size : sizes) {
    const std::int64_t end = layout.reference(header_.views, 2 * size);
    if (file_.size() >= end) last_size_ = size;
  }
  if (const std::int64_t end = layout.reference(header_.views, last_size_ == 0 ? 128 : 2 * last_size_);
      file_.size() != end)
    refuse_file(path, last_size_ == sizes.back() ? "the file is longer than its header says" : "the file is cut off",
                format("{} and the references {} end at byte {}, the file at {}", described(header_),
                       name_of_sizes(last_size_), end, file_.size()),
                "copy or download it again");
}

void DataFile::require_reference(std::int64_t size) const {
  check_size(size);
  if (size > last_size_)
    refuse_file(path(), format("the file has no reference of {0} x {0} x {0} voxels", size),
                format("it has {}", name_of_sizes(last_size_)),
                "give another --size, or --no-score to measure time alone");
}

Matrix34 DataFile::matrix(std::int64_t view) const {
  double columns[12];
  file_.read(Layout(header_).view(view), columns, matrix_bytes);
  to_or_from_little_endian(columns, 12);
  Matrix34 matrix;
  for (int i = 0; i < 12; ++i) {
    if (!std::isfinite(columns[i]))
      refuse_file(path(), "a projection matrix holds a number that is not finite",
                  format("view {}, row {}, column {} is {}", view, i % 3, i / 3, columns[i]),
                  "the file is damaged: copy or download it again");
    matrix(i % 3, i / 3) = columns[i];
  }
  return matrix;
}

void DataFile::read_view(std::int64_t view, float* pixels) const {
  const std::int64_t count = header_.columns * header_.rows;
  file_.read(Layout(header_).view(view) + matrix_bytes, pixels, count * static_cast<std::int64_t>(sizeof(float)));
  to_or_from_little_endian(pixels, count);
  // x - x is zero for every finite x, and the sum of zeros vectorises.
  float sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += pixels[i] - pixels[i];
  if (sum == 0) return;
  const auto* bad = std::find_if(pixels, pixels + count, [](float p) { return !std::isfinite(p); });
  refuse_file(path(), "a view holds a value that is not finite",
              format("view {}, column {}, row {} is {}", view, (bad - pixels) % header_.columns,
                     (bad - pixels) / header_.columns, *bad),
              "the file is damaged: copy or download it again");
}

void DataFile::read_reference(std::int64_t size, std::int64_t z0, std::int64_t z1, std::uint16_t* voxels) const {
  require_reference(size);
  constexpr std::int64_t voxel = sizeof(std::uint16_t);
  const std::int64_t slice = size * size;
  file_.read(Layout(header_).reference(header_.views, size) + z0 * slice * voxel, voxels, (z1 - z0) * slice * voxel);
  to_or_from_little_endian(voxels, (z1 - z0) * slice);
}

DataWriter::DataWriter(const std::filesystem::path& path, const Header& header, std::int64_t last_size, bool force)
    : header_(header),
      last_size_(last_size),
      file_(path, force, Layout(header).reference(header.views, last_size == 0 ? 128 : 2 * last_size)) {
  if (last_size != 0) check_size(last_size);
  if (!plausible(header) || (header.version != 1 && header.version != 2) ||
      (header.version == 1 && header.columns == 2))
    throw Error(ErrorKind::usage,
                {.what = "this cannot be a RabbitCT data file",
                 .where = path.string(),
                 .why = described(header),
                 .hint = format("versions are 1 and 2, pictures have up to {} pixels a side", maximum_pixels_a_side)});
  std::string bytes;
  if (header.version == 2) append_little_endian(bytes, std::uint32_t{2});
  for (const std::int64_t n : {header.columns, header.rows, header.views})
    append_little_endian(bytes, static_cast<std::uint32_t>(n));
  for (const float factor : header.hu_scale) append_little_endian(bytes, factor);
  file_.append(bytes);
}

void DataWriter::write_view(const Matrix34& matrix, const float* pixels) {
  std::string bytes;
  for (int i = 0; i < 12; ++i) append_little_endian(bytes, matrix(i % 3, i / 3));
  file_.append(bytes);
  const std::int64_t count = header_.columns * header_.rows, size = count * static_cast<std::int64_t>(sizeof(float));
  if constexpr (std::endian::native == std::endian::little) {
    file_.append(pixels, size);
  } else {
    std::vector<float> swapped(pixels, pixels + count);
    to_or_from_little_endian(swapped.data(), count);
    file_.append(swapped.data(), size);
  }
}

void DataWriter::write_slice(std::int64_t size, const std::uint16_t* voxels) {
  const std::int64_t count = size * size;
  if (voxels == nullptr) blank_.assign(static_cast<std::size_t>(count), not_computed);
  std::vector<std::uint16_t> swapped;
  const std::uint16_t* slice = voxels == nullptr ? blank_.data() : voxels;
  if constexpr (std::endian::native == std::endian::big) {
    swapped.assign(slice, slice + count);
    to_or_from_little_endian(swapped.data(), count);
    slice = swapped.data();
  }
  file_.append(slice, count * static_cast<std::int64_t>(sizeof(std::uint16_t)));
}

void DataWriter::finish() {
  const std::int64_t end = Layout(header_).reference(header_.views, last_size_ == 0 ? 128 : 2 * last_size_);
  if (file_.end() != end)
    throw Error(ErrorKind::internal, {.what = "a RabbitCT file was not written to its end",
                                      .where = file_.target().string(),
                                      .why = format("{} of {} bytes", file_.end(), end),
                                      .hint = {}});
  file_.commit();
}

}  // namespace lepus::rabbitct
