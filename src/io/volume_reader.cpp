// SPDX-License-Identifier: Apache-2.0
// A volume read slab by slab from a source of slices.
#include "core/format.h"
#include "io/stack.h"
#include <lepus/error.h>

namespace lepus {

namespace {

class FrameVolume final : public VolumeReader {
public:
  FrameVolume(std::unique_ptr<FrameSource> slices, VolumeInfo info)
      : slices_(std::move(slices)), info_(std::move(info)) {}

  const VolumeGrid& grid() const override { return info_.grid; }
  std::string format() const override { return info_.format; }
  std::string pixel_type() const override { return name_of(slices_->pixel_type()); }
  std::string provenance() const override { return info_.provenance; }
  std::string unit() const override { return info_.unit; }
  void read(std::int64_t z0, std::int64_t z1, float* out) const override {
    if (z0 < 0 || z1 > info_.grid.nz || z0 > z1)
      throw Error(ErrorKind::internal, {.what = "slices outside the volume",
                                        .where = slices_->name(0),
                                        .why = lepus::format("[{}, {}) of {}", z0, z1, info_.grid.nz),
                                        .hint = "report this"});
    const std::int64_t slice = info_.grid.nx * info_.grid.ny;
    for (std::int64_t z = z0; z < z1; ++z, out += slice) slices_->read(z, 0, info_.grid.ny, out);
  }

private:
  std::unique_ptr<FrameSource> slices_;
  VolumeInfo info_;
};

}  // namespace

std::unique_ptr<VolumeReader> volume_of_frames(std::unique_ptr<FrameSource> slices, VolumeInfo info) {
  if (slices->columns() != info.grid.nx || slices->rows() != info.grid.ny || slices->frames() != info.grid.nz)
    throw Error(ErrorKind::input, {.what = "volume has another size than its description",
                                   .where = slices->name(0),
                                   .why = format("expected {}x{}x{} voxels, found {}x{}x{}", info.grid.nx, info.grid.ny,
                                                 info.grid.nz, slices->columns(), slices->rows(), slices->frames()),
                                   .hint = "write the file again"});
  return std::make_unique<FrameVolume>(std::move(slices), std::move(info));
}

}  // namespace lepus
