// SPDX-License-Identifier: Apache-2.0
// How a volume is made from line integrals: filtered backprojection or an iterative method (docs/iterative.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <lepus/export.h>

namespace lepus {

// Goes before [method] of a scan file, whose words these are; what is none or "" stays as it is there.
struct MethodChoices {
  std::string name = {};                        // one of method_names()
  std::optional<std::int64_t> iterations = {};  // at most
  std::optional<std::int64_t> subsets = {};     // of the views, for methods that have them
  std::optional<double> strength = {};          // of the regularisation, without unit: 0.0001 to 0.01 are usual
  std::optional<bool> choose_strength = {};     // as strong as the noise of the scan wants it
  std::string start = {};                       // "zero", "fdk" or a volume file
  std::string weights = {};                     // of line integrals: "none", or "counts" for those of their photons
  std::string model = {};                       // how a ray meets voxels: "joseph", "siddon", "footprint", "voxel"
  // When the state is kept beside the output: after so many iterations, after so many minutes, or both.
  std::optional<std::int64_t> save_every = {};
  std::optional<double> save_minutes = {};

  friend bool operator==(const MethodChoices&, const MethodChoices&) = default;
};

LEPUS_API std::vector<std::string> method_names();  // "fdk", and the iterative ones

}  // namespace lepus
