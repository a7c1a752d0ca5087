// SPDX-License-Identifier: Apache-2.0
// The corpora of the scanners' headers, with bytes changed.
#include <random>
#include <string>
#include <string_view>

#include "replay.h"

namespace lepus {
namespace {

// Bytes are overwritten, lines doubled and cut: what libFuzzer does, in small and always the same.
void mutate(const fuzz::Target& target) {
  std::mt19937 random(1);
  for (const auto& entry : fs::directory_iterator(fs::path(LEPUS_SOURCE_DIR) / "tests/fuzz/corpus" / target.name)) {
    std::ifstream in(entry.path(), std::ios::binary);
    const std::vector<char> whole{std::istreambuf_iterator<char>(in), {}};
    if (whole.empty()) continue;
    for (int turn = 0; turn < 60; ++turn) {
      std::vector<char> bytes = whole;
      for (int change = 0; change < 4; ++change) {
        const std::size_t at = random() % bytes.size();
        const std::string_view usual = "0-9.e=<>[]/ \n";
        if (random() % 8 == 0)
          bytes.insert(bytes.end(), whole.begin() + static_cast<std::ptrdiff_t>(random() % whole.size()), whole.end());
        else if (random() % 4 == 0)
          bytes[at] = static_cast<char>(random() % 256);
        else
          bytes[at] = usual[random() % usual.size()];
      }
      SCOPED_TRACE(std::string(bytes.begin(), bytes.end()));
      ASSERT_NO_THROW(target.read(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
    }
  }
}

TEST(FuzzCorpus, changed_headers_are_read_or_refused) {
  for (const fuzz::Target& target : fuzz::targets())
    if (std::string_view(target.name) != "hdf5_header") mutate(target);  // at which libhdf5 itself may crash
}

}  // namespace
}  // namespace lepus
