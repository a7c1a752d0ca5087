// SPDX-License-Identifier: Apache-2.0
// A volume read slab by slab from a source of slices.
#include <algorithm>
#include <vector>

#include "core/format.h"
#include "core/io_threads.h"
#include "io/frame_sources.h"
#include "io/stack.h"
#include "io/volume_part.h"
#include <lepus/error.h>

namespace lepus {

namespace {

class FrameVolume final : public VolumeReader, public PartReader {
public:
  FrameVolume(std::unique_ptr<FrameSource> slices, VolumeInfo info)
      : slices_(std::move(slices)), info_(std::move(info)), runs_(dynamic_cast<const RunReader*>(slices_.get())) {}

  const VolumeGrid& grid() const override { return info_.grid; }
  std::string format() const override { return info_.format; }
  std::string pixel_type() const override { return name_of(slices_->pixel_type()); }
  std::string provenance() const override { return info_.provenance; }
  std::string unit() const override { return info_.unit; }
  ValueScale scale() const override { return info_.scale; }
  void read(std::int64_t z0, std::int64_t z1, float* out) const override {
    if (z0 < 0 || z1 > info_.grid.nz || z0 > z1)
      throw Error(ErrorKind::internal, {.what = "slices outside the volume",
                                        .where = slices_->name(0),
                                        .why = lepus::format("[{}, {}) of {}", z0, z1, info_.grid.nz),
                                        .hint = "report this"});
    const std::int64_t slice = info_.grid.nx * info_.grid.ny;
    io_parallel(z1 - z0, io_threads(), [&](std::int64_t i) {
      slices_->read(z0 + i, 0, info_.grid.ny, out + i * slice);
      info_.scale.apply(out + i * slice, slice);
    });
  }

  std::array<std::int64_t, 3> brick() const override {
    if (runs_) return {1, 1, 1};
    return {info_.grid.nx, info_.grid.ny, 1};
  }

  void read_part(const VolumePart& part, float* out) const override {
    read_stored(part, out);
    info_.scale.apply(out, part.voxels());
  }

private:
  void read_rows(std::int64_t z, std::int64_t y0, std::int64_t y1, ReadPattern pattern, float* out) const {
    if (runs_) return runs_->read_run(z, y0, 0, (y1 - y0) * info_.grid.nx, pattern, out);
    slices_->read(z, y0, y1, out);
  }

  void read_stored(const VolumePart& part, float* out) const {
    const auto [x0, y0, z0] = part.first;
    const auto [x1, y1, z1] = part.end;
    const std::int64_t nx = info_.grid.nx;
    const bool whole_rows = x0 == 0 && x1 == nx && part.step[0] == 1;
    // Rows of packed slices are unpacked together; plain ones that nobody wants are not read.
    const std::int64_t rows_at_once = runs_ && (part.step[1] > 1 || 2 * (x1 - x0) < nx) ? 1 : y1 - y0;
    const bool little_of_each = 8 * (y1 - y0) < info_.grid.ny || 8 * (x1 - x0) < nx;
    const ReadPattern pattern = little_of_each ? ReadPattern::scattered : ReadPattern::sequential;
    std::vector<float> rows(whole_rows && part.step[1] == 1 ? 0 : static_cast<std::size_t>(rows_at_once * nx));
    for (std::int64_t z = z0; z < z1; z += part.step[2]) {
      if (rows.empty()) {
        read_rows(z, y0, y1, pattern, out);
        out += (y1 - y0) * nx;
        continue;
      }
      for (std::int64_t y = y0; y < y1; y += part.step[1]) {
        const float* row = rows.data();
        if (rows_at_once == 1 && runs_) {
          runs_->read_run(z, y, x0, x1 - x0, pattern, rows.data());
        } else {
          if (y == y0) read_rows(z, y0, y1, pattern, rows.data());
          row += (y - y0) * nx + x0;
        }
        for (std::int64_t x = 0; x < x1 - x0; x += part.step[0]) *out++ = row[x];
      }
    }
  }

  std::unique_ptr<FrameSource> slices_;
  VolumeInfo info_;
  const RunReader* runs_;  // the same slices, where single pixels can be read; else null
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
