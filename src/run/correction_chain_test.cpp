// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <vector>

#include <unistd.h>

#include "core/format.h"
#include "run/chain_cases_test.h"
#include "run/corrected_frames.h"
#include "run/correction_chain.h"
#include <lepus/error.h>

namespace lepus {
namespace {

std::vector<CorrectionSpec> specs_of(const std::vector<std::string>& kinds) {
  std::vector<CorrectionSpec> specs;
  for (const auto& kind : kinds) specs.push_back(chain_test::spec_of(kind));
  return specs;
}

TEST(CorrectionChain, PlacesTheLog) {
  using enum Stage;
  EXPECT_EQ(place_corrections(specs_of({"drift", "hot-pixels", "rings", "hardening"})),
            (std::vector<Stage>{grey_levels, grey_levels, line_integrals, line_integrals}));
  // Known pixels are bridged on the side where they stand.
  EXPECT_EQ(place_corrections(specs_of({"dead-pixels", "drift", "dead-pixels"})),
            (std::vector<Stage>{grey_levels, grey_levels, line_integrals}));
  auto settable = specs_of({"rings", "hot-pixels"});
  settable[1].parameters["on"] = std::string("line-integrals");
  EXPECT_EQ(place_corrections(settable), (std::vector<Stage>{line_integrals, line_integrals}));
}

TEST(CorrectionChain, AWrongOrderIsSaidWithOneThatWorks) {
  try {
    place_corrections(specs_of({"rings", "drift", "hardening", "lag"}));
    FAIL() << "grey levels after the log";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_NE(error.parts().what.find("drift"), std::string::npos);
    EXPECT_NE(error.parts().why.find("rings"), std::string::npos);
    EXPECT_NE(error.parts().hint.find("drift, lag, rings, hardening"), std::string::npos) << error.parts().hint;
  }
}

TEST(CorrectionChain, WithoutCorrectionsRowsAreNormalisedAsEver) {
  const chain_test::SmallScan scan({});
  auto [frames, normalisation] = scan.inputs();
  CorrectionChain chain(scan.scan, frames, &normalisation, scan.context());
  EXPECT_TRUE(chain.empty());
  const Buffer<float> band = chain.corrected({3, 7}, scan.context().threads);
  std::vector<float> row(static_cast<std::size_t>(frames.columns()));
  for (std::int64_t r = 3; r < 7; ++r)
    for (std::int64_t view = 0; view < frames.frames(); ++view) {
      frames.read(view, r, r + 1, row.data());
      normalisation.apply(r, r + 1, row.data());
      const float* made = band.data() + ((r - 3) * frames.frames() + view) * frames.columns();
      EXPECT_EQ(std::memcmp(made, row.data(), row.size() * sizeof(float)), 0);
    }
}

// A band whose views are recorded in parts is the band of all of them.
TEST(CorrectionChain, PartsOfTheViewsBecomeTheBand) {
  constexpr std::int64_t columns = 9, views = 7, rows = 3;
  std::vector<std::uint16_t> recorded;  // [view][row][column]
  for (std::int64_t i = 0; i < views * rows * columns; ++i)
    recorded.push_back(static_cast<std::uint16_t>(37 * i % 5000));
  ThreadPool threads(2);
  const Devices host = open_devices(compute_on("cpu"), threads);
  const auto queue = host.front()->make_queue();
  const auto staged = [&](const std::vector<RowBand>& parts) {
    std::vector<float> values(recorded.size(), -1);
    const SinogramBand band{values.data(), columns, views, {4, 4 + rows}, 10};
    for (const RowBand& part : parts)
      host.front()->band_kernels().to_stage(
          PixelType::u16, recorded.data() + part.first * rows * columns, band,
          {.to = BandStage::counts_to_line, .log_i0_everywhere = 8, .first_view = part.first, .views = part.size()},
          *queue);
    return values;
  };
  const std::vector<float> all = staged({{0, views}});
  EXPECT_EQ(staged({{5, views}, {0, 2}, {2, 5}}), all);
  EXPECT_NE(staged({{0, 2}, {2, 5}}), all) << "two views are missing";
}

// One of each family, with and without halo rows, before and after the log.
TEST(CorrectedFrames, AreTheSameBitsForAnyMemoryThreadsAndOrderOfReading) {
  const chain_test::SmallScan scan(chain_test::long_chain());
  auto [frames, normalisation] = scan.inputs();
  const CancelFlag never;
  const auto output = std::filesystem::temp_directory_path() / format("lepus_chain_test_{}.mha", ::getpid());
  const auto rows_file = name_of_this_run(output, "rows");
  int in_files = 0;
  std::vector<float> first;
  for (const auto& [memory, threads] : std::vector<std::pair<std::int64_t, int>>{
           {std::int64_t{1} << 30, 1}, {std::int64_t{1} << 30, 3}, {600000, 2}, {1, 1}}) {
    CorrectionChain chain(scan.scan, frames, &normalisation, scan.context());
    for (const auto& report : chain.reports()) EXPECT_FALSE(report.seen) << report.kind;
    EXPECT_FALSE(chain.share_at_lowest(0));
    RowAudit audit(frames, {1, 0});
    const CorrectedFrames corrected(
        frames, chain, audit,
        {.memory_bytes = memory, .scratch = output, .force = false, .threads = threads, .device = nullptr}, never);
    EXPECT_EQ(std::filesystem::exists(rows_file), corrected.description().find("scratch file") != std::string::npos);
    in_files += std::filesystem::exists(rows_file);
    std::vector<float> all(static_cast<std::size_t>(frames.frames() * frames.rows() * frames.columns()));
    for (std::int64_t view = frames.frames() - 1; view >= 0; --view)
      for (const RowBand rows : {RowBand{7, frames.rows()}, RowBand{0, 7}})
        corrected.read_native(view, rows.first, rows.last,
                              all.data() + (view * frames.rows() + rows.first) * frames.columns());
    for (const float value : all) ASSERT_TRUE(std::isfinite(value));
    if (first.empty()) first = all;
    EXPECT_EQ(std::memcmp(all.data(), first.data(), all.size() * sizeof(float)), 0)
        << corrected.description() << ", threads " << threads;
    EXPECT_EQ(audit.pixels(), frames.frames() * frames.rows() * frames.columns()) << "halo rows count once";
    const auto reports = chain.reports();
    ASSERT_EQ(reports.size(), chain_test::long_chain().size());
    for (const auto& report : reports) EXPECT_TRUE(report.seen && !report.found.empty()) << report.kind;
  }
  EXPECT_EQ(in_files, 2);
  EXPECT_FALSE(std::filesystem::exists(rows_file)) << "it goes with its run";
}

// In some rows only, wherever they are.
TEST(CorrectedFrames, PixelsAtTheDarkThatAreLeftAreSeen) {
  const auto share_left = [](std::vector<CorrectionSpec> specs, std::int64_t memory_bytes) {
    const chain_test::SmallScan scan(std::move(specs));
    auto [frames, normalisation] = scan.inputs();
    CorrectionChain chain(scan.scan, frames, &normalisation, scan.context());
    RowAudit audit(frames, {1, 0});
    audit.watch_dark(normalisation, {});
    const CancelFlag never;
    CorrectedFrames corrected(
        frames, chain, audit,
        {.memory_bytes = memory_bytes, .scratch = "v.mha", .force = false, .threads = 2, .device = nullptr}, never);
    std::vector<float> row(static_cast<std::size_t>(frames.columns()));
    for (std::int64_t i = 0; i < frames.rows(); ++i) corrected.read_native(0, i, i + 1, row.data());
    corrected.finish();
    const double recorded = static_cast<double>(audit.at_dark().pixels) / static_cast<double>(audit.pixels());
    EXPECT_GT(recorded, 1e-4);
    EXPECT_FALSE(CorrectionChain(scan.scan, frames, &normalisation, scan.context()).share_at_lowest(recorded));
    return chain.share_at_lowest(recorded).value_or(-1) / recorded;
  };
  for (const std::int64_t memory : {std::int64_t{1} << 30, std::int64_t{600000}}) {
    auto hardening = chain_test::spec_of("hardening"), map = chain_test::spec_of("filter");
    hardening.parameters["coefficients"] = std::vector<double>{0.9};
    EXPECT_NEAR(share_left({chain_test::spec_of("drift"), hardening}, memory), 1, 1e-6);
    map.parameters["filter"] = std::string("median");
    map.parameters["radius_px"] = std::int64_t{2};
    EXPECT_EQ(share_left({map, hardening}, memory), 0);
  }
}

TEST(CorrectedFrames, WriteWhatAStepLeaves) {
  const auto folder = std::filesystem::temp_directory_path() / format("lepus_chain_test_{}", ::getpid());
  std::filesystem::create_directories(folder);
  auto specs = std::vector{chain_test::spec_of("drift"), chain_test::spec_of("rings")};
  for (auto& spec : specs) spec.folder = folder;
  specs[0].parameters["write"] = std::string("after-drift.mha");
  specs[1].parameters["write"] = std::string("after-rings");
  const chain_test::SmallScan scan(specs);
  auto [frames, normalisation] = scan.inputs();
  CorrectionChain chain(scan.scan, frames, &normalisation, scan.context());
  RowAudit audit(frames, {1, 0});
  const CancelFlag never;
  CorrectedFrames corrected(
      frames, chain, audit,
      {.memory_bytes = 500000, .scratch = folder / "v.mha", .force = false, .threads = 1, .device = nullptr}, never);
  std::vector<float> one(static_cast<std::size_t>(frames.columns()));
  corrected.read_native(5, 9, 10, one.data());  // in the middle: files are completed all the same
  corrected.finish();
  const auto written = open_volume(folder / "after-rings.mha");
  EXPECT_EQ(written->grid().nx, frames.columns());
  EXPECT_EQ(written->grid().ny, frames.frames());
  ASSERT_EQ(written->grid().nz, frames.rows());
  std::vector<float> sinogram(static_cast<std::size_t>(frames.columns() * frames.frames()));
  written->read(9, 10, sinogram.data());
  EXPECT_EQ(std::memcmp(sinogram.data() + 5 * frames.columns(), one.data(), one.size() * sizeof(float)), 0);
  open_volume(folder / "after-drift.mha")->read(9, 10, sinogram.data());
  double mean = 0;
  for (std::int64_t view = 0; view < frames.frames(); ++view)
    mean += static_cast<double>(sinogram[static_cast<std::size_t>(view * frames.columns())]);
  EXPECT_NEAR(mean / static_cast<double>(frames.frames()), 1, 0.01) << "air is 1 in grey levels";
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace lepus
