// SPDX-License-Identifier: Apache-2.0
// Backprojection of 256^3 voxels from 128 views of 624 x 480 pixels: GUPS (voxel updates per second / 2^30) and cycles
// (of processor time, all threads together) per voxel update, for every SIMD target, circular and general matrices, one
// and two threads. Each result is compared with the double-precision reference on some slices before its time counts.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/measure/clock.h"
#include "bench/measure/named_options.h"
#include "core/format.h"
#include "core/memory.h"
#include "device/host/backprojector.h"
#include <lepus/error.h>
#include <lepus/math.h>

namespace lepus::bench {
namespace {

struct Options {
  std::int64_t size = 256, views = 128, columns = 624, rows = 480;
  int repeats = 5;
  double voxel_mm = 0.6;
  std::vector<int> threads{1, 2};
  std::string target, json, only;
};

struct Result {
  std::string scan, interpolation, target, kernel;
  int threads = 1;
  double seconds = 0, gups = 0, cycles = 0, rms = 0, largest = 0;
};

// A C-arm's proportions (source-axis 750 mm, source-detector 1200 mm, pixels of 0.64 mm). Voxels of 0.6 mm are 1.5
// pixels wide at the axis, and every view sees the whole volume: no update is saved by missing the detector.
CircularScan circular_scan(const Options& o, double arc_degrees) {
  CircularScan scan;
  scan.source_axis_mm = 750;
  scan.source_detector_mm = 1200;
  scan.columns = o.columns;
  scan.rows = o.rows;
  scan.pixel_width_mm = scan.pixel_height_mm = 0.64 * 624 / static_cast<double>(o.columns);
  for (std::int64_t i = 0; i < o.views; ++i)
    scan.angles_rad.push_back(radians(arc_degrees * static_cast<double>(i) / static_cast<double>(o.views)));
  return scan;
}

CircularScan scan_named(const std::string& name, const Options& o) {
  CircularScan scan = circular_scan(o, name == "short" ? 200 : 360);
  if (name != "general") return scan;
  // A C-arm that sways: half a millimetre and half a degree.
  std::mt19937 random(1);
  std::normal_distribution<double> mm(0, 0.5), angle(0, radians(0.5));
  for (std::int64_t i = 0; i < o.views; ++i) {
    ViewPerturbation p;
    p.source_mm = {mm(random), mm(random), mm(random)};
    p.detector_mm = {mm(random), mm(random), mm(random)};
    p.in_plane_rad = angle(random);
    p.pitch_rad = angle(random);
    p.yaw_rad = angle(random);
    p.angle_rad = 0.1 * angle(random);
    scan.perturbations.push_back(p);
  }
  return scan;
}

// Smooth structure and noise, so that no tap may be wrong unnoticed.
std::vector<Buffer<float>> make_views(const Options& o, std::int64_t stride) {
  std::vector<Buffer<float>> views;
  std::mt19937 random(7);
  std::uniform_real_distribution<float> noise(-0.5f, 0.5f);
  for (std::int64_t v = 0; v < o.views; ++v) {
    Buffer<float> data(o.columns * stride);
    for (std::int64_t c = 0; c < o.columns; ++c)
      for (std::int64_t r = 0; r < stride; ++r)
        data[c * stride + r] =
            r < o.rows
                ? std::sin(0.02f * static_cast<float>(c + v)) * std::cos(0.03f * static_cast<float>(r)) + noise(random)
                : 0.0f;
    views.push_back(std::move(data));
  }
  return views;
}

class Bench {
public:
  explicit Bench(const Options& options)
      : o_(options), stride_((options.rows + 15) / 16 * 16 + 16), views_(make_views(options, stride_)) {
    grid_ = centred_grid(o_.size, o_.size, o_.size, {o_.voxel_mm, o_.voxel_mm, o_.voxel_mm});
  }

  BandSet wedge(const Backprojector& b) const {
    BandSet set{.first = 0, .row_stride = stride_, .bands = {}};
    for (const auto view : b.view_order())
      set.bands.push_back({views_[static_cast<std::size_t>(view)].data(), 0, o_.rows});
    return set;
  }

  std::vector<Result> run(const std::string& name, Interpolation interpolation, const std::string& interpolation_name) {
    const ScanGeometry geometry = build_scan(scan_named(name, o_));
    const std::vector<std::int64_t> starts{0, o_.size / 32 * 16, (o_.size - 1) / 16 * 16};
    const auto truth = reference_slices(geometry, interpolation, starts);
    std::vector<Result> results;
    for (const auto& target : cpu_targets()) {
      // Without SIMD it takes minutes: only when asked for.
      const bool slow = target == "EMU128" || target == "SCALAR";
      if (o_.target.empty() ? slow : o_.target != target) continue;
      const auto b = make_backprojector(geometry, grid_, interpolation, target);
      const BandSet set = wedge(*b);
      for (const int threads : o_.threads) {
        Result r{.scan = name,
                 .interpolation = interpolation_name,
                 .target = target,
                 .kernel = b->description(),
                 .threads = threads};
        ThreadPool pool(threads);
        const std::int64_t z_stride = (o_.size + 15) / 16 * 16;
        Buffer<float> volume(o_.size * o_.size * z_stride);
        const SlabView slab{volume.data(), 0, o_.size, z_stride};
        std::fill(volume.begin(), volume.end(), 0.0f);
        b->accumulate(set, slab, pool);
        check(volume, z_stride, starts, truth, r);
        double best = 1e300;
        for (int i = 0; i < o_.repeats; ++i) {
          const double start = measure::seconds();
          b->accumulate(set, slab, pool);
          best = std::min(best, measure::seconds() - start);
        }
        const double clock_before = measure::measured_clock_hz();  // it changes from second to second
        const double undisturbed = best_of_pieces(*b, set, slab, pool);
        const double clock = std::max(clock_before, measure::measured_clock_hz());
        if (last_cpu_target() != target)
          throw Error(ErrorKind::internal,
                      {.what = "another SIMD target ran", .where = target, .why = last_cpu_target(), .hint = {}});
        const double updates = static_cast<double>(grid_.voxels()) * static_cast<double>(o_.views);
        r.seconds = best;
        r.gups = updates / best / 1073741824.0;
        r.cycles = clock * undisturbed / updates;
        results.push_back(r);
      }
    }
    return results;
  }

private:
  // Processor time of the whole, put together from the best times of its pieces (a block of views into 64 slices, some
  // ten milliseconds): what it takes when nobody else uses the core's caches and its other hardware thread.
  double best_of_pieces(const Backprojector& b, const BandSet& all, const SlabView& volume, ThreadPool& pool) const {
    const auto views = static_cast<std::int64_t>(all.bands.size());
    double sum = 0;
    for (std::int64_t first = 0; first < views; first += b.view_block())
      for (std::int64_t z = 0; z < volume.z1; z += 64) {
        BandSet wedge{.first = first, .row_stride = all.row_stride, .bands = {}};
        for (std::int64_t i = first; i < std::min(first + b.view_block(), views); ++i)
          wedge.bands.push_back(all.bands[static_cast<std::size_t>(i)]);
        const SlabView slab{volume.data + z, z, std::min(z + 64, volume.z1), volume.z_stride};
        double best = 1e300;
        for (int i = 0; i < o_.repeats; ++i) {
          const double start = measure::cpu_seconds();
          b.accumulate(wedge, slab, pool);
          best = std::min(best, measure::cpu_seconds() - start);
        }
        sum += best;
      }
    return sum;
  }

  // Sixteen slices would take long in the reference: one slice at each start.
  std::vector<std::vector<float>> reference_slices(const ScanGeometry& geometry, Interpolation interpolation,
                                                   const std::vector<std::int64_t>& starts) {
    ThreadPool pool;
    const auto b = make_reference_backprojector(geometry, grid_, interpolation);
    std::vector<std::vector<float>> slices;
    for (const auto z : starts) {
      std::vector<float> slice(static_cast<std::size_t>(o_.size * o_.size * 16), 0.0f);
      b->accumulate(wedge(*b), {slice.data(), z, z + 1, 16}, pool);
      slices.push_back(std::move(slice));
    }
    return slices;
  }

  void check(const Buffer<float>& volume, std::int64_t z_stride, const std::vector<std::int64_t>& starts,
             const std::vector<std::vector<float>>& truth, Result& r) const {
    double squares = 0, differences = 0, largest = 0, maximum = 0;
    for (std::size_t s = 0; s < starts.size(); ++s)
      for (std::int64_t i = 0; i < o_.size * o_.size; ++i) {
        const double expected = truth[s][static_cast<std::size_t>(i * 16)];
        const double difference = volume[i * z_stride + starts[s]] - expected;
        squares += expected * expected;
        differences += difference * difference;
        largest = std::max(largest, std::isfinite(difference) ? std::abs(difference) : 1e300);
        maximum = std::max(maximum, std::abs(expected));
      }
    r.rms = std::sqrt(differences / squares);
    r.largest = largest / maximum;
    // Nearest may take the neighbouring tap where a coordinate lies half-way.
    const bool nearest = r.interpolation == "nearest";
    if (!(r.rms <= (nearest ? 1e-2 : 1e-5)) || !(r.largest <= (nearest ? 1.0 : 1e-4)))
      throw Error(ErrorKind::internal, {.what = "the result differs from the reference",
                                        .where = r.scan + ", " + r.kernel,
                                        .why = format("rms {:.2e}, largest {:.2e}", r.rms, r.largest),
                                        .hint = {}});
  }

  Options o_;
  std::int64_t stride_;
  std::vector<Buffer<float>> views_;
  VolumeGrid grid_;
};

Options parse(int argc, char** argv) {
  Options o;
  measure::read_named_options(argc, argv, "Backprojection on the host, each kernel checked before it is timed.",
                              {{"--only", &o.only, "circular, short, general, nearest or cubic"},
                               {"--target", &o.target, "vectors, such as SSE4"},
                               {"--threads", &o.threads},
                               {"--size", &o.size, "voxels along each axis"},
                               {"--views", &o.views},
                               {"--voxel", &o.voxel_mm, "mm"},
                               {"--repeats", &o.repeats},
                               {"--json", &o.json, "a file for the results"}});
  return o;
}

int main_program(int argc, char** argv) {
  const Options o = parse(argc, argv);
  struct Case {
    const char *scan, *interpolation;
    Interpolation kind;
  };
  const Case cases[] = {{"circular", "linear", Interpolation::linear}, {"short", "linear", Interpolation::linear},
                        {"general", "linear", Interpolation::linear},  {"circular", "nearest", Interpolation::nearest},
                        {"circular", "cubic", Interpolation::cubic},   {"general", "nearest", Interpolation::nearest},
                        {"general", "cubic", Interpolation::cubic}};
  std::printf("%s\nclock %.2f GHz (measured); %lld^3 voxels of %.2f mm, %lld views of %lld x %lld\n",
              describe_cpu().c_str(), measure::measured_clock_hz() / 1e9, static_cast<long long>(o.size), o.voxel_mm,
              static_cast<long long>(o.views), static_cast<long long>(o.columns), static_cast<long long>(o.rows));
  std::printf("%-9s %-8s %-7s %7s %9s %8s %13s %9s %9s\n", "scan", "taps", "target", "threads", "seconds", "GUPS",
              "cycles/update", "rms", "largest");
  Bench bench(o);
  nlohmann::json all = nlohmann::json::array();
  for (const auto& c : cases) {
    if (!o.only.empty() && (c.kind == Interpolation::linear ? o.only != c.scan : o.only != c.interpolation)) continue;
    for (const auto& r : bench.run(c.scan, c.kind, c.interpolation)) {
      std::printf("%-9s %-8s %-7s %7d %9.4f %8.3f %13.2f %9.1e %9.1e  %s\n", r.scan.c_str(), r.interpolation.c_str(),
                  r.target.c_str(), r.threads, r.seconds, r.gups, r.cycles, r.rms, r.largest, r.kernel.c_str());
      std::fflush(stdout);
      all.push_back({{"scan", r.scan},
                     {"interpolation", r.interpolation},
                     {"target", r.target},
                     {"kernel", r.kernel},
                     {"threads", r.threads},
                     {"seconds", r.seconds},
                     {"gups", r.gups},
                     {"cycles_per_update", r.cycles},
                     {"rms", r.rms},
                     {"largest", r.largest}});
    }
  }
  if (!o.json.empty()) {
    std::FILE* file = std::fopen(o.json.c_str(), "w");
    if (file == nullptr)
      throw Error(ErrorKind::disk, {.what = "cannot write", .where = o.json, .why = std::strerror(errno), .hint = {}});
    const std::string text = all.dump(2);
    std::fprintf(file, "%s\n", text.c_str());
    std::fclose(file);
  }
  return 0;
}

}  // namespace
}  // namespace lepus::bench

int main(int argc, char** argv) {
  try {
    return lepus::bench::main_program(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
