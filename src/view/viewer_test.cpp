// SPDX-License-Identifier: Apache-2.0
// Requests to answers, without a network: every bad one gets an error in words; a file that changes or vanishes; memory
// that many clients share.
#include "view/viewer.h"

#include <chrono>
#include <fstream>
#include <thread>

#include <nlohmann/json.hpp>

#include "view/test_volume.h"

namespace lepus::view {
namespace {

class ViewRequests : public testing::Test {
protected:
  ViewRequests() : file("v.mha", {20, 16, 12, {}, {0.5, 0.5, 0.5}}) { options.volumes = {file.path}; }
  Answer get(const std::string& target) {
    if (!viewer) viewer = std::make_unique<Viewer>(options, std::int64_t{64} << 20, context);
    const std::size_t mark = target.find('?');
    return viewer->answer({"GET", target.substr(0, mark),
                           mark == std::string::npos ? Parameters{} : parse_query(target.substr(mark + 1)), ""});
  }
  nlohmann::json json(const std::string& target) { return nlohmann::json::parse(get(target).body); }

  TestVolume file;
  ViewOptions options;
  ThreadPool threads{2};
  CancelFlag cancel;
  Progress progress;
  Context context{threads, cancel, progress};
  std::unique_ptr<Viewer> viewer;
};

TEST_F(ViewRequests, good_ones_are_answered) {
  const auto session = json("/api/session");
  EXPECT_EQ(session["kind"], "volume");
  EXPECT_EQ(session["volumes"][0]["size"], nlohmann::json({20, 16, 12}));
  EXPECT_EQ(session["volumes"][0]["type"], "f32");
  const Answer slice = get("/api/volumes/0/slice?axis=y&index=3&format=f32");
  EXPECT_EQ(slice.status, 200);
  ASSERT_EQ(slice.body.size(), 4U * 20 * 12);
  float value = 0;
  std::memcpy(&value, slice.body.data() + 4 * (5 * 20 + 7), 4);
  EXPECT_EQ(value, file.at(7, 3, 5));
  EXPECT_EQ(json("/api/volumes/0/value?at=7,3,5")["value"].get<float>(), value);
  EXPECT_EQ(json("/api/volumes/0/histogram?bins=16")["counts"].size(), 16U);
  EXPECT_EQ(json("/api/volumes/0/statistics?box=0,20,0,16,0,12")["voxels"], 20 * 16 * 12);
  EXPECT_EQ(json("/api/volumes/0/profile?from=0,0,0&to=19,0,0&samples=20")["values"][4].get<float>(), file.at(4, 0, 0));
  EXPECT_EQ(get("/api/volumes/0/oblique?origin=0,0,0&u=1,0,0&v=0,1,0&size=8,4&step=0.5").body.size(), 32U);
  EXPECT_EQ(get("/api/volumes/0/box?max=8").body.size(), 7U * 6 * 4);
  for (const char* kind : {"mha", "npy"}) {
    const Answer part = get(std::string("/api/volumes/0/export?box=1,5,2,6,3,7&format=") + kind);
    ASSERT_GT(part.file_bytes, 256) << part.body;
    std::string bytes(static_cast<std::size_t>(part.file_bytes), '\0');
    part.read_file(0, bytes.data(), part.file_bytes);
    std::memcpy(&value, bytes.data() + bytes.size() - 4, 4);
    EXPECT_EQ(value, file.at(4, 5, 6)) << kind;
  }
}

TEST_F(ViewRequests, bad_ones_are_refused_in_words) {
  for (const auto& [target, status] : std::vector<std::pair<std::string, int>>{
           {"/api/volumes/1/slice", 404},
           {"/api/volumes/-1/slice", 404},
           {"/api/volumes/0/slice/../../../etc/passwd", 404},
           {"/api/../etc/passwd", 404},
           {"/etc/passwd", 404},
           {"/api", 404},
           {"", 404},
           {"/api/volumes/0/nothing", 404},
           {"/api/volumes/0/blobs", 404},
           {"/api/scan/frame", 404},
           {"/api/volumes/0/slice?axis=w", 400},
           {"/api/volumes/0/slice?index=12", 400},
           {"/api/volumes/0/slice?index=-1", 400},
           {"/api/volumes/0/slice?index=1e9", 400},
           {"/api/volumes/0/slice?index=99999999999999999999", 400},
           {"/api/volumes/0/slice?step=0", 400},
           {"/api/volumes/0/slice?box=0,0,0,0", 400},
           {"/api/volumes/0/slice?box=5,1,0,4", 400},
           {"/api/volumes/0/slice?box=0,1,0", 400},
           {"/api/volumes/0/slice?window=1,0", 400},
           {"/api/volumes/0/slice?window=nan,1", 400},
           {"/api/volumes/0/slice?indx=3", 400},
           {"/api/volumes/0/slice?level=3", 400},
           {"/api/volumes/0/slice?axis=z&axis=y", 400},
           {"/api/volumes/0/histogram?range=0,1e-320", 400},
           {"/api/volumes/0/slice?slab=13&mode=max", 400},
           {"/api/volumes/0/box?max=100000", 400},
           {"/api/volumes/0/oblique?origin=0,0,0&u=0,0,0&v=0,1,0&size=8,8&step=1", 400},
           {"/api/volumes/0/oblique?origin=0,0,0&u=1,0,0&v=0,1,0&size=99999,99999&step=1", 400},
           {"/api/volumes/0/profile?from=0,0,0&to=1,1,1&samples=100000000", 400},
           {"/api/volumes/0/surface?value=1e30", 422},
           {"/api/difference?a=0&b=1", 404}}) {
    const Answer answer = get(target);
    EXPECT_EQ(answer.status, status) << target << ": " << answer.body;
    const auto error = nlohmann::json::parse(answer.body)["error"];
    EXPECT_FALSE(error["what"].get<std::string>().empty()) << target;
    EXPECT_FALSE(error["hint"].get<std::string>().empty()) << target;
  }
  EXPECT_EQ(viewer->answer({"POST", "/api/session", {}, "{}"}).status, 405);
}

TEST_F(ViewRequests, a_file_that_vanishes_or_changes_is_told) {
  ASSERT_EQ(get("/api/volumes/0/slice").status, 200);
  std::filesystem::rename(file.path, file.folder / "away.mha");
  viewer->look();
  const Answer gone = get("/api/volumes/0/slice");
  EXPECT_EQ(gone.status, 410);
  EXPECT_EQ(json("/api/session")["volumes"][0]["gone"], "vanished");
  std::filesystem::rename(file.folder / "away.mha", file.path);
  viewer->look();
  EXPECT_EQ(get("/api/volumes/0/slice").status, 200);

  std::ofstream(file.path, std::ios::binary | std::ios::trunc) << "half of a hea";
  viewer->look();
  EXPECT_EQ(get("/api/volumes/0/slice").status, 409);
  viewer->look();
  EXPECT_EQ(get("/api/volumes/0/slice").status, 409);
  std::filesystem::remove(file.path);
  const auto writer = create_volume(file.path, {8, 8, 8, {}, {1, 1, 1}});
  const std::vector<float> ones(512, 1.0F);
  writer->write(0, 8, ones.data());
  writer->finish("{}");
  viewer->look();
  viewer->look();
  EXPECT_EQ(json("/api/session")["volumes"][0]["size"], nlohmann::json({8, 8, 8}));
  EXPECT_EQ(json("/api/session")["volumes"][0]["changed"], 1);
  EXPECT_EQ(json("/api/volumes/0/value?at=7,7,7")["value"], 1.0);
}

TEST_F(ViewRequests, a_volume_without_a_finite_value_is_shown) {
  const TestVolume nothing("nan.mha", {4, 4, 4, {}, {1, 1, 1}}, [](std::int64_t, std::int64_t, std::int64_t) {
    return std::numeric_limits<float>::quiet_NaN();
  });
  options.volumes = {nothing.path};
  const auto session = json("/api/session");
  EXPECT_TRUE(session["volumes"][0]["range"].is_null());
  EXPECT_EQ(session["volumes"][0]["not_finite"], 1.0);
  EXPECT_EQ(get("/api/volumes/0/slice").body, std::string(16, '\0'));
  EXPECT_TRUE(json("/api/volumes/0/statistics")["mean"].is_null());
  EXPECT_TRUE(json("/api/volumes/0/value?at=0,0,0")["value"].is_null());
  EXPECT_EQ(get("/api/volumes/0/histogram").status, 200);
}

TEST_F(ViewRequests, a_volume_of_one_value_is_shown) {
  const TestVolume sevens("7.mha", {4, 3, 2, {}, {1, 1, 1}},
                          [](std::int64_t, std::int64_t, std::int64_t) { return 7.0F; });
  options.volumes = {sevens.path};
  const auto percentiles = json("/api/session")["volumes"][0]["percentiles"];
  for (const auto& [percent, value] : percentiles.items()) EXPECT_EQ(value, 7.0) << percent;
  const auto histogram = json("/api/volumes/0/histogram?bins=4");
  EXPECT_EQ(histogram["counts"], nlohmann::json({24, 0, 0, 0}));
  EXPECT_GT(histogram["high"], histogram["low"]);
  EXPECT_EQ(get("/api/volumes/0/slice?format=u16").body.size(), 2U * 4 * 3);
  EXPECT_EQ(get("/api/volumes/0/slice?format=u16&window=7,8").body, get("/api/volumes/0/slice?format=u16").body);
  EXPECT_EQ(get("/api/volumes/0/slice?format=u16&window=7,7.000000000000001").status, 200);
}

TEST_F(ViewRequests, labels_and_blobs_belong_to_the_volume) {
  const TestVolume labels("labels.mha", file.grid,
                          [](std::int64_t x, std::int64_t, std::int64_t) { return static_cast<float>(x / 5); });
  options.labels = labels.path;
  options.blobs = file.folder / "blobs.csv";
  std::ofstream(options.blobs) << "number,volume_mm3,note\n1,2.5,\"a, b\"\n2,1e-3,\n";
  const auto session = json("/api/session");
  EXPECT_EQ(session["volumes"][0]["labels"], (nlohmann::json{{"volume", 1}, {"blobs", 2}}));
  EXPECT_EQ(session["volumes"][1]["role"], "labels");
  const auto blobs = json("/api/volumes/0/blobs");
  EXPECT_EQ(blobs["rows"][0], nlohmann::json({1.0, 2.5, "a, b"}));
  std::uint32_t label = 0;
  std::memcpy(&label, get("/api/volumes/1/slice?format=u32").body.data() + 4 * 19, 4);
  EXPECT_EQ(label, 3U);
}

TEST_F(ViewRequests, two_volumes_have_a_difference) {
  const TestVolume other("w.mha", file.grid, [](std::int64_t x, std::int64_t y, std::int64_t z) {
    return test::float_pattern(x, y, z) - static_cast<float>(x);
  });
  options.volumes.push_back(other.path);
  const Answer answer = get("/api/difference?a=0&b=1&index=3&format=f32");
  ASSERT_EQ(answer.body.size(), 4U * 20 * 16) << answer.body;
  float value = 0;
  std::memcpy(&value, answer.body.data() + 4 * 7, 4);
  EXPECT_FLOAT_EQ(value, 7);
}

TEST(ViewAdmission, holds_no_more_than_its_limit) {
  Admission admission(100, std::chrono::milliseconds(50));
  auto first = admission.take(60);
  EXPECT_THROW((void)admission.take(101), Refusal);
  try {
    (void)admission.take(60);
    FAIL() << "more than the limit was given away";
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.status(), 503);
  }
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    first.reset();
  });
  EXPECT_NO_THROW((void)admission.take(60));
  later.join();
  EXPECT_FALSE(admission.busy());
}

TEST(ViewEvents, reach_everybody_who_listens) {
  Events events;
  std::uint64_t place = events.now();
  EXPECT_FALSE(events.deserted(std::chrono::milliseconds(0)));
  events.joined();
  events.publish("run", "{}");
  EXPECT_EQ(events.next(place, std::chrono::milliseconds(100)), "event: run\ndata: {}\n\n");
  EXPECT_EQ(events.next(place, std::chrono::milliseconds(1)), "");
  events.left();
  EXPECT_TRUE(events.deserted(std::chrono::milliseconds(0)));
  EXPECT_FALSE(events.deserted(std::chrono::seconds(60)));
}

}  // namespace
}  // namespace lepus::view
