// SPDX-License-Identifier: Apache-2.0
// RunState: what is finished, JSON there and back, damaged JSON, and which changes of a scan make it another one.
#include "run/run_state.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include <unistd.h>

#include <gtest/gtest.h>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus {
namespace {

namespace fs = std::filesystem;

RunState full_state() {
  RunState state;
  state.scan = {"scan/scan.toml", "00112233445566ff", "ffeeddccbbaa9900", 723, "a1b2c3d4e5f60718"};
  state.output = "out/v.mha";
  state.compute = {.backend = "cuda",
                   .devices = "0,1",
                   .precision = Precision::fast,
                   .device_memory_bytes = std::int64_t{1} << 40,
                   .threads = 3,
                   .memory_bytes = 12345};
  state.plan = {
      .kind = "streamed views", .slices = 100, .views = 720, .slabs = {{0, 64}, {64, 100}}, .wedge_views = 16};
  state.audit = {.seen = {{0, 720, 3, 40}, {0, 8, 44, 50}},
                 .checksum = 0xfedcba9876543210,
                 .not_finite = 4,
                 .saturated = 7,
                 .bad_in = {{5, 4}, {17, 7}},
                 .dark = {{{2, 9}}, {{0, 1}, {1023, 8}}}};
  state.corrections = {{.kind = "rings",
                        .found = "12 columns \"wide\"",
                        .stage = Stage::line_integrals,
                        .rms_change = 1.0 / 3,
                        .rings_before = 1e-3,
                        .rings_after = 1e-300}};
  state.corrected_rows = {.file = "out/v.mha.rows-1-00000000", .bands = {{0, 32}, {64, 96}}};
  state.iteration = 7;
  state.finished({64, 100}, "0123456789abcdef");
  state.finished({0, 16}, "");
  return state;
}

std::string error_text(const std::string& json) {
  try {
    run_state_from_json(json, "state.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return {};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(RunState, knows_what_is_finished_and_what_is_missing) {
  RunState state = full_state();
  ASSERT_EQ(state.finished_slabs.size(), 2u);
  EXPECT_EQ(state.finished_slabs[0].slab.z0, 0);
  ASSERT_EQ(state.missing_slabs().size(), 1u);
  EXPECT_EQ(state.missing_slabs()[0].z0, 16);
  EXPECT_EQ(state.missing_slabs()[0].z1, 64);
  for (const SlabRange slab : {SlabRange{10, 20}, SlabRange{60, 65}, SlabRange{0, 100}, SlabRange{99, 101},
                               SlabRange{-1, 0}, SlabRange{20, 20}})
    EXPECT_THROW(state.finished(slab, "0000000000000000"), Error) << slab.z0;
  EXPECT_EQ(state.finished_slabs.size(), 2u) << "what is refused changes nothing";
  state.finished({16, 63}, "0000000000000000");
  EXPECT_FALSE(state.complete());
  state.finished({63, 64}, "0000000000000000");
  EXPECT_TRUE(state.complete());
}

TEST(RunState, goes_through_JSON_and_back) {
  const std::string json = to_json(full_state());
  const RunState back = run_state_from_json(json, "state.json");
  EXPECT_EQ(to_json(back), json);
  const RunState state = full_state();
  EXPECT_EQ(back.scan, state.scan);
  EXPECT_EQ(back.audit, state.audit);
  EXPECT_EQ(back.compute.device_memory_bytes, std::int64_t{1} << 40);
  EXPECT_EQ(back.compute.precision, Precision::fast);
  EXPECT_EQ(back.corrections.at(0).rms_change, 1.0 / 3);
  EXPECT_EQ(back.corrections.at(0).rings_after, 1e-300);
  EXPECT_EQ(back.corrected_rows.bands, state.corrected_rows.bands);
  EXPECT_EQ(back.plan.slabs.at(1).z1, 100);
  EXPECT_EQ(back.finished_slabs.at(1).checksum, "0123456789abcdef");
  EXPECT_EQ(back.iteration, 7);
  RunState empty;
  empty.scan = state.scan;
  EXPECT_EQ(to_json(run_state_from_json(to_json(empty), "empty")), to_json(empty));
}

TEST(RunState, of_another_version_is_refused) {
  const std::string text = error_text(replaced(to_json(full_state()), "\"run_state\": 2", "\"run_state\": 1"));
  EXPECT_NE(text.find("version 1"), std::string::npos) << text;
}

TEST(RunState, damaged_JSON_is_refused_and_the_place_is_named) {
  const std::string json = to_json(full_state());
  const struct {
    const char *from, *to, *named;
  } cases[] = {{"\"run_state\": 2", "\"run_state\": \"2\"", "run_state"},
               {"\"slices\": 100", "\"slices\": 99", "plan.slabs[1]"},
               {"\"slices\": 100", "\"slices\": 99999999999999999999", "plan.slices"},
               {"\"slices\": 100", "\"slices\": -1", "plan.slices"},
               {"\"precision\": \"fast\"", "\"precision\": \"faster\"", "compute.precision"},
               {"0123456789abcdef", "0123456789abcdeg", "checksum"},
               {"\"resolved\"", "\"solved\"", "resolved"},
               {"a1b2c3d4e5f60718", "a1b2c3d4e5f6071", "scan.geometry"},
               {"\"threads\": 3", "\"threads\": 3.5", "compute.threads"},
               {"\"on\": \"line-integrals\"", "\"on\": 1", "corrections[0].on"},
               {"\"iteration\": 7", "\"iteration\": null", "iteration"}};
  for (const auto& c : cases) {
    const std::string text = error_text(replaced(json, c.from, c.to));
    EXPECT_NE(text.find(c.named), std::string::npos) << c.to << " gave: " << text;
    EXPECT_NE(text.find("state.json"), std::string::npos) << text;
  }
  EXPECT_NE(error_text(std::string(100000, '[')), "");
  EXPECT_NE(error_text("[]"), "");
  EXPECT_NE(error_text(""), "");
  for (std::size_t length = 0; length + 2 < json.size(); length += 7) EXPECT_NE(error_text(json.substr(0, length)), "");
}

TEST(RunState, random_damage_is_an_error_or_another_state) {
  const std::string json = to_json(full_state());
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = json;
    for (int k = 0; k < 3; ++k) damaged[random() % damaged.size()] = static_cast<char>(random());
    error_text(damaged);  // never anything but an Error(input)
  }
}

TEST(RunState, the_checksum_of_a_slab_depends_on_every_voxel_and_on_its_place) {
  const VolumeGrid grid{5, 3, 8, {}, {1, 1, 1}};
  std::vector<float> voxels(5 * 3 * 8);
  for (std::size_t i = 0; i < voxels.size(); ++i) voxels[i] = static_cast<float>(i);
  const std::uint64_t whole = slab_checksum(grid, {0, 8}, voxels.data());
  const auto number = [&](std::int64_t z0, std::int64_t z1) {
    return slab_checksum(grid, {z0, z1}, voxels.data() + z0 * 15);
  };
  EXPECT_EQ(number(0, 3) + number(3, 8), whole) << "parts add up";
  for (float& voxel : voxels) {
    const float before = voxel;
    voxel = std::nextafter(voxel, 1000.0F);
    EXPECT_NE(slab_checksum(grid, {0, 8}, voxels.data()), whole);
    voxel = before;
  }
  EXPECT_NE(slab_checksum(grid, {1, 2}, voxels.data()), slab_checksum(grid, {2, 3}, voxels.data()));
}

TEST(RunState, a_scan_is_known_by_its_values_and_by_its_files) {
  const fs::path folder = fs::temp_directory_path() / format("lepus_run_state_{}", ::getpid());
  fs::create_directories(folder / "a");
  const auto write = [&](const std::string& name, const std::string& text) { std::ofstream(folder / name) << text; };
  for (const char* name : {"a/0.tif", "a/1.tif", "a/flat.tif", "a/map.txt"}) write(name, "1234");
  Scan scan;
  scan.file = folder / "a/scan.toml";
  scan.frames.files = {folder / "a/0.tif", folder / "a/1.tif"};
  scan.flats.emplace().files = {folder / "a/flat.tif"};
  scan.corrections = {{.kind = "defects", .parameters = {{"map", std::string("map.txt")}}, .folder = folder / "a"}};
  scan.resolved = "[frames]\n";
  const ScanIdentity first = identity_of(scan);
  EXPECT_EQ(first.input_files, 4);
  EXPECT_EQ(identity_of(scan), first);

  Scan other = scan;
  other.resolved += " ";
  EXPECT_NE(identity_of(other).resolved, first.resolved);
  EXPECT_EQ(identity_of(other).inputs, first.inputs);
  other = scan;
  std::swap(other.frames.files[0], other.frames.files[1]);
  EXPECT_NE(identity_of(other).inputs, first.inputs);

  for (const char* name : {"a/0.tif", "a/flat.tif", "a/map.txt"}) {
    const auto time = fs::last_write_time(folder / name);
    fs::last_write_time(folder / name, time + std::chrono::milliseconds(1));
    EXPECT_NE(identity_of(scan).inputs, first.inputs) << name;
    write(name, "12345");
    fs::last_write_time(folder / name, time);
    EXPECT_NE(identity_of(scan).inputs, first.inputs) << name;
    write(name, "1234");
    fs::last_write_time(folder / name, time);
    EXPECT_EQ(identity_of(scan), first);
  }
  other = scan;
  other.geometry.matrices.resize(2);
  const std::string two_views = identity_of(other).geometry;
  EXPECT_NE(two_views, first.geometry);
  other.geometry.matrices[1].m[7] = 1e-300;  // from whichever file
  EXPECT_NE(identity_of(other).geometry, two_views);
  std::swap(other.geometry.matrices[0], other.geometry.matrices[1]);
  EXPECT_NE(identity_of(other).geometry, two_views);
  EXPECT_NE(facts_of(other), facts_of(scan));
  EXPECT_NE(facts_without_frames(other), facts_without_frames(scan));
  fs::remove(folder / "a/1.tif");
  EXPECT_THROW(identity_of(scan), Error);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace lepus
