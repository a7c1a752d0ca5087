// SPDX-License-Identifier: Apache-2.0
// What a journal says is what was written to it, or it is refused: cut at every byte, changed in every byte, with lines
// moved about.
#include "core/journal.h"

#include <sstream>

#include "io/test_support.h"

namespace lepus {
namespace {

using namespace test;

const JournalHeader run_header{"reconstruct", {{"the scan file", "2f0c"}, {"--precision", "exact"}}};
const std::vector<JournalRecord> some{{"slab", "[0, 16] 4711"},
                                      {"odd", "a\\n backslash, a line\nend, \xff\xfe and a zero byte"},
                                      {"empty", ""},
                                      {"slab", "[16, 32] 0815"}};

void write_journal(const fs::path& file, const std::vector<JournalRecord>& records) {
  Journal journal(file, run_header);
  for (const JournalRecord& record : records) journal.append(record);
  journal.flush();
}

void put_bytes(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc).write(bytes.data(), std::ssize(bytes));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line + "\n");
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

// Whether these are the first of those that were written.
bool is_beginning(const std::vector<JournalRecord>& records) {
  return records.size() <= some.size() && std::equal(records.begin(), records.end(), some.begin());
}

TEST(Journal, says_what_was_written) {
  const TempFolder folder;
  const fs::path file = journal_name(folder / "v.mha");
  EXPECT_EQ(file.filename(), "v.mha.journal");
  write_journal(file, some);
  const JournalContents read = read_journal(file);
  EXPECT_EQ(read.header.command, "reconstruct");
  EXPECT_EQ(read.header.facts, run_header.facts);
  EXPECT_EQ(read.records, some);
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(Journal, cut_anywhere_keeps_the_records_before) {
  const TempFolder folder;
  const fs::path file = folder / "v.journal";
  write_journal(file, some);
  const std::string whole = read_file(file);
  std::size_t refused = 0, fewer = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    put_bytes(file, whole.substr(0, size));
    JournalContents read;
    if (error_of([&] { read = read_journal(file); })) {
      ++refused;
      continue;
    }
    EXPECT_LT(read.records.size(), some.size()) << size;
    EXPECT_TRUE(is_beginning(read.records)) << size;
    ++fewer;
  }
  // The header came into place as a whole: without it, no journal.
  EXPECT_EQ(refused, whole.find(" begin \n") + 8);
  EXPECT_GT(fewer, 100U);
}

TEST(Journal, a_changed_byte_is_never_believed) {
  const TempFolder folder;
  const fs::path file = folder / "v.journal";
  write_journal(file, some);
  const std::string whole = read_file(file);
  const std::size_t last_line = whole.rfind('\n', whole.size() - 2) + 1;
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const char mask : {'\x01', '\x80'}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ mask);
      put_bytes(file, changed);
      JournalContents read;
      const auto error = error_of([&] { read = read_journal(file); });
      if (at + 1 < last_line)  // the line end before the last line belongs to the end, too
        EXPECT_TRUE(error) << at;
      else
        EXPECT_TRUE(!error && read.records.size() < some.size() && is_beginning(read.records)) << at;
    }
}

TEST(Journal, lines_that_were_removed_moved_or_taken_from_another_are_refused) {
  const TempFolder folder;
  const fs::path file = folder / "v.journal", other = folder / "w.journal";
  write_journal(file, some);
  write_journal(other, some);
  const std::vector<std::string> lines = lines_of(read_file(file));
  const std::size_t records = lines.size() - some.size();
  const auto refused = [&](const std::vector<std::string>& changed) {
    put_bytes(file, joined(changed));
    const auto error = error_of([&] { read_journal(file); });
    return error && error->kind() == ErrorKind::input && error->parts().hint.find("--restart") != std::string::npos;
  };
  std::vector<std::string> changed = lines;
  changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(records));
  EXPECT_TRUE(refused(changed));
  changed = lines;
  std::swap(changed[records], changed[records + 1]);
  EXPECT_TRUE(refused(changed));
  changed = lines;
  changed.push_back(lines.back());
  EXPECT_TRUE(refused(changed));
  changed = lines;
  changed[records] = lines_of(read_file(other))[records];
  EXPECT_TRUE(refused(changed));
}

TEST(Journal, goes_on_where_it_was_torn) {
  const TempFolder folder;
  const fs::path file = folder / "v.journal";
  write_journal(file, {some[0], some[1]});
  put_bytes(file, read_file(file) + "0123abcd 6 slab [16, 3" + std::string(300, '\0'));
  {
    const JournalContents read = read_journal(file);
    EXPECT_EQ(read.records.size(), 2U);
    Journal journal(file, read);
    journal.append(some[2]);
    journal.append(some[3]);
    journal.flush();
  }
  EXPECT_EQ(read_journal(file).records, some);
}

TEST(Journal, another_kind_of_file_stays) {
  const TempFolder folder;
  const fs::path file = folder / "v.journal";
  put_bytes(file, "what I did on Monday\n");
  EXPECT_EQ(error_of([&] { read_journal(file); })->kind(), ErrorKind::input);
  EXPECT_EQ(error_of([&] { Journal(file, run_header); })->kind(), ErrorKind::disk);
  EXPECT_EQ(read_file(file), "what I did on Monday\n");
  put_bytes(file, "lepus journal 2 0123\n");
  EXPECT_NE(error_of([&] { read_journal(file); })->parts().why.find("format 2"), std::string::npos);
}

TEST(Journal, names_what_differs) {
  const TempFolder folder;
  const fs::path file = folder / "v.journal";
  write_journal(file, some);
  const JournalContents begun = read_journal(file);
  EXPECT_FALSE(error_of([&] { require_same_run(begun, run_header, "v.mha"); }));
  const auto why = [&](const JournalContents& before, const JournalHeader& now) {
    const auto error = error_of([&] { require_same_run(before, now, "v.mha"); });
    return error ? error->parts().why : std::string();
  };
  EXPECT_EQ(why(begun, {"post", run_header.facts}), "the command was reconstruct, now it is post");
  EXPECT_EQ(why(begun, {"reconstruct", {run_header.facts[0], {"--precision", "fast"}}}),
            "--precision was exact, now it is fast");
  EXPECT_EQ(why(begun, {"reconstruct", {run_header.facts[0]}}), "--precision was exact, now it is not given");
  JournalContents older = begun;
  older.lepus = "0.0.1";
  EXPECT_NE(why(older, run_header).find("the version of lepus was 0.0.1"), std::string::npos);
  // Of long values that begin alike, where they differ.
  const std::string long_start(100, 'x');
  const auto step = [&](const char* radius) {
    return JournalFact{"the steps", "do 1 = " + long_start + ", radius " + radius + "\n"};
  };
  const auto error = error_of([&] { require_same_fact(step("2"), step("3"), "v.mha"); });
  EXPECT_EQ(error->parts().why, "the steps: do 1 was ...xxxxxxxxxxx, radius 2, is ...xxxxxxxxxxx, radius 3");
}

}  // namespace
}  // namespace lepus
