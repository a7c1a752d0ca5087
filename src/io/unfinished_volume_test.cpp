// SPDX-License-Identifier: Apache-2.0
// Volumes that outlive their process, in every format: killed writers, several processes at a time, the end of finish()
// interrupted. The finished files are those of a run that was never interrupted.
#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <set>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "core/output_file.h"
#include "core/row_checksum.h"
#include "io/stack.h"
#include "io/test_support.h"

namespace lepus {
namespace {

using namespace test;

TEST(UnfinishedVolume, may_appear_a_little_later) {
  const TempFolder folder;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    std::ofstream(folder / "v.mha.unfinished").put('1');
  });
  EXPECT_TRUE(unfinished_appears(folder / "v.mha", std::chrono::seconds(60)));
  other.join();
  EXPECT_FALSE(unfinished_appears(folder / "w.mha", std::chrono::milliseconds(1)));
}

TEST(UnfinishedVolume, slices_leave_others_files_alone) {
  const TempFolder folder;
  const fs::path slices = folder / "%04d.tif";
  for (const char* name : {"0003.tif", "00003.tif", "volume.json"})
    std::ofstream(folder / (std::string(name) + ".unfinished")).put('1');
  // The last two: a stack of that name.
  const std::set<std::string> others{"other.tif.unfinished", "0004.png.unfinished", "a0003.tif.unfinished",
                                     "0005.tif.unfinished", "0005.tif.journal"};
  for (const std::string& name : others) std::ofstream(folder / name).put('1');
  remove_unfinished(slices);
  std::set<std::string> left;
  for (const auto& entry : fs::directory_iterator(folder.path())) left.insert(entry.path().filename().string());
  EXPECT_EQ(left, others);
}

const char* const names[] = {"v.mha", "v.mhd", "v.nrrd", "v.nhdr", "v.tif", "slices/",
                             "v.h5",  "v.raw", "v.npy",  "v.npz",  "v.zarr"};
const std::string provenance = R"({"program":"lepus"})";

// Runs `action` in a process of its own; how that ended.
int in_process(const std::function<void()>& action) {
  const ::pid_t id = ::fork();
  if (id == 0) {
    const auto error = error_of(action);
    if (error) std::fprintf(stderr, "%s\n", error->what());
    ::_exit(error ? 1 : 0);
  }
  int status = 0;
  ::waitpid(id, &status, 0);
  return status;
}
[[noreturn]] void die() {
  ::kill(::getpid(), SIGKILL);
  std::abort();
}

class UnfinishedVolumes : public testing::TestWithParam<const char*> {
protected:
  void SetUp() override {
    const std::string name = GetParam();
    if (!have(name == "slices/" ? "%04d.tif" : name.substr(1))) GTEST_SKIP() << "this build has no " << name;
  }
  fs::path target() const { return folder / GetParam(); }
  void write(VolumeWriter& writer, std::int64_t z0, std::int64_t z1) const {
    writer.write(z0, z1, voxels.data() + z0 * grid.nx * grid.ny);
  }
  void expect_whole() const {
    const auto reader = open_volume(target());
    EXPECT_EQ(reader->grid(), grid);
    EXPECT_EQ(reader->provenance(), provenance);
    std::vector<float> back(voxels.size());
    reader->read(0, grid.nz, back.data());
    EXPECT_EQ(back, voxels);
    EXPECT_FALSE(unfinished_exists(target()));
    // The same files as those of a volume that was written at one go; HDF5 notes the time.
    const TempFolder other;
    const auto writer = create_volume(other / GetParam(), grid);
    write(*writer, 0, grid.nz);
    writer->finish(provenance);
    const auto expected = files_below(other.path()), found = files_below(folder.path());
    EXPECT_EQ(found.size(), expected.size());
    if (std::string(GetParam()) == "v.h5") return;
    EXPECT_EQ(found, expected);
  }
  std::uint64_t sum(std::int64_t z0, std::int64_t z1) const {
    std::uint64_t total = 0;
    const std::int64_t n = grid.nx * grid.ny;
    for (std::int64_t z = z0; z < z1; ++z) total += row_checksum(z, 0, voxels.data() + z * n, 4 * n);
    return total;
  }

  const VolumeGrid grid = odd_grid();  // 6 slices
  const std::vector<float> voxels = pattern_volume(grid);
  TempFolder folder;
};

TEST_P(UnfinishedVolumes, survives_a_killed_writer) {
  EXPECT_FALSE(unfinished_exists(target()));
  in_process([&] {
    const auto writer = create_unfinished(target(), grid);
    write(*writer, 1, 3);
    writer->flush(1, 3);
    die();
  });
  EXPECT_TRUE(unfinished_exists(target()));
  EXPECT_LEPUS_ERROR(create_unfinished(target(), grid), ErrorKind::disk, "already");
  in_process([&] {
    const auto writer = reopen_unfinished(target(), grid, {}, {{1, 3}});
    write(*writer, 5, 6);
    die();
  });
  const auto writer = reopen_unfinished(target(), grid, {}, {{1, 3}});
  EXPECT_EQ(writer->checksum(1, 3), sum(1, 3));
  EXPECT_LEPUS_ERROR(write(*writer, 2, 4), ErrorKind::internal, "twice");
  EXPECT_LEPUS_ERROR(writer->finish(provenance), ErrorKind::internal, "0, 3-5 missing");
  write(*writer, 3, 6);  // slice 5 again: nobody had recorded it
  write(*writer, 0, 1);
  EXPECT_EQ(writer->checksum(0, 6), sum(0, 6));
  writer->finish(provenance);
  expect_whole();
}

TEST_P(UnfinishedVolumes, is_written_by_several_processes_and_finished_by_one) {
  const VolumeWriterOptions shared{.sharing = Sharing::with_others};
  auto writer = create_unfinished(target(), grid, shared);
  for (const FinishedSlices part : {FinishedSlices{0, 2}, FinishedSlices{4, 6}})
    EXPECT_EQ(in_process([&] {
                const auto mine = reopen_unfinished(target(), grid, shared, {});
                write(*mine, part.z0, part.z1);
                mine->flush(part.z0, part.z1);
              }),
              0);
  write(*writer, 2, 4);
  writer->written_elsewhere(0, 2);
  writer->written_elsewhere(0, 2);
  writer->written_elsewhere(4, 6);
  EXPECT_EQ(writer->checksum(0, 6), sum(0, 6));
  // One that closes it a moment later holds it up, and finds it finished.
  const ::pid_t slow = ::fork();
  if (slow == 0) {
    const auto late = error_of([&] {
      const auto other = reopen_unfinished(target(), grid, shared, {{0, 6}});
      write_file(folder.path() / "open", "");
      ::usleep(200000);
      other->finish(provenance);
    });
    ::_exit(late ? 1 : 0);
  }
  while (!fs::exists(folder / "open")) ::usleep(1000);
  fs::remove(folder / "open");
  writer->finish(provenance);
  writer.reset();
  int status = 0;
  ::waitpid(slow, &status, 0);
  EXPECT_EQ(status, 0);
  expect_whole();
}

// What such a run leaves: some files renamed, what finish() adds half there.
void interrupt_finish(const std::string& format, const fs::path& target) {
  const auto place = [](const fs::path& file) { fs::rename(unfinished_name(file), file); };
  const auto overwrite = [](const fs::path& file, std::streamoff at, const std::string& bytes) {
    std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
    at < 0 ? out.seekp(0, std::ios::end) : out.seekp(at);
    out << bytes;
  };
  if (format == "v.mhd" || format == "v.nhdr") place(fs::path(target).replace_extension(".raw"));
  if (format == "v.raw" || format == "v.npy") write_file(target.string() + ".json", "{");
  if (format == "v.tif" || format == "v.npz")
    overwrite(unfinished_name(target), -1, "half a directory, longer than what is to be added at the end");
  if (format == "v.h5") overwrite(unfinished_name(target), 0, std::string(200, 'x'));
  if (format == "slices/")
    for (const char* name : {"slice_0000.tif", "slice_0001.tif"}) place(target / name);
  if (format == "v.zarr") {
    fs::create_directories(unfinished_name(target) / "0/0/0");
    write_file(unfinished_name(target) / "0/0/0/0", "half a chunk");
  }
}

TEST_P(UnfinishedVolumes, is_completed_after_a_run_that_was_killed_while_it_finished) {
  {
    const auto writer = create_unfinished(target(), grid);
    write(*writer, 0, 6);
  }
  interrupt_finish(GetParam(), target());
  EXPECT_TRUE(unfinished_exists(target()));
  Progress silent;
  auto locks = reserve_volume(target(), false, silent);
  const auto writer = reopen_unfinished(target(), grid, {}, {{0, 6}});
  EXPECT_EQ(writer->checksum(0, 6), sum(0, 6));
  writer->finish(provenance);
  locks.clear();
  expect_whole();
}

TEST_P(UnfinishedVolumes, stays_where_its_writer_goes_and_goes_where_it_is_removed) {
  {
    const auto writer = create_unfinished(target(), grid);
    write(*writer, 0, 2);
  }
  EXPECT_TRUE(unfinished_exists(target()));
  {
    const auto writer = reopen_unfinished(target(), grid, {}, {});
    EXPECT_NE(in_process([&] { remove_unfinished(target()); }), 0);  // somebody has it open
  }
  remove_unfinished(target());
  EXPECT_FALSE(unfinished_exists(target()));
  EXPECT_TRUE(files_below(folder.path()).empty());
  EXPECT_LEPUS_ERROR(reopen_unfinished(target(), grid, {}, {}), ErrorKind::disk, "no unfinished");
}

TEST_P(UnfinishedVolumes, is_not_called_finished_where_it_is_gone) {
  for (const bool over_an_older_one : {false, true}) {
    SCOPED_TRACE(over_an_older_one);
    const VolumeWriterOptions options{.force = over_an_older_one};
    if (over_an_older_one) {
      const auto older = create_volume(target(), grid);
      write(*older, 0, 6);
      older->finish("{}");
    }
    const auto writer = create_unfinished(target(), grid, options);
    write(*writer, 0, 6);
    fs::remove_all(unfinished_name(files_of_volume(target()).front()));
    EXPECT_LEPUS_ERROR(writer->finish(provenance), ErrorKind::disk, "gone");
    remove_unfinished(target());
  }
}

TEST_P(UnfinishedVolumes, is_not_taken_for_another_volume) {
  { const auto writer = create_unfinished(target(), grid); }
  VolumeGrid larger = grid;
  larger.nx *= 100;
  if (std::string(GetParam()) != "slices/")  // slices are looked at one by one
    EXPECT_LEPUS_ERROR(reopen_unfinished(target(), larger, {}, {}), ErrorKind::input, "another");
}

TEST_P(UnfinishedVolumes, locks_the_output_against_ordinary_runs) {
  const VolumeWriterOptions shared{.sharing = Sharing::with_others};
  const auto writer = create_unfinished(target(), grid, shared);
  EXPECT_NE(in_process([&] { create_volume(target(), grid, {.force = true}); }), 0);
  EXPECT_EQ(in_process([&] { reopen_unfinished(target(), grid, shared, {}); }), 0);
  EXPECT_NE(in_process([&] { reopen_unfinished(target(), grid, {}, {}); }), 0);
}

INSTANTIATE_TEST_SUITE_P(Formats, UnfinishedVolumes, testing::ValuesIn(names), [](const auto& format) {
  std::string name = format.param;
  std::erase_if(name, [](unsigned char c) { return !std::isalnum(c); });
  return name;
});

}  // namespace
}  // namespace lepus
