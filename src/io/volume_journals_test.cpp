// SPDX-License-Identifier: Apache-2.0
#include "io/volume_journals.h"

#include <fstream>

#include "core/format.h"
#include "io/test_support.h"

namespace lepus {
namespace {

using namespace test;

TEST(VolumeJournals, speed_is_that_of_the_last_process) {
  EXPECT_EQ(slices_per_second({}), 0);
  EXPECT_DOUBLE_EQ(slices_per_second({{{0, 8}, 0, 100}, {{8, 16}, 0, 2}, {{16, 24}, 0, 4}}), 4);
}

TEST(VolumeJournals, are_known_by_their_names) {
  for (const char* name : {"v.mha.journal", "v.mha.share-3-of-16.journal", "v.mha.rank-1-of-2.journal"})
    EXPECT_EQ(name_before_journal(name), "v.mha") << name;
  EXPECT_EQ(name_before_journal(".journal"), "");
  for (const char* part : {"share-3", "share--1-of-2", "share-3-of-", "rank-1-of-2 ", "ranks-1-of-2", "xrank-1-of-2"}) {
    const std::string name = format("v.mha.{}", part);
    EXPECT_EQ(name_before_journal(name + ".journal"), name);
  }
  for (const char* name : {"v.mha", "v.mha.journals", "journal", ""})
    EXPECT_EQ(name_before_journal(name), std::nullopt) << name;
}

TEST(VolumeJournals, knows_its_parts) {
  const TempFolder folder;
  const JournalHeader header{"test", {}};
  for (const char* part : {"", "share-3-of-16", "rank-1-of-2"})
    Journal(journal_of_part(folder / "v.mha", part), header);
  std::ofstream(folder / "v.mha.other.journal") << "mine";
  std::ofstream(folder / "w.mha.journal") << "mine";
  const auto found = journals_of(folder / "v.mha");
  ASSERT_EQ(found.size(), 3U);
  std::vector<std::string> parts;
  for (const fs::path& file : found) parts.push_back(part_of_journal(file, folder / "v.mha"));
  EXPECT_EQ(parts, (std::vector<std::string>{"", "rank-1-of-2", "share-3-of-16"}));
}

}  // namespace
}  // namespace lepus
