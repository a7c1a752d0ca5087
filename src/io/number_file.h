// SPDX-License-Identifier: Apache-2.0
// Text files of numbers: angles, perturbations, matrices. Numbers are separated by blanks, commas, semicolons or line
// ends; # starts a comment.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lepus {

struct NumberFile {
  std::vector<double> values;
  std::vector<int> lines;  // of each value
};

// Throws Error(input) naming file and line where something is not a finite number.
NumberFile read_number_file(const std::filesystem::path& file);

struct NumberDataset {
  std::vector<double> values;
  std::string unit;  // of the attribute "units", "" where there is none
};

// All values of an HDF5 dataset, or of an array of a MATLAB or .npz file. Throws Error(input), or Error(unsupported) in
// a build without the library for it.
NumberDataset read_number_dataset(const std::filesystem::path& file, const std::string& dataset);

// Throws Error(input) for an angle that no scanner turns to: nearly 28,000 turns.
void check_angle_deg(double angle_deg, const std::string& where);

}  // namespace lepus
