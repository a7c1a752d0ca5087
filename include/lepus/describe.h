// SPDX-License-Identifier: Apache-2.0
// What is in a file before anything is done with it: a scan, a volume, frames, or several sets of images.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <lepus/call.h>
#include <lepus/export.h>
#include <lepus/geometry.h>
#include <lepus/header_field.h>

namespace lepus {

// How much of a volume is looked at.
enum class VolumeDetail {
  provenance,  // how it was made
  header,      // and all that the file says of it
  values       // and every voxel, once
};

struct DescribeOptions {
  bool frames = false;       // the file holds frames of a scan, not a volume
  std::string dataset = {};  // of frames in a file with several sets of images: which of them; "": the usual one
  VolumeDetail volume = VolumeDetail::values;
  Call call = {};
};

struct ScanDescription {
  std::string scanner;              // "Nikon X-Tek"; "": it is a scan file
  std::filesystem::path header;     // of the scanner: the file that describes the scan
  std::vector<HeaderField> fields;  // of it, all, in the order of the file
  std::string text;                 // what the scan is, in lines for people; of a scan file with a look at its counts
  std::string json;                 // the same for programs
};

struct VolumeStatistics {
  std::int64_t voxels = 0, not_finite = 0;
  double smallest = 0, largest = 0, mean = 0, standard_deviation = 0;  // of the finite ones; NaN where there is none
};

struct VolumeDescription {
  VolumeGrid grid;
  std::string format, pixel_type;  // "MetaImage", "float32": as it is stored
  std::string unit;                // of the values; "": the file does not say
  std::string provenance;          // how it was made, as the file has it: JSON; "": it does not say
  // From VolumeDetail::header on.
  std::string axes;                // of lepus that those of the file run along, the fastest first: "x,y,z", "x,z,-y"
  bool axes_known = false;         // the file says so, or lepus wrote it
  std::vector<VolumeGrid> levels;  // of a pyramid, full resolution first: "v.zarr#1" names the second; empty: of others
  // With VolumeDetail::values.
  std::optional<VolumeStatistics> values;
};

struct FramesDescription {
  std::int64_t frames = 0, columns = 0, rows = 0;
  std::string pixel_type;   // "uint16"
  std::int64_t bytes = 0;   // of all pixels
  std::string first, last;  // "frames/0017.tif" or "scan.h5:/exchange/data[17]"
};

struct ImageSet {
  std::string dataset;  // its name in the file
  std::int64_t images = 0, columns = 0, rows = 0;
  std::string pixel_type;
  std::string problem;  // why it cannot be read, and the rest is not known; "": it can
};

// A file with several sets of images, none of which is a volume that lepus wrote.
struct ImageSetsDescription {
  std::string format;  // "an HDF5 file"
  std::vector<ImageSet> sets;
};

using FileDescription = std::variant<ScanDescription, VolumeDescription, FramesDescription, ImageSetsDescription>;

// file: a scan file (.toml), which is read and checked as a reconstruction would; the folder of a scanner, or its
// header; a pattern such as "frames/*.tif" that names frames; else a volume.
LEPUS_API FileDescription describe_file(const std::filesystem::path& file, const DescribeOptions& options = {});

}  // namespace lepus
