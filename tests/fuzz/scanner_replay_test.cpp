// SPDX-License-Identifier: Apache-2.0
// The corpora of the scanners' headers, replayed as they are and with bytes changed.
#include <random>
#include <string>
#include <string_view>

#include "replay.h"

namespace lepus {
namespace {

using Target = void (*)(const std::uint8_t*, std::size_t);

// Bytes are overwritten, lines doubled and cut: what libFuzzer does, in small and always the same.
void mutate(const char* name, Target target) {
  std::mt19937 random(1);
  for (const auto& entry : fs::directory_iterator(fs::path(LEPUS_SOURCE_DIR) / "tests/fuzz/corpus" / name)) {
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
      ASSERT_NO_THROW(target(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
    }
  }
}

struct Case {
  const char* name;
  Target target;
};
class ScannerHeader : public testing::TestWithParam<Case> {};

TEST_P(ScannerHeader, is_read_or_refused) {
  replay(GetParam().name, GetParam().target);
  mutate(GetParam().name, GetParam().target);
}

INSTANTIATE_TEST_SUITE_P(
    FuzzCorpus, ScannerHeader,
    testing::Values(Case{"nikon_header", fuzz::nikon_header}, Case{"skyscan_header", fuzz::skyscan_header},
                    Case{"phoenix_header", fuzz::phoenix_header}, Case{"yxlon_header", fuzz::yxlon_header},
                    Case{"diondo_header", fuzz::diondo_header}, Case{"northstar_header", fuzz::northstar_header},
                    Case{"xrad_header", fuzz::xrad_header}, Case{"iba_header", fuzz::iba_header}),
    [](const auto& scanner) { return std::string(scanner.param.name); });

}  // namespace
}  // namespace lepus
