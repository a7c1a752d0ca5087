// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "bench/measure/clock.h"
#include "bench/measure/gpu.h"
#include "bench/measure/report.h"
#include "plot/text.h"
#include <lepus/error.h>

namespace lepus::measure {

using namespace plot;
namespace {

Report sample_report() {
  Report r{"lepus bench", "lepus bench --quick", "1.2.3", "2026-01-02T03:04:05Z", {}, {}};
  r.machine = {"a CPU, AVX2", "a GPU", "580.1, CUDA 13.0", "a system", 8, 64e9, 141e9, 3.1e9};
  Figure f;
  f.group = "backprojection 64^3";
  f.name = "circular | half";
  f.seconds = 0.5;
  f.work = 6;
  f.unit = "GUPS";
  f.limit_rate = 48;
  f.limit = "texture rate";
  f.error = 1e-7;
  f.error_limit = 1e-6;
  f.error_of = "rms of the peak";
  f.published_seconds = 2;
  f.published = "somebody 2011";
  f.note = "scaled \"down\"\nby 4";
  r.figures.push_back(f);
  f.name = "general";
  f.seconds = 1.0;
  f.limit_rate = 0;
  f.limit.clear();
  f.published_seconds = 0;
  f.published.clear();
  r.figures.push_back(f);
  return r;
}

class ReportFile : public testing::Test {
protected:
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::filesystem::path write(const std::string& text) const {
    std::ofstream(folder / "r.json") << text;
    return folder / "r.json";
  }
  std::string refusal(const std::string& text) const {
    try {
      read_report(write(text));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      return error.what();
    }
    return "no error";
  }
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() /
      ("lepus_report_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST(Figure, WhatIsNotRightIsWrong) {
  Figure f;
  f.error_limit = 1e-6;
  f.error = 1e-6;
  EXPECT_TRUE(f.correct());
  f.error = 1.01e-6;
  EXPECT_FALSE(f.correct());
  f.error = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(f.correct());
  Report r = sample_report();
  EXPECT_TRUE(r.correct());
  r.figures.push_back(f);
  EXPECT_FALSE(r.correct());
}

TEST(Figure, OneErrorThatIsNotANumberIsEnough) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(worse_error(1, 2), 2);
  EXPECT_EQ(worse_error(2, 1), 2);
  EXPECT_TRUE(std::isnan(worse_error(nan, 1)));
  EXPECT_TRUE(std::isnan(worse_error(1, nan)));
  Figure f;
  f.error_limit = 1;
  f.error = worse_error(worse_error(0, nan), 0);
  EXPECT_FALSE(f.correct());
}

TEST_F(ReportFile, ReadsWhatItWrote) {
  Report r = sample_report();
  r.figures[1].error = std::numeric_limits<double>::quiet_NaN();
  write_report(r, folder / "deep" / "er", "bench");
  const Report again = read_report(folder / "deep" / "er" / "bench.json");
  EXPECT_EQ(again.title, r.title);
  EXPECT_EQ(again.machine.gpu, r.machine.gpu);
  EXPECT_EQ(again.machine.threads, 8);
  EXPECT_DOUBLE_EQ(again.machine.clock_hz, 3.1e9);
  ASSERT_EQ(again.figures.size(), 2u);
  EXPECT_EQ(to_json(Report{again.title, again.command, again.version, again.date, again.machine, {again.figures[0]}}),
            to_json(Report{r.title, r.command, r.version, r.date, r.machine, {r.figures[0]}}));
  EXPECT_TRUE(std::isnan(again.figures[1].error)) << "a wrong figure stays wrong";
  EXPECT_FALSE(again.correct());
  EXPECT_TRUE(std::filesystem::exists(folder / "deep" / "er" / "bench.md"));
  EXPECT_TRUE(std::filesystem::exists(folder / "deep" / "er" / "bench.svg"));
}

TEST_F(ReportFile, EveryPrefixIsRefused) {
  const std::string text = to_json(sample_report());
  for (std::size_t n = 1; n + 1 < text.size(); n += 7)
    EXPECT_NE(refusal(text.substr(0, n)).find("truncated"), std::string::npos) << n;
}

TEST_F(ReportFile, ForeignFilesAreNamed) {
  EXPECT_NE(refusal("not json at all").find("not JSON"), std::string::npos);
  EXPECT_NE(refusal("[1, 2]").find("not a report"), std::string::npos);
  EXPECT_NE(refusal(R"({"lepus": "provenance"})").find("not a report"), std::string::npos);
  auto json = nlohmann::json::parse(to_json(sample_report()));
  json["format"] = 2;
  EXPECT_NE(refusal(json.dump()).find("another format"), std::string::npos);
  json["format"] = 1;
  json["figures"][1].erase("seconds");
  EXPECT_NE(refusal(json.dump()).find("figures[1].seconds' is missing"), std::string::npos);
  json["figures"][1]["seconds"] = "fast";
  EXPECT_NE(refusal(json.dump()).find("figures[1].seconds' is not a number"), std::string::npos);
  json["figures"] = 3;
  EXPECT_NE(refusal(json.dump()).find("'figures' is not a list"), std::string::npos);
  json["machine"] = "mine";
  EXPECT_NE(refusal(json.dump()).find("'machine' is not an object"), std::string::npos);
  EXPECT_THROW(read_report(folder / "nowhere.json"), Error);
}

TEST(Markdown, RowsStayRows) {
  Report r = sample_report();
  const std::string text = to_markdown(r);
  EXPECT_NE(text.find("circular \\| half"), std::string::npos);
  EXPECT_NE(text.find("12.0 GUPS"), std::string::npos);
  EXPECT_NE(text.find("| 25 % |"), std::string::npos);
  EXPECT_NE(text.find("4 x"), std::string::npos) << "2 s published over 0.5 s";
  EXPECT_EQ(text.find("wrong"), std::string::npos);
  // Every line of a table has as many bars as its heading.
  std::istringstream lines(text);
  std::size_t bars = 0;
  for (std::string line; std::getline(lines, line);) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < line.size(); ++i) found += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
    if (found > 0 && bars > 0) {
      EXPECT_EQ(found, bars) << line;
    }
    bars = found;
  }
  r.figures[0].error = 1;
  EXPECT_NE(to_markdown(r).find("1 of 2 results are wrong"), std::string::npos);
}

TEST(Compare, SpeedIsTheRatioOfRates) {
  Report a = sample_report(), b = sample_report();
  b.figures[0].seconds = 0.25;
  b.figures[0].work = 12;  // twice the work in half the time
  b.figures[1].name = "another";
  const auto json = nlohmann::json::parse(compare_json(a, b));
  ASSERT_EQ(json["figures"].size(), 1u);
  EXPECT_DOUBLE_EQ(json["figures"][0]["speed"].get<double>(), 4.0);
  EXPECT_EQ(json["only_a"][0]["name"], "general");
  EXPECT_EQ(json["only_b"][0]["name"], "another");
  const std::string text = compare_markdown(a, b);
  EXPECT_NE(text.find("| 4 x |"), std::string::npos);
  EXPECT_NE(text.find("only in b"), std::string::npos);
  b.figures[0].work = 0;  // then times are all there is
  EXPECT_DOUBLE_EQ(nlohmann::json::parse(compare_json(a, b))["figures"][0]["speed"].get<double>(), 2.0);
  b.figures[0].error = 1;
  EXPECT_TRUE(nlohmann::json::parse(compare_json(a, b))["figures"][0]["speed"].is_null()) << "wrong is not fast";
}

// What is slower, wrong or gone is named; the machine's own figures are not lepus's.
TEST(Report, SlowerFiguresAreFound) {
  Report a = sample_report();
  EXPECT_TRUE(slower_figures(a, a, 0.02).empty());
  Report b = a;
  b.figures[0].seconds = a.figures[0].seconds / 0.99;  // 1 % slower
  EXPECT_TRUE(slower_figures(a, b, 0.02).empty());
  b.figures[0].seconds = a.figures[0].seconds / 0.97;
  ASSERT_EQ(slower_figures(a, b, 0.02).size(), 1u);
  EXPECT_EQ(slower_figures(a, b, 0.02)[0].name, a.figures[0].name);
  EXPECT_NEAR(slower_figures(a, b, 0.02)[0].speed, 0.97, 1e-9);
  EXPECT_TRUE(slower_figures(b, a, 0.02).empty()) << "faster is no fault";
  b = a;
  b.figures[1].error = std::numeric_limits<double>::quiet_NaN();
  b.figures.erase(b.figures.begin());
  EXPECT_EQ(slower_figures(a, b, 0.02).size(), 2u);
  a.figures[0].group = "machine";
  EXPECT_EQ(slower_figures(a, b, 0.02).size(), 1u);
}

// Of several runs the best time of each figure counts, and one that is wrong stays wrong.
TEST_F(ReportFile, TheBestOfAFolder) {
  EXPECT_THROW(read_best_report(folder), Error) << "there is none yet";
  const Report a = sample_report();
  Report b = a, wrong = a;
  b.figures[0].seconds *= 0.5;
  b.figures[1].seconds *= 2;
  wrong.figures[1].error = 1;
  write_report(a, folder / "1", "bench");
  write_report(b, folder / "2", "bench");
  const Report best = read_best_report(folder);
  EXPECT_DOUBLE_EQ(best.figures[0].seconds, b.figures[0].seconds);
  EXPECT_DOUBLE_EQ(best.figures[1].seconds, a.figures[1].seconds);
  EXPECT_TRUE(best.correct());
  write_report(wrong, folder / "3", "bench");
  EXPECT_FALSE(read_best_report(folder).correct());
}

TEST(Text, ThreeDigits) {
  EXPECT_EQ(time_text(0.01234), "12.3 ms");
  EXPECT_EQ(time_text(0.9996), "1 s");
  EXPECT_EQ(time_text(99.96), "100 s");
  EXPECT_EQ(time_text(12.3e-6), "12.3 us");
  EXPECT_EQ(time_text(0), "-");
  EXPECT_EQ(rate_text(1128.4, "GUPS"), "1128 GUPS");
  EXPECT_EQ(share_text(0.0123), "1.2 %");
  EXPECT_EQ(three_digits(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(three_digits(1.23456e-7), "1.23e-07");
}

TEST(Machine, IsThisOne) {
  const Machine m = this_machine(3);
  EXPECT_EQ(m.threads, 3);
  EXPECT_FALSE(m.cpu.empty());
  EXPECT_EQ(m.cpu.find("threads"), std::string::npos);
  EXPECT_GT(m.memory_bytes, 1e8);
  EXPECT_TRUE(m.clock_hz == 0 || (m.clock_hz > 2e8 && m.clock_hz < 1e10)) << m.clock_hz;
  EXPECT_EQ(m.gpu.empty(), !why_no_gpu(0).empty());
  EXPECT_GE(this_machine(0).threads, 1);
}

}  // namespace
}  // namespace lepus::measure
