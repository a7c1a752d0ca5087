// SPDX-License-Identifier: Apache-2.0
// DICOM as frames and volumes, read and written.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "io/frame_sources.h"
#include "io/stack.h"

namespace lepus {

std::unique_ptr<FrameSource> open_dicom_frames(const std::vector<std::filesystem::path>& files);

std::vector<std::filesystem::path> dicom_files_of(const std::filesystem::path& folder);  // *.dcm
// All slices of the files, by their place along z. Error(input) where the steps between them differ or they belong to
// several series. `side_car` may hold the provenance.
std::unique_ptr<VolumeReader> open_dicom_volume(const std::vector<std::filesystem::path>& files,
                                                const std::filesystem::path& side_car);

// "v.dcm": one enhanced CT object; "series/%04d.dcm": a CT image for each slice. 16-bit integers.
bool is_dicom_name(const std::filesystem::path& path);
// What voxels of `type` are stored as: floats in HU are rounded. Error(unsupported) for floats of another unit.
PixelType dicom_type(PixelType type, const std::string& unit, const std::filesystem::path& path);
std::unique_ptr<StackWriter> create_dicom(const StackTarget& target);

}  // namespace lepus
