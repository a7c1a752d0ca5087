// SPDX-License-Identifier: Apache-2.0
#include "view/running_volume.h"

#include <algorithm>
#include <fcntl.h>
#include <limits>
#include <unistd.h>

#include "core/input_file.h"
#include "core/scratch_folder.h"
#include "io/volume_part.h"
#include <lepus/error.h>

namespace lepus::view {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t longest_header = std::int64_t{64} << 20;
const std::string header_end = "ElementDataFile = LOCAL\n";

[[noreturn]] void not_shown(const fs::path& partial, const std::string& why) {
  throw Error(ErrorKind::unsupported, {.what = "this output cannot be shown while it is written",
                                       .where = partial.string(),
                                       .why = why,
                                       .hint = "write an .mha, or wait until it is finished"});
}

// What the header says, by the reader of whole files: a file of holes with the same header.
std::unique_ptr<VolumeReader> read_header(const std::string& header, const fs::path& partial) {
  Progress silent;
  const ScratchFolder folder(fs::temp_directory_path(), silent);
  const fs::path shadow = folder.path() / "header.mha";
  const int file = ::open(shadow.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) not_shown(partial, "no temporary file can be made");
  std::int64_t voxels = 1;
  const std::size_t at = header.find("DimSize = ");
  std::size_t used = at == std::string::npos ? at : at + 10;
  for (int axis = 0; axis < 3 && used != std::string::npos; ++axis) {
    voxels *= std::clamp<std::int64_t>(std::atoll(header.c_str() + used), 1, 1 << 20);
    used = header.find(' ', used);
    if (used != std::string::npos) ++used;
  }
  const bool made = ::write(file, header.data(), header.size()) == static_cast<ssize_t>(header.size()) &&
                    ::ftruncate(file, static_cast<off_t>(header.size()) + static_cast<off_t>(4 * voxels)) == 0;
  ::close(file);
  if (!made) not_shown(partial, "no temporary file can be made");
  return open_volume(shadow);
}

class RunningMetaImage final : public RunningVolume, public PartReader {
public:
  explicit RunningMetaImage(const fs::path& partial) : path_(partial) {
    const std::string head = InputFile(partial).head(longest_header);
    const std::size_t end = head.find(header_end);
    if (!head.starts_with("ObjectType = Image") || end == std::string::npos)
      not_shown(partial, "only the partial files of MetaImage volumes hold slices that can be read");
    data_start_ = static_cast<std::int64_t>(end + header_end.size());
    header_ = read_header(head.substr(0, end + header_end.size()), partial);
    if (header_->pixel_type() != "float32") not_shown(partial, "its voxels are " + header_->pixel_type());
    file_ = ::open(partial.c_str(), O_RDONLY | O_CLOEXEC);
    if (file_ < 0) not_shown(partial, "it cannot be opened");
    slice_bytes_ = grid().nx * grid().ny * static_cast<std::int64_t>(sizeof(float));
  }
  ~RunningMetaImage() override { ::close(file_); }

  const VolumeGrid& grid() const override { return header_->grid(); }
  std::string format() const override { return "MetaImage, being written"; }
  std::string pixel_type() const override { return header_->pixel_type(); }
  std::string provenance() const override { return ""; }
  std::string unit() const override { return header_->unit(); }

  void read(std::int64_t z0, std::int64_t z1, float* slices) const override {
    if (z0 < z1) read_part({{0, 0, z0}, {grid().nx, grid().ny, z1}, {1, 1, 1}}, slices);
  }

  std::array<std::int64_t, 3> brick() const override { return {1, 1, 1}; }

  void read_part(const VolumePart& part, float* out) const override {
    std::vector<float> row(static_cast<std::size_t>(part.end[0] - part.first[0]));
    for (std::int64_t z = part.first[2]; z < part.end[2]; z += part.step[2]) {
      const bool there = is_written(z);
      for (std::int64_t y = part.first[1]; y < part.end[1]; y += part.step[1]) {
        const std::int64_t at = data_start_ + z * slice_bytes_ + 4 * (y * grid().nx + part.first[0]);
        const auto bytes = static_cast<ssize_t>(4 * row.size());
        if (!there || ::pread(file_, row.data(), 4 * row.size(), at) != bytes)
          std::ranges::fill(row, std::numeric_limits<float>::quiet_NaN());
        for (std::size_t x = 0; x < row.size(); x += static_cast<std::size_t>(part.step[0])) *out++ = row[x];
      }
    }
  }

  SliceRanges written() const override {
    SliceRanges ranges;
    for (std::int64_t z = 0; z < grid().nz; ++z) {
      if (!is_written(z)) continue;
      if (!ranges.empty() && ranges.back().second == z) {
        ++ranges.back().second;
      } else {
        ranges.emplace_back(z, z + 1);
      }
    }
    return ranges;
  }

private:
  bool is_written(std::int64_t z) const {
    const std::int64_t first = data_start_ + z * slice_bytes_;
    if (::lseek(file_, first, SEEK_DATA) != first) return false;
    return ::lseek(file_, first, SEEK_HOLE) >= first + slice_bytes_;
  }

  fs::path path_;
  std::unique_ptr<VolumeReader> header_;
  std::int64_t data_start_ = 0, slice_bytes_ = 0;
  int file_ = -1;
};

}  // namespace

bool is_partial_name(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.find(".partial-") != std::string::npos || name.ends_with(".unfinished");
}

std::optional<fs::path> partial_of(const fs::path& output) {
  const fs::path folder = output.has_parent_path() ? output.parent_path() : fs::path(".");
  const std::string beginning = output.filename().string() + ".partial-";
  std::error_code code;
  if (fs::path kept = unfinished_name(output); fs::is_regular_file(kept, code)) return kept;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code))
    if (entry->path().filename().string().starts_with(beginning)) return entry->path();
  return std::nullopt;
}

std::unique_ptr<RunningVolume> open_running_volume(const fs::path& partial) {
  return std::make_unique<RunningMetaImage>(partial);
}

}  // namespace lepus::view
