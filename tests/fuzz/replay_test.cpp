// SPDX-License-Identifier: Apache-2.0
// The corpus of every fuzzer, replayed: each file must be read or refused.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include <gtest/gtest.h>

#include "fuzz_targets.h"

namespace lepus {
namespace {

namespace fs = std::filesystem;

void replay(const char* name, void (*target)(const std::uint8_t*, std::size_t)) {
  const fs::path corpus = fs::path(LEPUS_SOURCE_DIR) / "tests/fuzz/corpus" / name;
  int count = 0;
  for (const auto& entry : fs::directory_iterator(corpus)) {
    SCOPED_TRACE(entry.path().string());
    std::ifstream in(entry.path(), std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    EXPECT_NO_THROW(target(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
    ++count;
  }
  EXPECT_GE(count, 3) << "the corpus of " << name << " is missing";
}

TEST(FuzzCorpus, mha) { replay("mha", fuzz::mha); }
TEST(FuzzCorpus, nrrd) { replay("nrrd", fuzz::nrrd); }
TEST(FuzzCorpus, tiff) { replay("tiff", fuzz::tiff); }
TEST(FuzzCorpus, hdf5) { replay("hdf5", fuzz::hdf5); }
TEST(FuzzCorpus, raw_sidecar) { replay("raw_sidecar", fuzz::raw_sidecar); }
TEST(FuzzCorpus, zarr) { replay("zarr", fuzz::zarr); }
TEST(FuzzCorpus, stl) { replay("stl", fuzz::stl); }
TEST(FuzzCorpus, rabbitct) { replay("rabbitct", fuzz::rabbitct); }

}  // namespace
}  // namespace lepus
