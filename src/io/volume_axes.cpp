// SPDX-License-Identifier: Apache-2.0
#include "io/volume_axes.h"

#include <algorithm>
#include <map>
#include <vector>

#include "core/format.h"
#include "core/json.h"
#include "io/volume_part.h"
#include <lepus/error.h>

namespace lepus {
namespace {

using Sizes = std::array<std::int64_t, 3>;

constexpr std::int64_t turned_at_once = std::int64_t{16} << 20;  // bytes

Sizes sizes_of(const VolumeGrid& grid) { return {grid.nx, grid.ny, grid.nz}; }

class TurnedVolume final : public VolumeReader {
public:
  // `from` says for each axis of the result which axis of the volume it is, and whether it runs backwards.
  TurnedVolume(std::unique_ptr<VolumeReader> volume, const VolumeAxes& from) : volume_(std::move(volume)), from_(from) {
    const VolumeGrid& g = volume_->grid();
    const Sizes size = sizes_of(g);
    const std::array<double, 3> origin{g.origin_mm.x, g.origin_mm.y, g.origin_mm.z},
        step{g.step_mm.x, g.step_mm.y, g.step_mm.z};
    Sizes count{};
    std::array<double, 3> first{}, each{};
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t s = from.along[k];
      count[k] = size[s];
      each[k] = step[s];
      // Backwards the coordinate is the negative one, and the last voxel comes first.
      first[k] = from.against[k] ? -(origin[s] + static_cast<double>(size[s] - 1) * step[s]) : origin[s];
    }
    grid_ = {.nx = count[0],
             .ny = count[1],
             .nz = count[2],
             .origin_mm = {first[0], first[1], first[2]},
             .step_mm = {each[0], each[1], each[2]}};
    provenance_ = volume_->provenance();
    auto noted = ordered_json_or_discarded(provenance_);
    if (!noted.is_object() || noted.erase("axes") == 0) return;
    provenance_ = ascii_json_text(noted);
  }

  const VolumeGrid& grid() const override { return grid_; }
  std::string format() const override { return volume_->format(); }
  std::string pixel_type() const override { return volume_->pixel_type(); }
  std::string provenance() const override { return provenance_; }
  std::string unit() const override { return volume_->unit(); }
  ValueScale scale() const override { return volume_->scale(); }

  void read(std::int64_t z0, std::int64_t z1, float* slices) const override {
    const std::int64_t slice = grid_.nx * grid_.ny;
    const std::int64_t at_once = std::max<std::int64_t>(1, turned_at_once / (4 * slice));
    std::vector<float> stored;
    for (std::int64_t z = z0; z < z1; z += at_once) {
      const std::int64_t end = std::min(z1, z + at_once);
      turn(z, end, stored, slices + (z - z0) * slice);
    }
  }

  std::int64_t turning_bytes() const {
    return std::max(turned_at_once, 4 * grid_.nx * grid_.ny) + lepus::turning_bytes(*volume_);
  }

private:
  void turn(std::int64_t z0, std::int64_t z1, std::vector<float>& stored, float* out) const {
    VolumePart part;
    part.end = sizes_of(volume_->grid());
    const std::size_t cut = from_.along[2];
    const std::int64_t last = grid_.nz;
    part.first[cut] = from_.against[2] ? last - z1 : z0;
    part.end[cut] = from_.against[2] ? last - z0 : z1;
    stored.resize(static_cast<std::size_t>(part.voxels()));
    read_part(*volume_, part, stored.data());
    // How far apart neighbours along an axis of the result lie in what was read, and where the first one is.
    const Sizes stride{1, part.along(0), part.along(0) * part.along(1)}, count{grid_.nx, grid_.ny, z1 - z0};
    Sizes move{};
    std::int64_t first = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      move[k] = from_.against[k] ? -stride[from_.along[k]] : stride[from_.along[k]];
      if (from_.against[k]) first -= move[k] * (count[k] - 1);
    }
    for (std::int64_t z = 0; z < count[2]; ++z)
      for (std::int64_t y = 0; y < count[1]; ++y) {
        const float* row = stored.data() + first + z * move[2] + y * move[1];
        for (std::int64_t x = 0; x < count[0]; ++x) *out++ = row[x * move[0]];
      }
  }

  std::unique_ptr<VolumeReader> volume_;
  VolumeAxes from_;
  VolumeGrid grid_;
  std::string provenance_;
};

}  // namespace

VolumeAxes parse_axes(const std::string& text, const std::string& option) {
  static const std::map<std::string, std::string> programs{
      {"lepus", "xyz"}, {"itk", "xyz"}, {"dicom", "xyz"}, {"rtk", "xz-y"}};
  const auto program = programs.find(text);
  VolumeAxes axes;
  std::size_t count = 0;
  bool against = false;
  std::array<bool, 3> used{};
  for (const char c : program == programs.end() ? text : program->second) {
    if (c == ',' || c == '+' || c == ' ') continue;
    if (c == '-') {
      against = true;
      continue;
    }
    const auto axis = static_cast<std::size_t>(c - 'x');
    if (c < 'x' || c > 'z' || count == 3 || used[axis]) {
      count = 4;
      break;
    }
    used[axis] = true;
    axes.along[count] = axis;
    axes.against[count++] = against;
    against = false;
  }
  if (count != 3 || against)
    throw Error(ErrorKind::usage, {.what = format("'{}' is no order of axes", text),
                                   .where = option,
                                   .why = "it takes x, y and z once each, the file's fastest axis first",
                                   .hint = "write it as x,z,-y, or name a program: lepus, rtk, itk, dicom"});
  return axes;
}

std::string words_of(const VolumeAxes& axes) {
  std::string text;
  for (std::size_t i = 0; i < 3; ++i)
    text += format("{}{}{}", i ? "," : "", axes.against[i] ? "-" : "", "xyz"[axes.along[i]]);
  return text;
}

std::optional<VolumeAxes> noted_axes(const VolumeReader& volume) {
  const nlohmann::json provenance = json_or_discarded(volume.provenance());
  if (!provenance.is_object() || !provenance.contains("axes") || !provenance["axes"].is_string()) return std::nullopt;
  return parse_axes(provenance["axes"].get<std::string>(), "axes in the volume's provenance");
}

std::unique_ptr<VolumeReader> open_as_noted(const std::filesystem::path& path) {
  auto volume = open_volume(path);
  const auto noted = noted_axes(*volume);
  return noted ? from_axes(std::move(volume), *noted) : std::move(volume);
}

std::unique_ptr<VolumeReader> into_axes(std::unique_ptr<VolumeReader> volume, const VolumeAxes& axes) {
  if (axes == VolumeAxes{}) return volume;
  return std::make_unique<TurnedVolume>(std::move(volume), axes);
}

std::unique_ptr<VolumeReader> from_axes(std::unique_ptr<VolumeReader> volume, const VolumeAxes& axes) {
  VolumeAxes inverse;
  for (std::size_t i = 0; i < 3; ++i) {
    inverse.along[axes.along[i]] = i;
    inverse.against[axes.along[i]] = axes.against[i];
  }
  return into_axes(std::move(volume), inverse);
}

std::int64_t turning_bytes(const VolumeReader& volume) {
  const auto* turned = dynamic_cast<const TurnedVolume*>(&volume);
  return turned ? turned->turning_bytes() : 0;
}

}  // namespace lepus
