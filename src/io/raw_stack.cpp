// SPDX-License-Identifier: Apache-2.0
// Raw files with a JSON side-car: pixels, little-endian, and nothing else; "volume.raw" is described by
// "volume.raw.json".
#include "core/output_file.h"
#include "io/file.h"
#include "io/frame_sources.h"
#include "io/json_text.h"
#include "io/stack.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

class RawStack final : public PlainStack {
public:
  explicit RawStack(const StackTarget& target) : PlainStack(target, target.path, target.shape.bytes()) {
    if (!is_joined()) check_target(side_car_of(target.path), target.force);
    begin_data(0);
  }

  void finish(const std::string& provenance) override {
    const auto description = side_car(side_car_of(target_.path), to_json({.shape = target_.shape,
                                                                          .text = target_.text,
                                                                          .header_bytes = 0,
                                                                          .big_endian = false,
                                                                          .provenance = provenance},
                                                                         true));
    commit_together({description.get(), &data_});
  }
};

}  // namespace

std::unique_ptr<StackWriter> create_raw_stack(const StackTarget& target) { return std::make_unique<RawStack>(target); }

std::unique_ptr<VolumeReader> open_raw_volume(const fs::path& path) {
  const StackDescription d = read_raw_side_car(path);
  const RawLayout layout = raw_layout(d);
  VolumeGrid grid{
      .nx = layout.columns, .ny = layout.rows, .nz = layout.frames_per_file, .origin_mm = {}, .step_mm = {1, 1, 1}};
  if (d.text.grid) grid = *d.text.grid;
  return volume_of_frames(
      open_raw_frames({path}, layout),
      {.grid = grid, .format = "raw", .unit = d.text.unit, .provenance = d.provenance, .scale = d.text.scale});
}

}  // namespace lepus
