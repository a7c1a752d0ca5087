// SPDX-License-Identifier: Apache-2.0
// Chains on small volumes: against the filters' reference and hand-computed values, in slabs of every size.
#include "post/post.h"

#include <atomic>
#include <cmath>
#include <limits>

#include "analysis/array_volume.h"
#include "analysis/statistics.h"
#include "correct/filters/filter_cases_test.h"
#include "io/test_support.h"

namespace lepus {
namespace {

using namespace test;

constexpr std::int64_t nx = 13, ny = 9, nz = 11;
const VolumeGrid grid{nx, ny, nz, {-6, -4, 1}, {1, 1, 0.5}};

std::vector<float> noise() { return filter_test::noisy_stack(nx, ny, nz).values; }

struct Result {
  PostReport report;
  std::vector<float> voxels;
};

class PostChain : public testing::Test {
protected:
  Result run(const std::vector<std::string>& steps, const std::vector<float>& voxels, std::int64_t slab = 0,
             int threads = 2, std::int64_t memory = 1 << 28, const std::string& name = "out.mha") {
    ThreadPool pool(threads);
    CancelFlag never;
    Progress silent;
    Context context{pool, never, silent};
    std::vector<PostSpec> chain;
    for (const auto& step : steps) chain.push_back(parse_post_step(step));
    PostSettings options;
    options.input = "in.mha";
    options.backend = "cpu";
    options.memory_bytes = memory;
    options.slab_slices = slab;
    options.force = true;
    Result result;
    result.report = post_process(ArrayVolume(grid, voxels), folder / name, chain, options, context);
    const auto reader = open_volume(folder / name);
    EXPECT_EQ(reader->grid(), result.report.grid);
    result.voxels.resize(static_cast<std::size_t>(reader->grid().voxels()));
    reader->read(0, reader->grid().nz, result.voxels.data());
    return result;
  }
  TempFolder folder;
};

TEST_F(PostChain, FiltersAgreeWithTheReferenceInEverySlab) {
  for (const char* kind : {"box", "gaussian", "median", "bilateral"})
    for (const int dimensions : {2, 3})
      for (const char* border : {"keep", "zero", "partial", "wrap", "mirror", "clamp"}) {
        auto in = filter_test::noisy_stack(nx, ny, nz), expected = in;
        FilterOptions options;
        const std::string name = kind;
        options.kind = name == "box"        ? FilterKind::box
                       : name == "gaussian" ? FilterKind::gaussian
                       : name == "median"   ? FilterKind::median
                                            : FilterKind::bilateral;
        options.radius = 2;
        options.sigma = 1.25;
        options.sigma_value = 0.75;  // 0.375 of a range of 2
        options.dimensions = dimensions;
        options.iterations = 2;
        const std::string word = border;
        options.border = word == "keep"      ? FilterBorder::keep
                         : word == "zero"    ? FilterBorder::zero
                         : word == "partial" ? FilterBorder::partial
                         : word == "wrap"    ? FilterBorder::wrap
                         : word == "mirror"  ? FilterBorder::mirror
                                             : FilterBorder::clamp;
        reference::filter(in.planes(), expected.planes(), options);
        std::string step = format("{} radius=2 dimensions={} border={} iterations=2", kind, dimensions, border);
        if (name == "gaussian" || name == "bilateral") step += " sigma=1.25";
        if (name == "bilateral") step += " sigma_value=0.375 value_range=2";
        for (const std::int64_t slab : {1, 3, 11}) {
          const Result got = run({step}, in.values, slab);
          EXPECT_EQ(got.report.slab_slices, slab);
          double worst = 0;
          for (std::size_t i = 0; i < in.values.size(); ++i) {
            const double error = std::abs(static_cast<double>(got.voxels[i]) - static_cast<double>(expected.values[i]));
            worst = error >= 0 ? std::max(worst, error) : INFINITY;
          }
          // As the filters' own tests; the expected value was rounded, too.
          const double limit = filter_test::limit_of(options);
          EXPECT_LE(worst, limit == 0 ? 0 : limit + 0x1p-24) << step << ", slabs of " << slab;
        }
      }
}

TEST_F(PostChain, TheSameBitsForAnySlabAndThreads) {
  const std::vector<std::string> chain{"gaussian radius=1",
                                       "hardening threshold=-0.5 value=-0.5 radius=3 sigma=1.5",
                                       "median radius=1 border=mirror",
                                       "crop x=1,12 z=1,10",
                                       "bilateral dimensions=3 radius=2 iterations=2",
                                       "hu water=0.5",
                                       "rescale bits=16 low=1 high=98"};
  const Result whole = run(chain, noise(), nz, 1);
  EXPECT_EQ(whole.report.pixel_type, "uint16");
  EXPECT_EQ(whole.report.unit, "grey levels");
  EXPECT_EQ(whole.report.steps.size(), 9u);  // hardening is three
  for (const std::int64_t slab : {1, 2, 4, 5, 9})
    for (const int threads : {1, 3}) {
      const Result cut = run(chain, noise(), slab, threads);
      EXPECT_EQ(cut.voxels, whole.voxels) << slab << " slices, " << threads << " threads";
      EXPECT_EQ(cut.report.steps, whole.report.steps);
      EXPECT_EQ(cut.report.provenance, whole.report.provenance);
    }
  EXPECT_EQ(folder.entries(), 1u);  // no scratch volume stays
}

TEST_F(PostChain, LittleMemoryMakesSmallSlabs) {
  const std::vector<std::string> chain{"median radius=1"};
  const Result whole = run(chain, noise());
  EXPECT_EQ(whole.report.slabs, 1);
  // Histograms of two threads take 5 MiB, the median's tiles about 2.6 MB, four buffers of a slice 1.9 kB.
  std::int64_t memory = 6 << 20;
  for (; memory < (64 << 20); memory += 1024) try {
      const Result small = run(chain, noise(), 0, 2, memory);
      EXPECT_GT(small.report.slabs, 1);
      EXPECT_EQ(small.voxels, whole.voxels);
      break;
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::memory);
      ASSERT_NE(std::string(error.what()).find("--memory"), std::string::npos);
    }
  EXPECT_LT(memory, 64 << 20);
  EXPECT_GT(memory, 6 << 20);
}

TEST_F(PostChain, RingMask) {
  const std::vector<float> ones(static_cast<std::size_t>(grid.voxels()), 1.0f);
  const Result got = run({"ring-mask radius_mm=3 center_x_mm=1 center_y_mm=-1 value=7"}, ones, 4);
  std::size_t at = 0;
  for (std::int64_t z = 0; z < nz; ++z)
    for (std::int64_t y = 0; y < ny; ++y)
      for (std::int64_t x = 0; x < nx; ++x, ++at) {
        const double dx = static_cast<double>(x) - 6 - 1, dy = static_cast<double>(y) - 4 + 1;
        ASSERT_EQ(got.voxels[at], dx * dx + dy * dy <= 9 ? 1.0f : 7.0f) << x << " " << y;
      }
  // Without a radius: y goes from -4.5 to 4.5 mm.
  const Result fitted = run({"ring-mask"}, ones);
  EXPECT_NE(fitted.report.steps[0].find("4.5 mm"), std::string::npos) << fitted.report.steps[0];
  EXPECT_LEPUS_ERROR(run({"ring-mask center_x_mm=20"}, ones), ErrorKind::usage, "no circle");
}

TEST_F(PostChain, AirHounsfieldUnitsAndFinite) {
  std::vector<float> voxels = noise();
  voxels[0] = 0.02f;
  voxels[1] = 0.0199f;
  const Result air = run({"air threshold=0.02 value=-1"}, voxels);
  EXPECT_EQ(air.voxels[0], 0.02f);
  EXPECT_EQ(air.voxels[1], -1.0f);
  const Result hu = run({"hu water=0.02 air=0.001"}, voxels);
  EXPECT_EQ(hu.report.unit, "HU");
  EXPECT_EQ(open_volume(folder / "out.mha")->unit(), "HU");
  EXPECT_NEAR(hu.voxels[0], 0, 1e-4);
  EXPECT_NEAR(hu.voxels[1], (0.0199 - 0.02) / 0.019 * 1000, 1e-4);
  EXPECT_LEPUS_ERROR(run({"hu water=0.02", "hu water=0.02"}, voxels), ErrorKind::usage, "already");
  EXPECT_LEPUS_ERROR(run({"hu water=0"}, voxels), ErrorKind::usage, "above air");
  voxels[5] = NAN;
  voxels[6] = -INFINITY;
  EXPECT_LEPUS_ERROR(run({"air threshold=0"}, voxels), ErrorKind::input, "2 of 1287 voxels");
  const Result finite = run({"finite value=9", "air threshold=-5"}, voxels);
  EXPECT_EQ(finite.voxels[5], 9.0f);
  EXPECT_EQ(finite.voxels[6], 9.0f);
  EXPECT_LEPUS_ERROR(run({"finite", "hu water=1e-300"}, voxels), ErrorKind::input, "too large");
}

TEST_F(PostChain, CropKeepsThePlaceOfTheVoxels) {
  const std::vector<float> voxels = noise();
  const Result got = run({"crop x=2,12 y=3,4 z=5,9"}, voxels, 3);
  EXPECT_EQ(got.report.grid, (VolumeGrid{10, 1, 4, {-4, -1, 3.5}, {1, 1, 0.5}}));
  std::size_t at = 0;
  for (std::int64_t z = 5; z < 9; ++z)
    for (std::int64_t x = 2; x < 12; ++x)
      EXPECT_EQ(got.voxels[at++], voxels[static_cast<std::size_t>((z * ny + 3) * nx + x)]);
  EXPECT_LEPUS_ERROR(run({"crop z=3,12"}, voxels), ErrorKind::usage, "11 voxels along z");
  EXPECT_LEPUS_ERROR(run({"crop z=3,3"}, voxels), ErrorKind::usage, "no part");
}

TEST_F(PostChain, RescaleTakesExactPercentiles) {
  const std::vector<float> voxels = noise();
  for (const int bits : {8, 16}) {
    const Result got = run({format("rescale bits={} low=2.5 high=97", bits)}, voxels, 2);
    const double low = percentile(voxels, 2.5), high = percentile(voxels, 97), most = bits == 8 ? 255 : 65535;
    for (std::size_t i = 0; i < voxels.size(); ++i)
      ASSERT_EQ(
          got.voxels[i],
          std::clamp(std::floor((static_cast<double>(voxels[i]) - low) * (most / (high - low)) + 0.5), 0.0, most));
    EXPECT_EQ(got.report.pixel_type, bits == 8 ? "uint8" : "uint16");
  }
  const Result given = run({"rescale bits=8 low_value=0 high_value=0.51"}, voxels);
  for (std::size_t i = 0; i < voxels.size(); ++i)
    ASSERT_EQ(given.voxels[i], std::clamp(std::floor(static_cast<double>(voxels[i]) * 500 + 0.5), 0.0, 255.0));
  EXPECT_LEPUS_ERROR(run({"rescale", "air threshold=1"}, voxels), ErrorKind::usage, "nothing can follow rescale");
  EXPECT_LEPUS_ERROR(run({"rescale bits=12"}, voxels), ErrorKind::usage, "bits=8 or 16");
  EXPECT_LEPUS_ERROR(run({"rescale low=60 high=50"}, voxels), ErrorKind::usage, "low must be below high");
  EXPECT_LEPUS_ERROR(run({"air threshold=100", "rescale"}, voxels), ErrorKind::usage, "range of the values is empty");
}

TEST_F(PostChain, HardeningIsMaskAirAndSmoothingInBothDirections) {
  const std::vector<float> voxels = noise();
  const std::string smoothing = "radius=3 sigma=1.5 sigma_value=0.25 value_range=3";
  const Result chain = run({"hardening radius_mm=4 threshold=-0.25 value=-1 iterations=2 " + smoothing}, voxels, 4);
  const Result steps = run({"ring-mask radius_mm=4 value=-1", "air threshold=-0.25 value=-1",
                            "bilateral dimensions=2 separate=true iterations=2 " + smoothing},
                           voxels);
  EXPECT_EQ(chain.voxels, steps.voxels);
  // The middle voxel of one iteration, by hand: rows first, then the column of what they left.
  const Result once = run({"bilateral dimensions=2 separate=true " + smoothing}, voxels);
  const auto weight = [](double distance, double difference) {
    return std::exp(-distance * distance / (2 * 1.5 * 1.5) - difference * difference / (2 * 0.75 * 0.75));
  };
  const auto row_mean = [&](std::int64_t x, std::int64_t y) {
    const auto at = [&](std::int64_t i) { return static_cast<double>(voxels[static_cast<std::size_t>(y * nx + i)]); };
    double sum = 0, weights = 0;
    for (std::int64_t k = -3; k <= 3; ++k) {
      const double w = weight(static_cast<double>(k), at(x + k) - at(x));
      sum += w * at(x + k), weights += w;
    }
    return sum / weights;
  };
  double sum = 0, weights = 0;
  for (std::int64_t k = -3; k <= 3; ++k) {
    const double w = weight(static_cast<double>(k), row_mean(6, 4 + k) - row_mean(6, 4));
    sum += w * row_mean(6, 4 + k), weights += w;
  }
  EXPECT_NEAR(once.voxels[4 * nx + 6], sum / weights, 4e-6);  // twice the filter's own limit for values of 1.5
}

TEST_F(PostChain, ProvenanceGoesOn) {
  ThreadPool pool(1);
  CancelFlag never;
  Progress silent;
  Context context{pool, never, silent};
  PostSettings options;
  options.backend = "cpu";
  const auto writer = create_volume(folder / "in.mha", grid);
  writer->write(0, nz, noise().data());
  writer->finish(R"({"scan": "text", "post": [{"by": "earlier"}]})");
  options.input = "in.mha";
  const auto report = post_process(*open_volume(folder / "in.mha"), folder / "out.tif",
                                   {parse_post_step("median"), parse_post_step("rescale bits=8")}, options, context);
  const std::string text = open_volume(folder / "out.tif")->provenance();
  EXPECT_EQ(text, report.provenance);
  for (const char* part : {R"("scan":"text")", R"("by":"earlier")", R"("kind":"median")", R"("radius":1)",
                           R"("from":"in.mha")", "0 to 255 are values from"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
}

// A volume on a disk that fails at a slice, and how many slices were read of it.
class FailingVolume final : public VolumeReader {
public:
  FailingVolume(std::vector<float> voxels, std::int64_t bad) : volume_(all_, std::move(voxels)), bad_(bad) {}
  const VolumeGrid& grid() const override { return volume_.grid(); }
  std::string format() const override { return volume_.format(); }
  std::string pixel_type() const override { return volume_.pixel_type(); }
  std::string provenance() const override { return {}; }
  void read(std::int64_t z0, std::int64_t z1, float* slices) const override {
    if (z0 <= bad_ && bad_ < z1)
      throw Error(ErrorKind::input, {.what = "cannot read file", .where = {}, .why = {}, .hint = {}});
    read_ += z1 - z0;
    volume_.read(z0, z1, slices);
  }
  std::int64_t slices_read() const { return read_; }

private:
  const VolumeGrid all_ = {nx, ny, nz, {-6, -4, 1}, {1, 1, 0.5}};
  ArrayVolume volume_;
  std::int64_t bad_;
  mutable std::atomic<std::int64_t> read_ = 0;
};

TEST_F(PostChain, GoesOnWithTheSlabsThatAreFinished) {
  ThreadPool pool(2);
  CancelFlag never;
  Progress silent;
  Context context{pool, never, silent};
  PostSettings options;
  options.input = "in.mha";
  options.backend = "cpu";
  options.slab_slices = 2;
  options.same_run = JournalHeader{"post", {{"the input", "1"}}};
  const auto process = [&](const VolumeReader& volume, const std::vector<std::string>& steps) {
    std::vector<PostSpec> chain;
    for (const auto& step : steps) chain.push_back(parse_post_step(step));
    return post_process(volume, folder / "out.mha", chain, options, context);
  };
  const auto voxels_of = [&](const char* name) {
    std::vector<float> voxels(static_cast<std::size_t>(grid.voxels()));
    open_volume(folder / name)->read(0, nz, voxels.data());
    return voxels;
  };
  const std::vector<std::string> steps{"median dimensions=2", "rescale bits=16 low=1 high=99"};
  const Result whole = run(steps, noise(), 2, 2, 1 << 28, "whole.mha");

  const FailingVolume failing(noise(), 8);
  EXPECT_LEPUS_ERROR(process(failing, {"median dimensions=2"}), ErrorKind::input, "cannot read file");
  EXPECT_LEPUS_ERROR(process(failing, steps), ErrorKind::usage, "the steps");
  options.same_run->facts.front().value = "2";
  EXPECT_LEPUS_ERROR(process(failing, {"median dimensions=2"}), ErrorKind::usage, "the input");
  options.same_run->facts.front().value = "1";
  const FailingVolume good(noise(), -1);
  process(good, {"median dimensions=2"});
  EXPECT_LT(good.slices_read(), nz);
  EXPECT_EQ(voxels_of("out.mha"), run({"median dimensions=2"}, noise(), 0, 2, 1 << 28, "median.mha").voxels);
  std::filesystem::remove(folder / "out.mha");
  EXPECT_EQ(folder.entries(), 2u);  // no journal, no unfinished volume
  process(good, steps);
  EXPECT_EQ(voxels_of("out.mha"), whole.voxels);
}

TEST_F(PostChain, BadChainsLeaveNothingBehind) {
  EXPECT_LEPUS_ERROR(run({}, noise()), ErrorKind::usage, "no step");
  EXPECT_LEPUS_ERROR(run({"median radius=6"}, noise()), ErrorKind::usage, "take at most 4");
  EXPECT_LEPUS_ERROR(run({"median radius=5 dimensions=2"}, noise()), ErrorKind::usage, "take at most 4");
  EXPECT_LEPUS_ERROR(run({"bilateral separate=true"}, noise()), ErrorKind::usage, "dimensions=2");
  EXPECT_LEPUS_ERROR(run({"median"}, noise(), 0, 2, 1000), ErrorKind::memory, "--memory");
  const std::vector<float> same(static_cast<std::size_t>(grid.voxels()), 2.0f);
  EXPECT_LEPUS_ERROR(run({"median", "bilateral"}, same), ErrorKind::usage, "give value_range");
  EXPECT_LEPUS_ERROR(run({"median"}, same, 0, 2, 1 << 28, "none/out.mha"), ErrorKind::disk, "there is no folder");
  EXPECT_EQ(folder.entries(), 0u);
}

}  // namespace
}  // namespace lepus
