// SPDX-License-Identifier: Apache-2.0
// Outputs that are whole or not there, and two runs that want the same one: the other run is a fork of this one.
#include "core/output_file.h"

#include <chrono>
#include <csignal>
#include <functional>
#include <future>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/output_folder.h"
#include "core/reserve_space.h"
#include "core/scratch_file.h"
#include "io/test_support.h"

namespace lepus {
namespace {

using namespace test;

// Runs `action` in a process of its own, which then waits to be ended.
class OtherRun {
public:
  explicit OtherRun(const std::function<void()>& action) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
    id_ = ::fork();
    if (id_ == 0) {
      const char said = error_of(action) ? 'e' : 'k';
      if (::write(ends[1], &said, 1) != 1) ::_exit(1);
      ::pause();
      ::_exit(0);
    }
    ::close(ends[1]);
    char said = 0;
    good_ = ::read(ends[0], &said, 1) == 1 && said == 'k';
    ::close(ends[0]);
  }
  ~OtherRun() { kill(); }
  OtherRun(const OtherRun&) = delete;
  OtherRun& operator=(const OtherRun&) = delete;

  bool good() const { return good_; }
  ::pid_t id() const { return id_; }
  void kill() {
    if (id_ <= 0) return;
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
    id_ = 0;
  }

private:
  ::pid_t id_ = 0;
  bool good_ = false;
};

struct Notes final : Progress {
  void warning(const std::string& message) override { text += message; }
  std::string text;
};

// What a run that is killed leaves: its lock file, unlocked, and a partial file. Never freed, as in a process that
// dies.
void begin_and_stay(const fs::path& target) { (new PartialFile(target, false, 0))->append("half"); }

TEST(OutputFile, is_there_when_it_is_whole_and_not_before) {
  const TempFolder folder;
  {
    PartialFile file(folder / "v", false, 0);
    file.append("half");
    EXPECT_FALSE(fs::exists(folder / "v"));
  }
  EXPECT_EQ(folder.entries(), 0u);
  write_file(folder / "v", "whole", false);
  EXPECT_EQ(read_file(folder / "v"), "whole");
  EXPECT_EQ(folder.entries(), 1u);
  EXPECT_LEPUS_ERROR(write_file(folder / "v", "other", false), ErrorKind::disk, "exists already");
  EXPECT_EQ(read_file(folder / "v"), "whole");
}

TEST(OutputFile, leaves_files_of_others_alone) {
  const TempFolder folder;
  for (const char* name : {"v.partial", "v.partial-1-00000000", ".v.lepus-lock.mine"})
    write_file(folder / name, "mine", false);
  write_file(folder / "v", "whole", false);
  { const PartialFile discarded(folder / "v", true, 0); }
  for (const char* name : {"v.partial", "v.partial-1-00000000", ".v.lepus-lock.mine"})
    EXPECT_EQ(read_file(folder / name), "mine") << name;
  EXPECT_EQ(folder.entries(), 4u);
}

TEST(OutputLock, is_shared_by_those_that_agree_and_says_who_holds_it) {
  const TempFolder folder;
  const fs::path target = folder / "v";
  EXPECT_EQ(holder_of_output(target), "");
  const auto share = [&] { new OutputLock(target, OutputLock::Folder::must_exist, Sharing::with_others); };
  OtherRun first(share), second(share);
  EXPECT_TRUE(first.good() && second.good());
  EXPECT_NE(holder_of_output(target).find("process " + std::to_string(second.id())), std::string::npos);
  EXPECT_LEPUS_ERROR(OutputLock{target}, ErrorKind::disk, "another run is writing this");
  {
    OutputLock third(target, OutputLock::Folder::must_exist, Sharing::with_others);
    first.kill();
    EXPECT_FALSE(third.wait_alone(std::chrono::milliseconds(50)));
    second.kill();
    EXPECT_TRUE(third.wait_alone(std::chrono::milliseconds(50)));
    OtherRun late(share);
    EXPECT_FALSE(late.good());
  }
  EXPECT_EQ(holder_of_output(target), "");
  EXPECT_EQ(folder.entries(), 0u);
}

// As on a disk that is busy: whoever comes first has the lock alone, and has not come to write its name or to share it.
TEST(OutputLock, waits_for_those_that_are_about_to_share_it) {
  const TempFolder folder;
  const fs::path file = folder / ".v.lepus-lock";
  const auto held_with = [&](const std::string& record) {
    test::write_file(file, record);
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    EXPECT_EQ(::flock(descriptor, LOCK_EX), 0);
    return descriptor;
  };
  const auto share = [&] { OutputLock(folder / "v", OutputLock::Folder::must_exist, Sharing::with_others); };
  for (const char* record : {"", "lepus 1-00000000 shares\nprocess 1\n"}) {
    const auto freed = std::async(std::launch::async, [descriptor = held_with(record)] {
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      ::close(descriptor);
    });
    EXPECT_NO_THROW(share()) << record;
    freed.wait();
  }
  EXPECT_EQ(folder.entries(), 0u);
  const int alone = held_with("lepus 1-00000000\nprocess 1\n");
  EXPECT_LEPUS_ERROR(share(), ErrorKind::disk, "another run is writing this");
  ::close(alone);
}

TEST(OutputFile, takes_a_name_of_255_bytes) {
  const TempFolder folder;
  const std::string a = std::string(250, 'x') + ".mha", b = std::string(250, 'x') + ".raw";
  PartialFile first(folder / a, false, 0), second(folder / b, false, 0);
  first.append("a");
  second.append("b");
  commit_together({&first, nullptr, &second});
  EXPECT_EQ(read_file(folder / a) + read_file(folder / b), "ab");
}

TEST(OutputFile, never_replaces_what_appeared_meanwhile) {
  const TempFolder folder;
  PartialFile file(folder / "v", false, 0), forced(folder / "w", true, 0);
  file.append("new");
  forced.append("new");
  test::write_file(folder / "v", "theirs");
  test::write_file(folder / "w", "theirs");
  EXPECT_LEPUS_ERROR(file.commit(), ErrorKind::disk, "not there when the run began");
  EXPECT_EQ(read_file(folder / "v"), "theirs");
  forced.commit();
  EXPECT_EQ(read_file(folder / "w"), "new");
}

TEST(OutputFile, of_several_none_is_put_in_place_where_one_cannot) {
  const TempFolder folder;
  {
    PartialFile data(folder / "v.raw", false, 0), header(folder / "v.mhd", false, 0);
    test::write_file(folder / "v.mhd", "theirs");
    EXPECT_LEPUS_ERROR(commit_together({&data, &header}), ErrorKind::disk, "v.mhd");
  }
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(OutputFile, follows_links) {
  const TempFolder folder;
  fs::create_directory(folder / "disk");
  fs::create_symlink("disk/real", folder / "link");
  fs::create_symlink("link", folder / "link to it");
  write_file(folder / "link to it", "first", false);  // it led nowhere
  EXPECT_EQ(read_file(folder / "disk/real"), "first");
  EXPECT_LEPUS_ERROR(write_file(folder / "link", "second", false), ErrorKind::disk, "exists already");
  write_file(folder / "link", "second", true);
  EXPECT_TRUE(fs::is_symlink(folder / "link") && fs::is_symlink(folder / "link to it"));
  EXPECT_EQ(read_file(folder / "disk/real"), "second");
  const OtherRun other([&] { begin_and_stay(folder / "disk/third"); });
  ASSERT_TRUE(other.good());
  fs::create_symlink("disk/third", folder / "link to third");
  EXPECT_LEPUS_ERROR(write_file(folder / "link to third", "x", true), ErrorKind::disk, "another run");
}

TEST(OutputFile, is_no_device_and_no_folder) {
  const TempFolder folder;
  EXPECT_LEPUS_ERROR(write_file("/dev/null", "x", true), ErrorKind::disk, "device");
  EXPECT_LEPUS_ERROR(write_file(folder.path(), "x", true), ErrorKind::disk, "folder");
  EXPECT_LEPUS_ERROR(write_file(folder / "none/v", "x", true), ErrorKind::disk, "no folder");
}

TEST(OutputLock, names_the_run_that_holds_it) {
  const TempFolder folder;
  const OtherRun other([&] { begin_and_stay(folder / "v"); });
  ASSERT_TRUE(other.good());
  for (const bool force : {false, true}) {
    EXPECT_LEPUS_ERROR(write_file(folder / "v", "x", force), ErrorKind::disk, "another run");
    EXPECT_LEPUS_ERROR(write_file(folder / "v", "x", force), ErrorKind::disk,
                       "process " + std::to_string(other.id()) + " on ");
  }
  write_file(folder / "w", "another output", false);
}

TEST(OutputLock, is_free_when_the_holder_was_killed_and_its_leftovers_go) {
  const TempFolder folder;
  OtherRun other([&] { begin_and_stay(folder / "v"); }), third([&] { begin_and_stay(folder / "w"); });
  ASSERT_TRUE(other.good() && third.good());
  const std::string process = "process " + std::to_string(other.id()) + " on ";
  other.kill();
  EXPECT_EQ(folder.entries(), 4u);  // a lock file and a partial file each
  Notes notes;
  {
    const OutputLock lock = reserve_output(folder / "v", false, notes);
    EXPECT_NE(notes.text.find(process), std::string::npos) << notes.text;
    EXPECT_NE(notes.text.find("v.partial-"), std::string::npos) << notes.text;
    write_file(folder / "v", "whole", false);
  }
  EXPECT_EQ(read_file(folder / "v"), "whole");
  EXPECT_EQ(folder.entries(), 3u);  // those of the run that lives are left
}

TEST(OutputLock, is_shared_within_a_run_but_one_file_is_written_once) {
  const TempFolder folder;
  Progress silent;
  const OutputLock reserved = reserve_output(folder / "v", false, silent);
  {
    const PartialFile file(folder / "v", false, 0);
    EXPECT_LEPUS_ERROR(PartialFile(folder / "v", false, 0), ErrorKind::disk, "this run is writing it already");
  }
  const OtherRun other([&] { begin_and_stay(folder / "v"); });
  EXPECT_FALSE(other.good()) << "the lock was lost with the file";
}

TEST(OutputLock, removes_the_folder_that_it_made_only_where_it_is_empty) {
  const TempFolder folder;
  { const OutputLock lock(folder / "made/v", OutputLock::Folder::is_made); }
  EXPECT_FALSE(fs::exists(folder / "made"));
  {
    const OutputLock lock(folder / "made/v", OutputLock::Folder::is_made);
    write_file(folder / "made/w", "x", false);
  }
  EXPECT_TRUE(fs::exists(folder / "made/w"));
}

TEST(OutputFolder, appears_whole_and_replaces_what_it_may) {
  const TempFolder folder;
  Progress silent;
  const auto fill = [&](PartialFolder::Replace replace, const std::string& text) {
    PartialFolder made(folder / "scan/", silent);
    write_file(made.path() / "a", text, false);
    made.commit(replace);
  };
  { const PartialFolder dropped(folder / "scan", silent); }
  EXPECT_EQ(folder.entries(), 0u);
  fill(PartialFolder::Replace::nothing, "1");
  EXPECT_LEPUS_ERROR(fill(PartialFolder::Replace::nothing, "2"), ErrorKind::disk, "appeared");
  EXPECT_EQ(read_file(folder / "scan/a"), "1");
  write_file(folder / "scan/b", "mine", false);
  fill(PartialFolder::Replace::same_names, "3");
  EXPECT_EQ(read_file(folder / "scan/a") + read_file(folder / "scan/b"), "3mine");
  fill(PartialFolder::Replace::whole, "4");
  EXPECT_EQ(read_file(folder / "scan/a"), "4");
  EXPECT_EQ(folder.entries(), 2u);
}

TEST(OutputFolder, of_another_run_is_named_and_of_a_dead_one_removed) {
  const TempFolder folder;
  Notes notes;
  OtherRun other([&] { test::write_file((new PartialFolder(folder / "scan", notes))->path() / "frame", "half"); });
  ASSERT_TRUE(other.good());
  EXPECT_LEPUS_ERROR(PartialFolder(folder / "scan", notes), ErrorKind::disk, "process " + std::to_string(other.id()));
  other.kill();
  { const PartialFolder again(folder / "scan", notes); }
  EXPECT_NE(notes.text.find("scan.partial-"), std::string::npos) << notes.text;
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(ScratchFile, has_no_name_and_keeps_its_bytes) {
  const TempFolder folder;
  ScratchFile a(folder.path(), 100, {"a test", ""}), b(folder.path(), 100, {"a test", ""});
  EXPECT_EQ(folder.entries(), 0u);
  a.write(90, "from a", 6);
  b.write(90, "from b", 6);
  char text[6];
  a.read(90, text, 6);
  EXPECT_EQ(std::string(text, 6), "from a");
  EXPECT_LEPUS_ERROR(ScratchFile(folder / "none", 1, {"a test", ""}), ErrorKind::disk, "scratch file for a test");
}

TEST(ScratchFile, of_an_output_has_its_name_and_goes_with_the_run) {
  const TempFolder folder;
  {
    ScratchFile rows(folder / "v.mha", "rows", 100, {"a test", ""});
    EXPECT_TRUE(rows.name().filename().string().starts_with("v.mha.rows-")) << rows.name();
    EXPECT_EQ(fs::file_size(rows.name()), 100u);
    rows.write(0, "text", 4);
    EXPECT_EQ(read_file(rows.name()).substr(0, 4), "text");
    EXPECT_LEPUS_ERROR(ScratchFile(folder / "v.mha", "rows", 1, {"a test", ""}), ErrorKind::disk, "v.mha.rows-");
    EXPECT_TRUE(fs::exists(rows.name())) << "the second one harms the first";
    PartialFile output(folder / "v.mha", false, 0);  // under the same lock
    output.commit();
    EXPECT_TRUE(fs::exists(rows.name()));
  }
  EXPECT_EQ(folder.entries(), 1u);
  EXPECT_LEPUS_ERROR(ScratchFile(folder / "w.mha", "rows", std::int64_t{1} << 60, {"a test", ""}), ErrorKind::disk,
                     "space for the scratch file for a test");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(ScratchFile, of_a_run_that_was_killed_is_found_by_the_next) {
  const TempFolder folder;
  OtherRun other([&] {
    begin_and_stay(folder / "v.mha");
    new ScratchFile(folder / "v.mha", "rows", 4096, {"a test", ""});  // never freed, as in a process that dies
  });
  ASSERT_TRUE(other.good());
  EXPECT_LEPUS_ERROR(ScratchFile(folder / "v.mha", "rows", 1, {"a test", ""}), ErrorKind::disk,
                     "process " + std::to_string(other.id()));
  other.kill();
  EXPECT_EQ(folder.entries(), 3u);
  Notes notes;
  { const OutputLock lock = reserve_output(folder / "v.mha", false, notes); }
  EXPECT_NE(notes.text.find("removed 2 files (4.0 KiB)"), std::string::npos) << notes.text;
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(OutputFile, has_its_space_from_the_start) {
  const TempFolder folder;
  PartialFile file(folder / "v.raw", false, 1 << 20, Unfinished::kept);
  file.append("head");
  reserve_space(file, 4, 1 << 20);
  EXPECT_EQ(file.end(), 4 + (1 << 20));
  EXPECT_EQ(fs::file_size(file.partial()), 4U + (1U << 20));
  char start[8] = {};
  file.read(0, start, 8);
  EXPECT_EQ(std::string(start, 8), std::string("head\0\0\0\0", 8)) << "what was there stays, the rest is zeros";
}

}  // namespace
}  // namespace lepus
