// SPDX-License-Identifier: Apache-2.0
// A volume whose writer ends early, in every format: the next one makes what is missing and nothing else, believes
// nothing that is not as it was written, and refuses another run.
#include <csignal>
#include <fstream>

#include <sys/wait.h>
#include <unistd.h>

#include "io/output_values.h"
#include "io/resumable_test.h"

namespace lepus {
namespace {

using namespace test;

TEST_F(Resumable, goes_on_in_every_format) {
  for (const VolumeFormat& format : volume_formats()) {
    if (!format.available) continue;
    const std::string name = "of_" + format.name.substr(0, 3) + format.ending;  // .mhd and .raw both write a .raw
    SCOPED_TRACE(name);
    if (!can_be_resumed(name)) {
      EXPECT_LEPUS_ERROR(open(name), ErrorKind::unsupported, "cannot be gone on with");
      EXPECT_EQ(unfinished_exists(folder_ / name) || !journals_of(folder_ / name).empty(), false);
      continue;
    }
    {
      const auto volume = open(name);
      EXPECT_EQ(pairs(volume->missing()), (Pairs{{0, 12}}));
      write(*volume, 4, 7);
      write(*volume, 0, 2);
      volume->note({"center", "211.5"});
    }
    const auto volume = open(name);
    EXPECT_EQ(pairs(volume->missing()), (Pairs{{2, 4}, {7, 12}}));
    EXPECT_EQ(pairs(volume->finished_before()), (Pairs{{0, 2}, {4, 7}}));
    const auto& notes = volume->earlier_notes();
    EXPECT_NE(std::find(notes.begin(), notes.end(), JournalRecord{"center", "211.5"}), notes.end());
    write_missing(*volume);
    volume->finish("{}");
    expect_whole(name);
  }
}

// A run that goes on may have more to say of what was before it, such as the volume that steps are applied to.
TEST_F(Resumable, goes_on_whatever_room_it_would_have_left) {
  for (const char* const name : {"v.mha", "v.nrrd"})
    for (const std::int64_t room : {512, 300, 4096}) {
      SCOPED_TRACE(name);
      const auto open_with = [&](std::int64_t bytes) {
        VolumeWriterOptions options;
        options.force = true;
        options.provenance_room = bytes;
        return ResumableVolume(folder_ / name, grid(), options, make_run(header(), false, 1), heard_);
      };
      {
        ResumableVolume volume = open_with(512);
        write(volume, 3, 9);
      }
      ResumableVolume volume = open_with(room);
      EXPECT_EQ(pairs(volume.missing()), (Pairs{{0, 3}, {9, 12}}));
      write_missing(volume);
      volume.finish(R"({"room":true})");
      expect_whole(name);
      EXPECT_EQ(open_volume(folder_ / name)->provenance(), R"({"room":true})");
    }
}

TEST_F(Resumable, a_process_that_is_killed_loses_what_it_had_not_recorded) {
  const ::pid_t other = ::fork();
  if (other == 0) {
    const auto volume = open("v.mha");
    write(*volume, 0, 5);
    while (recorded_slabs(read_journal(folder_ / "v.mha.journal")).empty()) ::usleep(1000);
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(other, nullptr, 0);
  const auto volume = open("v.mha");
  EXPECT_EQ(pairs(volume->missing()), (Pairs{{5, 12}}));
  EXPECT_NE(heard_.notes.find("5 of 12 slices are done"), std::string::npos) << heard_.notes;
  write_missing(*volume);
  volume->finish("{}");
  expect_whole("v.mha");
}

TEST_F(Resumable, what_a_killed_run_left_half_made_is_made_anew) {
  for (const VolumeFormat& format : volume_formats()) {
    const std::string name = "half_" + format.name.substr(0, 3) + format.ending;
    if (!format.available || !can_be_resumed(name)) continue;
    SCOPED_TRACE(name);
    const ::pid_t other = ::fork();
    if (other == 0) {
      const auto volume = open(name);
      volume->require_same({"what computes", "a card"});  // nothing that took any time
      ::kill(::getpid(), SIGKILL);
    }
    ::waitpid(other, nullptr, 0);
    ASSERT_TRUE(unfinished_exists(folder_ / name));
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path()))
      if (entry.path().extension() == ".unfinished" && entry.is_regular_file())
        std::filesystem::resize_file(entry.path(), 0);  // killed before it had written its header
    const auto volume = open(name);
    EXPECT_EQ(pairs(volume->missing()), (Pairs{{0, 12}}));
    write_missing(*volume);
    volume->finish("{}");
    expect_whole(name);
  }
}

TEST_F(Resumable, a_finished_volume_that_keeps_its_journals_is_taken_for_what_it_is) {
  const auto open_kept = [&](JournalHeader whose = header()) {
    ResumableRun run = make_run(std::move(whose), false, 1);
    run.keep_journals = true;
    return std::make_unique<ResumableVolume>(folder_ / "v.mha", grid(), VolumeWriterOptions{.force = true}, run,
                                             heard_);
  };
  {
    const auto volume = open_kept();
    write(*volume, 0, 12);
    volume->finish("{}");
  }
  EXPECT_FALSE(journals_of(folder_ / "v.mha").empty());
  for (int again = 0; again < 2; ++again) {
    const auto volume = open_kept();
    EXPECT_TRUE(volume->missing().empty());
    volume->finish("{}");
  }
  JournalHeader other = header();
  other.facts.front().value += " or not";
  EXPECT_LEPUS_ERROR(open_kept(other), ErrorKind::usage, "cannot be gone on with");
  {
    const auto volume = open_kept();  // nothing was lost
    volume->finish("{}");
  }
  {
    std::fstream file(folder_ / "v.mha", std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(-1, std::ios::end);  // a byte of the last slice
    file.put('x');
  }
  {
    const auto volume = open_kept();
    EXPECT_EQ(pairs(volume->missing()), (Pairs{{0, 12}}));  // they were recorded as one slab
    write_missing(*volume);
    volume->finish("{}");
  }
  std::vector<float> read(voxels_.size());
  open_volume(folder_ / "v.mha")->read(0, grid().nz, read.data());
  EXPECT_EQ(read, voxels_);
  // Without the volume the journals say nothing.
  std::filesystem::remove(folder_ / "v.mha");
  EXPECT_EQ(pairs(open_kept()->missing()), (Pairs{{0, 12}}));
  EXPECT_TRUE(journals_of(folder_ / "v.mha").empty());
}

TEST_F(Resumable, slices_that_changed_are_made_again) {
  {
    const auto volume = open("v.raw");
    write(*volume, 0, 3);
    write(*volume, 6, 9);
  }
  {
    std::fstream file(folder_ / "v.raw.unfinished", std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(7 * grid().nx * grid().ny * 4);  // a byte of slice 7
    file.put('x');
  }
  const auto volume = open("v.raw");
  EXPECT_EQ(pairs(volume->missing()), (Pairs{{3, 12}}));
  EXPECT_NE(heard_.warnings.find("3 slices"), std::string::npos) << heard_.warnings;
  write_missing(*volume);
  volume->finish("{}");
  expect_whole("v.raw");
}

TEST_F(Resumable, what_is_missing_comes_in_whole_blocks) {
  {
    const auto volume = open("v.mha");
    write(*volume, 0, 5);
    write(*volume, 6, 8);
    write(*volume, 11, 12);
  }
  const auto volume = open("v.mha", false, header(), 4);
  EXPECT_EQ(pairs(volume->missing()), (Pairs{{4, 12}}));
  write_missing(*volume);
  volume->finish("{}");
  expect_whole("v.mha");
}

TEST_F(Resumable, another_run_is_refused_and_may_begin_anew) {
  { write(*open("v.mha"), 0, 3); }
  const auto error = error_of([&] { open("v.mha", false, {"test", {{"the scan", "b"}}}); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::usage);
  EXPECT_EQ(error->parts().why, "the scan was a, now it is b");
  EXPECT_EQ(pairs(open("v.mha")->missing()), (Pairs{{3, 12}})) << "refusing it changes nothing";
  const auto volume = open("v.mha", true, {"test", {{"the scan", "b"}}});
  EXPECT_EQ(pairs(volume->missing()), (Pairs{{0, 12}}));
}

TEST_F(Resumable, what_becomes_known_later_must_be_the_same_too) {
  {
    const auto volume = open("v.mha");
    volume->require_same({"what computes", "cpu"});
    write(*volume, 0, 3);
  }
  const auto volume = open("v.mha");
  EXPECT_FALSE(error_of([&] { volume->require_same({"what computes", "cpu"}); }));
  EXPECT_EQ(error_of([&] { volume->require_same({"what computes", "cuda"}); })->kind(), ErrorKind::usage);
}

TEST_F(Resumable, what_is_stored_of_a_voxel_must_be_the_same_and_what_was_cut_off_is_counted_once) {
  const auto open_as = [&](double high) {
    VolumeWriterOptions options;
    set_output_values(options, {VoxelType::uint16, 0, high});
    return std::make_unique<ResumableVolume>(folder_ / "v.raw", grid(), options, make_run(header(), false, 1), heard_);
  };
  voxels_.assign(voxels_.size(), 1);
  voxels_.front() = 7;                                               // in slice 0
  voxels_[static_cast<std::size_t>(6 * grid().nx * grid().ny)] = 7;  // in slice 6
  {
    const auto volume = open_as(2);
    write(*volume, 0, 3);
    EXPECT_EQ(volume->cut_off(), 1);
  }
  EXPECT_LEPUS_ERROR(open_as(3), ErrorKind::usage, "what is stored of a voxel was uint16");
  EXPECT_LEPUS_ERROR(open("v.raw"), ErrorKind::usage, "now it is float32");
  const auto volume = open_as(2);
  EXPECT_EQ(volume->cut_off(), 1);
  write_missing(*volume);
  volume->finish("{}");
  EXPECT_EQ(volume->cut_off(), 2);
  std::vector<float> read(voxels_.size());
  open_volume(folder_ / "v.raw")->read(0, grid().nz, read.data());
  EXPECT_EQ(read.front(), 2);
  EXPECT_NEAR(read[1], 1, 1.01 / 65535);
}

TEST_F(Resumable, frames_are_images_without_a_place) {
  ResumableRun run;
  run.header = header();
  run.slices = Slices::of_scan;
  run.unit = "views";
  const auto open_file = [&](const std::string& name) {
    return std::make_unique<ResumableVolume>(folder_ / name, grid(), VolumeWriterOptions{}, run, heard_);
  };
  for (const std::string name : {"f.tif", "f_%02d.tif", "f.h5", "f.raw"}) {
    if (!have(fs::path(name).extension().string())) continue;
    SCOPED_TRACE(name);
    { write(*open_file(name), 2, 5); }
    const auto file = open_file(name);
    EXPECT_EQ(pairs(file->missing()), (Pairs{{0, 2}, {5, 12}}));
    EXPECT_NE(heard_.notes.find("3 of 12 views are done"), std::string::npos) << heard_.notes;
    write_missing(*file);
    file->finish({});
    FrameFiles files;
    files.files = name == "f_%02d.tif" ? expand_pattern(folder_.path(), "f_*.tif") : std::vector{folder_ / name};
    const auto frames = open_frames(files);
    ASSERT_EQ(frames->frames(), grid().nz);
    std::vector<float> read(static_cast<std::size_t>(grid().nx * grid().ny));
    for (std::int64_t frame = 0; frame < grid().nz; ++frame) {
      frames->read_native(frame, 0, grid().ny, read.data());
      EXPECT_TRUE(std::equal(read.begin(), read.end(), voxels_.begin() + frame * std::ssize(read))) << frame;
    }
    EXPECT_TRUE(journals_of(folder_ / name).empty());
    EXPECT_FALSE(unfinished_exists(folder_ / name));
    heard_.notes.clear();
  }
  EXPECT_LEPUS_ERROR(open_file("f.mha"), ErrorKind::unsupported, "frame file");
}

TEST_F(Resumable, an_error_says_that_the_command_goes_on_where_something_stays) {
  const Error broken(ErrorKind::input, {.what = "cannot read", .where = {}, .why = {}, .hint = "look"});
  const auto volume = open("v.mha");
  EXPECT_EQ(volume->ended_by(broken).parts().hint, "look");
  const auto other = open("w.mha");
  write(*other, 0, 2);
  EXPECT_NE(other->ended_by(broken).parts().hint.find("look; what is finished is kept"), std::string::npos);
}

TEST_F(Resumable, the_state_stands_before_the_slabs_that_it_belongs_to) {
  {
    const auto volume = open("v.mha");
    int count = 0;
    volume->keep_state([&count] { return std::to_string(++count); });
    write(*volume, 0, 3);
    volume->stop_recording();
  }
  const auto records = read_journal(folder_ / "v.mha.journal").records;
  ASSERT_GE(records.size(), 2U);
  EXPECT_EQ(records[records.size() - 2], (JournalRecord{"state", "1"}));
  EXPECT_EQ(records.back().kind, "slab");
}

TEST_F(Resumable, nothing_stays_where_nothing_was_made) {
  { open("v.mha"); }
  EXPECT_EQ(folder_.entries(), 0U);
}

TEST_F(Resumable, damage_to_the_journal_is_refused) {
  { write(*open("v.mha"), 0, 3); }
  std::string text = read_file(folder_ / "v.mha.journal");
  text[text.find("the scan")] = 'T';
  std::ofstream(folder_ / "v.mha.journal", std::ios::binary) << text;
  EXPECT_EQ(error_of([&] { open("v.mha"); })->kind(), ErrorKind::input);
  EXPECT_FALSE(error_of([&] { open("v.mha", true); }));
}

TEST_F(Resumable, results_are_kept_with_the_journal_and_checked) {
  const auto results_file = folder_ / "v.mha.results";
  {
    const auto volume = open("v.mha");
    EXPECT_FALSE(volume->results().find("a"));
    volume->results().keep("a", "what was found", 0.1);
    volume->results().keep("b", std::string("\0\n\xff", 3), 0.1);
    write(*volume, 0, 4);
  }
  {
    const auto volume = open("v.mha");
    EXPECT_EQ(volume->results().find("a"), "what was found");
    EXPECT_EQ(volume->results().find("b"), std::string("\0\n\xff", 3));
    volume->results().keep("c", "more", 0.1);
  }
  std::fstream(results_file, std::ios::in | std::ios::out).write("W", 1);
  {
    const auto volume = open("v.mha");
    EXPECT_FALSE(volume->results().find("a")) << "it is not as it was written";
    EXPECT_EQ(volume->results().find("c"), "more");
    write_missing(*volume);
    volume->finish("");
  }
  expect_whole("v.mha");
  EXPECT_FALSE(std::filesystem::exists(results_file));
}

TEST_F(Resumable, results_stay_without_a_slab_where_they_took_long) {
  for (const double seconds : {0.1, 100.0}) {
    open("v.mha")->results().keep("a", "found", seconds);
    EXPECT_EQ(unfinished_exists(folder_ / "v.mha"), seconds > 1);
    EXPECT_EQ(std::filesystem::exists(folder_ / "v.mha.results"), seconds > 1);
  }
  EXPECT_EQ(open("v.mha")->results().find("a"), "found");
  EXPECT_FALSE(open("v.mha", true)->results().find("a"));
}

TEST_F(Resumable, a_file_in_the_way_of_results_is_not_touched) {
  write_file(folder_ / "v.mha.results", "mine", false);
  EXPECT_THROW(open("v.mha"), Error);
  EXPECT_EQ(std::filesystem::file_size(folder_ / "v.mha.results"), 4U);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "v.mha.journal"));
}

TEST_F(Resumable, ends_soon_where_its_file_is_gone) {
  const auto volume = open("v.mha");
  write(*volume, 0, 3);
  std::filesystem::remove(folder_ / "v.mha.unfinished");
  const auto error = error_of([&] {
    for (std::int64_t z = 3; z < 12; ++z) {
      write(*volume, z, z + 1);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    volume->finish("{}");
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::disk);
  EXPECT_NE(error->parts().what.find("gone"), std::string::npos) << error->what();
  EXPECT_EQ(volume->ended_by(*error).parts().hint.find("what is finished is kept"), std::string::npos);
}

TEST_F(Resumable, headers_do_not_share_unfinished_voxels) {
  for (const auto& [first, second] : {std::pair{"v.mhd", "v.nhdr"},
                                      {"v.nhdr", "v.mhd"},
                                      {"v.raw", "v.mhd"},
                                      {"v.raw", "v.nhdr"},
                                      {"v.mhd", "v.raw"}}) {
    SCOPED_TRACE(std::string(first) + " " + second);
    {
      const auto volume = open(first);
      write(*volume, 0, 3);
    }
    EXPECT_LEPUS_ERROR(open(second), ErrorKind::disk, first);
    EXPECT_LEPUS_ERROR(open(second, true), ErrorKind::disk, first);
    const auto volume = open(first);
    EXPECT_EQ(pairs(volume->missing()), (Pairs{{3, 12}}));
    write_missing(*volume);
    volume->finish("{}");
    expect_whole(first);
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) std::filesystem::remove(entry.path());
  }
}

}  // namespace
}  // namespace lepus
