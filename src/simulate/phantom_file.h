// SPDX-License-Identifier: Apache-2.0
// Phantoms from text: TOML in millimetres (docs/simulation.md), or the .pd form of LEAP and the FORBILD head.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "simulate/phantom.h"

namespace lepus {

struct PhantomFileOptions {
  double water_per_mm = 0.02;  // .pd only, which gives electron densities: what water gets
};

// By the ending: .toml or .pd. Throws Error(input) naming file and line.
Phantom read_phantom(const std::filesystem::path& file, const PhantomFileOptions& options = {});

Phantom parse_phantom_toml(std::string_view text, const std::string& file);
Phantom parse_pd(std::string_view text, const std::string& file, const PhantomFileOptions& options);

}  // namespace lepus
