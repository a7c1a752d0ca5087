// SPDX-License-Identifier: Apache-2.0
// A program that uses lepus as a library:  reconstruct scan.toml volume.mha
#include <iostream>
#include <lepus/lepus.h>

int main(int count, char** words) try {
  if (count != 3) {
    std::cerr << "usage: reconstruct scan.toml volume.mha\n";
    return 2;
  }
  const auto report = lepus::reconstruct(words[1], words[2]);
  std::cout << report.plan << "\n" << report.seconds << " s\n";
} catch (const lepus::Error& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
