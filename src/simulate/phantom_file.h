// SPDX-License-Identifier: Apache-2.0
// Phantoms from files: TOML in millimetres (docs/simulation.md), the .pd form of LEAP and the FORBILD head, and parts
// as STL surfaces.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "simulate/phantom.h"

namespace lepus {

struct PhantomFileOptions {
  double water_per_mm = 0.02;  // .pd, which gives electron densities: what water gets; .stl: its value
  std::string material{};      // .stl: instead of that value
  double size_mm = 0;          // .stl: of its longest edge; 0: as it is, in mm
};

// By the ending: .toml, .pd or .stl. Throws Error(input) naming file and line.
Phantom read_phantom(const std::filesystem::path& file, const PhantomFileOptions& options = {});

bool is_stl(const std::filesystem::path& file);  // by its ending

Phantom parse_phantom_toml(std::string_view text, const std::string& file);
Phantom parse_pd(std::string_view text, const std::string& file, const PhantomFileOptions& options);

}  // namespace lepus
