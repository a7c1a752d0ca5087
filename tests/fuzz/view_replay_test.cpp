// SPDX-License-Identifier: Apache-2.0
// Some thousand requests to the viewer, made of the corpus by chance: each must be answered or refused.
#include <algorithm>
#include <random>
#include <string>

#include "replay.h"

namespace lepus {
namespace {

TEST(FuzzCorpus, view_requests_by_chance) {
  std::vector<std::string> seeds;
  for (const auto& entry : fs::directory_iterator(fs::path(LEPUS_SOURCE_DIR) / "tests/fuzz/corpus/view_request")) {
    std::ifstream in(entry.path(), std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  std::sort(seeds.begin(), seeds.end());
  ASSERT_FALSE(seeds.empty());
  const std::vector<std::string> words{"-1",  "0",    "1e308", "nan", "9223372036854775807",  ",",    "&",  "=",
                                       "%00", "auto", "/",     "..",  "18446744073709551616", "box=", "\n", "\xff"};
  std::mt19937 random(11);
  for (int turn = 0; turn < 3000; ++turn) {
    std::string text = seeds[random() % seeds.size()];
    for (unsigned change = 0; change <= random() % 4 && !text.empty(); ++change) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, 1 + random() % 8);
          break;
        case 2:
          text.insert(at, words[random() % words.size()]);
          break;
        default:
          text.replace(at, 1 + random() % 6, words[random() % words.size()]);
      }
    }
    SCOPED_TRACE(text);
    ASSERT_NO_THROW(fuzz::targets()[0].read(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
  }
}

}  // namespace
}  // namespace lepus
