// SPDX-License-Identifier: Apache-2.0
// The sections of a scan file, each read by one function; read_scan.cpp puts them together. Internal to this room.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scan/document.h"
#include "scan/frame_numbers.h"
#include "scan/scan.h"

namespace lepus {

// What the resolved file says beyond what was given: values that follow from the scan, and defaults that play no part
// because another key took their place.
struct Resolution {
  std::map<std::string, KeyValue, std::less<>> derived;
  std::set<std::string, std::less<>> inactive;
  FrameNames names;                        // of the frames' files
  std::int64_t images = 0;                 // in the frames' files, of which `images` or `image_key` may choose some
  std::vector<double> listed_angles_deg;   // of every recorded frame, as Scan has them
  std::vector<std::string> warnings = {};  // for Scan
};

// frames_section.cpp: files, flats, darks, selection, limits.
void read_frames_section(const ScanDocument& document, Scan& scan, Resolution& resolution);

// frames_check.cpp: warns where a file looks as if it were no frame, or a frame were lost; fails where there are not as
// many as frames.views says, and where one image is in two of the sets.
void check_series(const ScanDocument& document, const Scan& scan, Resolution& resolution);
void refuse_shared_images(const ScanDocument& document, const Scan& scan);
// Fails where angles in equal steps would be wrong: a frame is missing, or something else is among them.
void require_whole_series(const ScanDocument& document, const Scan& scan, const FrameNames& names);

// intensity_section.cpp
void read_intensity_section(const ScanDocument& document, Scan& scan, Resolution& resolution);

// angles.cpp: the angle of every recorded frame, counter-clockwise.
std::vector<double> recorded_angles_rad(const ScanDocument& document, const Scan& scan, Resolution& resolution);

// geometry_section.cpp: the matrices of the selected views and rows. `voxels` is the grid that matrices in voxel
// indices refer to, where [volume] gives one without knowing the geometry.
ScanGeometry read_geometry_section(const ScanDocument& document, const Scan& scan,
                                   const std::optional<VolumeGrid>& voxels, Resolution& resolution);
// Keeps rows first, first + step, ...: v' = (v - first) / step.
void select_rows(ScanGeometry& geometry, const FrameSelection& selection);

// volume_section.cpp: the whole volume where size and voxel_mm are both given; and the part of it to reconstruct.
std::optional<VolumeGrid> explicit_grid(const ScanDocument& document);
void read_volume_section(const ScanDocument& document, Scan& scan, Resolution& resolution);

// method_section.cpp
MethodSettings read_method_section(const ScanDocument& document, Resolution& resolution);

// resolved.cpp
std::string resolved_text(const ScanDocument& document, const Scan& scan, const Resolution& resolution);

// Runs `body`; an Error that comes out of it is told where in the scan file its cause stands.
template <class Body>
auto located(const ScanDocument& document, std::string_view key, Body&& body) {
  try {
    return body();
  } catch (const Error& error) {
    ErrorParts parts = error.parts();
    parts.where = document.where(key) + (parts.where.empty() ? "" : ", " + parts.where);
    throw Error(error.kind(), std::move(parts));
  }
}

}  // namespace lepus
