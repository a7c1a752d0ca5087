// SPDX-License-Identifier: Apache-2.0
// The corpus of every fuzzer, replayed: each file must be read or refused.
#include "replay.h"

namespace lepus {
namespace {

class Corpus : public testing::TestWithParam<fuzz::Target> {};

TEST_P(Corpus, is_read_or_refused) { replay(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Fuzz, Corpus, testing::ValuesIn(fuzz::targets().begin(), fuzz::targets().end()),
                         [](const auto& target) { return std::string(target.param.name); });

}  // namespace
}  // namespace lepus
