// SPDX-License-Identifier: Apache-2.0
// One slice of a scan with all corrections of its scan file, without any, and without each of them: a scan file -> an
// HTML page, a picture, and numbers by which the versions are compared.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <lepus/call.h>
#include <lepus/compute.h>
#include <lepus/export.h>

namespace lepus {

struct PreviewOptions {
  std::filesystem::path page = "preview.html";  // the picture gets the same name with .png
  std::optional<double> place = {};             // of the slice, from 0 (first) to 1 (last); none: the middle
  std::optional<std::int64_t> index = {};       // or its number, counted from 0
  Compute compute = {};                         // its threads and memory are those of `call`
  Call call = {};
};

struct PreviewVersion {
  std::string name;                      // "without rings"
  double rings_per_mm = 0;               // rms of what stays the same around the axis
  double noise_per_mm = 0;               // standard deviation where the object is flattest
  double gradient_energy = 0;            // mean squared gradient, in 1/mm^4: grows with sharpness and with noise
  double seconds = 0;                    // of this version's reconstruction
  std::vector<std::string> corrections;  // what each found and changed
};

struct PreviewReport {
  std::filesystem::path page, picture;   // that were written
  std::int64_t slice = 0;                // its number, counted from 0
  double z_mm = 0;                       // where it lies
  std::vector<PreviewVersion> versions;  // the first without corrections, the last with all of them
};

// The slices are made by FDK, whatever method the scan file has, from the detector rows that they need. Throws
// Error(usage) where there is no such slice.
LEPUS_API PreviewReport preview(const std::filesystem::path& scan_file, const PreviewOptions& options = {});

}  // namespace lepus
