// SPDX-License-Identifier: Apache-2.0
// What the pre-pass found out, as bytes for the next start of the run and back (core/kept_results.h).
#pragma once

#include <string>
#include <vector>

#include "core/memory.h"
#include "run/counts.h"
#include "preprocess/normalise.h"

namespace lepus {

// Mean flats and darks, and what is said of them.
struct Normalised {
  Normalisation maps;
  std::string flats_checksum, darks_checksum, intensity;
};

std::string to_bytes(const CountFigures& counts);
std::string to_bytes(const Normalised& normalised);
std::string to_bytes(const Buffer<float>& values);
std::string to_bytes(const std::vector<std::string>& texts);

CountFigures counts_from(const std::string& bytes);
Normalised normalised_from(const std::string& bytes);
Buffer<float> values_from(const std::string& bytes);
std::vector<std::string> texts_from(const std::string& bytes);

}  // namespace lepus
