// SPDX-License-Identifier: Apache-2.0
// Volumes whose axes are not lepus': which of x, y and z (docs/geometry.md) each axis of a file runs along, and a
// volume in one order read in another, slab by slab.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "io/volume_file.h"

namespace lepus {

// Of each axis of a file, the fastest first: along which axis of lepus it runs (0 x, 1 y, 2 z), and whether against it.
struct VolumeAxes {
  std::array<std::size_t, 3> along{0, 1, 2};
  std::array<bool, 3> against{};
  friend bool operator==(const VolumeAxes&, const VolumeAxes&) = default;
};

// "x,z,-y", "xzy", or a program's name: lepus, itk and dicom (x,y,z: z is the rotation axis), rtk (x,z,-y: its y is).
// Error(usage) that names `option`.
VolumeAxes parse_axes(const std::string& text, const std::string& option);
std::string words_of(const VolumeAxes& axes);  // "x,z,-y"

// What `lepus convert --axes` noted in the volume; nothing where it says nothing.
std::optional<VolumeAxes> noted_axes(const VolumeReader& volume);

// A volume whose file has these axes -> the same in lepus', and back. Coordinates go with the voxels, and steps keep
// their signs: an axis that runs backwards is turned around. What it noted of its axes is taken out. Holds up to 16
// MiB, or one slice, beside what is read.
std::unique_ptr<VolumeReader> from_axes(std::unique_ptr<VolumeReader> volume, const VolumeAxes& axes);
// A volume in lepus' axes, whichever its file notes.
std::unique_ptr<VolumeReader> open_as_noted(const std::filesystem::path& path);
std::unique_ptr<VolumeReader> into_axes(std::unique_ptr<VolumeReader> volume, const VolumeAxes& axes);

// What a volume holds for being turned, in bytes; 0 where it is not.
std::int64_t turning_bytes(const VolumeReader& volume);

}  // namespace lepus
