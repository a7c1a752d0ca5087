// SPDX-License-Identifier: Apache-2.0
// Which method to take: several on one slab of a scan, as a picture and in numbers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <lepus/reconstruct.h>

namespace lepus {

struct ComparedMethod {
  std::string name;
  double seconds = 0;
  double residual = 0;  // |A x - b| / |b| of what it made
};

struct MethodComparison {
  std::filesystem::path picture;        // that was written
  std::int64_t slice = 0, slices = 0;   // which one of the slab is shown, of how many
  std::int64_t rows = 0;                // of the detector, that the slab is made of
  std::vector<ComparedMethod> methods;  // in the order of the names
};

// methods: names of method_names(). Each takes of options.method and of the scan file's [method] what it knows; no
// state is kept or gone on with. The picture (PNG) has a row for each. One process does it.
LEPUS_API MethodComparison compare_methods(const std::filesystem::path& scan_file, const std::filesystem::path& picture,
                                           const std::vector<std::string>& methods,
                                           const ReconstructOptions& options = {});

}  // namespace lepus
