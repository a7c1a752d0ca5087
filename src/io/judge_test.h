// SPDX-License-Identifier: Apache-2.0
// For tests that let other people's programs judge: the script of tests/judges is started, and its verdict is the
// test's. Files for it are made with the pattern that the scripts know.
#pragma once

#include <sys/wait.h>

#include "io/test_support.h"

namespace lepus::test {

// Runs the script; its exit status: 0 agreed, 77 a module is missing.
inline int judge(const std::string& script, const std::string& what, const fs::path& folder) {
  const std::string command = std::string(LEPUS_PYTHON " '" LEPUS_SOURCE_DIR) + "/tests/judges/" + script + "' " +
                              what + " '" + folder.string() + "' 2>&1";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

#define JUDGE_BY(script, what, folder)                                                                    \
  do {                                                                                                    \
    const int status = ::lepus::test::judge(script, what, folder);                                        \
    if (status == 77 || status == 127) GTEST_SKIP() << "SKIPPED: no " what " judge (see the line above)"; \
    ASSERT_EQ(status, 0) << what;                                                                         \
  } while (false)
#define JUDGE(what, folder) JUDGE_BY("formats_judge.py", what, folder)

inline void write_volume(const fs::path& path, std::size_t provenance_length = 30000, std::int64_t columns = 7) {
  VolumeGrid grid = odd_grid();
  grid.nx = columns;
  const auto writer = create_volume(path, grid, {.force = false, .unit = "1/mm", .provenance_room = 0});
  const std::vector<float> voxels = pattern_volume(grid);
  writer->write(0, 4, voxels.data());
  writer->write(4, 6, voxels.data() + 4 * grid.nx * grid.ny);
  // Long enough to fill many header lines of the formats that have such.
  writer->finish("{\"program\":\"lepus\",\"text\":\"" + std::string(provenance_length, '=') + "\"}");
}

template <class Pixel>
void write_frames(const fs::path& path, PixelType type) {
  const auto writer =
      create_frames(path, {.columns = 7, .rows = 5, .frames = 6, .type = type, .force = false, .dataset = ""});
  for (int f = 0; f < 6; ++f) writer->write(pattern_frame<Pixel>(7, 5, f).data());
  writer->finish();
}

}  // namespace lepus::test
