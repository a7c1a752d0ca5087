// SPDX-License-Identifier: Apache-2.0
// Band kernels that make bands from frames and replace pixels in them.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "correct/pixels/hot_reference.h"
#include "correct/pixels/pixel_cases.h"
#include "correct/pixels/zinger_reference.h"
#include "operations.h"
#include "project/grey_levels.h"

namespace lepus::parity {
namespace {

using pixels::TestBand;

constexpr std::int64_t columns = 70, views = 5, detector_rows = 6;
constexpr RowBand rows{2, 5};

// Maps of the whole detector, in both kinds of memory.
struct Maps {
  std::vector<float> dark, log_i0;
  Maps() {
    for (std::int64_t i = 0; i < columns * detector_rows; ++i) {
      dark.push_back(static_cast<float>(100 + i % 7));
      log_i0.push_back(static_cast<float>(std::log(50000.0 + static_cast<double>(i))));
    }
  }
};
constexpr float one_i0 = 10.9F, lowest_of_lines = 0.001F;

struct Staged {
  BandStage stage;
  PixelType type;
  bool maps, logarithm;
};

// [view][row][column]; f32 frames are line integrals, with some that no beam is bright enough for.
double recorded_value(const Staged& s, std::int64_t place) {
  if (s.type == PixelType::f32 && place % 97 == 5) return -999;
  if (s.type == PixelType::f32) return static_cast<double>(static_cast<float>(9 * noise(place) - 0.2));
  return std::floor((s.type == PixelType::u8 ? 255 : 50000) * noise(place));
}

// A logarithm of about 11 rounds to 5e-7, and so does the difference of two: 2e-6, or that share of a grey level; 1e-6
// more where the logarithm of such a grey level is taken.
Truth stage_truth(const Staged& s) {
  const Maps maps;
  Truth truth;
  for (std::int64_t row = 0; row < rows.size(); ++row)
    for (std::int64_t view = 0; view < views; ++view)
      for (std::int64_t x = 0; x < columns; ++x) {
        const auto pixel = static_cast<std::size_t>((rows.first + row) * columns + x);
        const double value = recorded_value(s, (view * rows.size() + row) * columns + x);
        const double open = static_cast<double>(s.maps ? maps.log_i0[pixel] : one_i0);
        const double counts = std::max(value - (s.maps ? static_cast<double>(maps.dark[pixel]) : 0.0), 1.0);
        using enum BandStage;
        const bool was_counts = s.stage == counts_to_grey || s.stage == counts_to_line;
        double out = s.stage == counts_to_grey   ? counts * std::exp(-open)
                     : s.stage == counts_to_line ? open - std::log(counts)
                     : s.stage == line_to_grey   ? std::exp(-std::max(value, static_cast<double>(lowest_line)))
                                                 : value;
        double unit = s.stage == counts_to_line ? 2e-6 : s.stage == as_it_is ? exactly : 2e-6 * out;
        if (s.logarithm) {
          out = -std::log(std::max(out, was_counts ? std::exp(-open) : static_cast<double>(lowest_of_lines)));
          unit = 3e-6;
        }
        truth.add(out, unit);
      }
  return truth;
}

std::vector<float> stage(Machine& machine, const Staged& s, const Way& way) {
  const Maps maps;
  const Guarded<float> dark(machine, maps.dark), log_i0(machine, maps.log_i0);
  std::vector<float> values;
  for (std::int64_t i = 0; i < views * rows.size() * columns; ++i)
    values.push_back(static_cast<float>(recorded_value(s, i)));
  if (way.wrong) std::rotate(values.begin(), values.begin() + 1, values.end());
  const auto frames = [&]<class Pixel>(Pixel) {
    const std::vector<Pixel> typed(values.begin(), values.end());
    const Guarded<Pixel> recorded(machine, typed);
    BandStaging staging{.to = s.stage,
                        .dark = s.maps ? dark.data() : nullptr,
                        .log_i0 = s.maps ? log_i0.data() : nullptr,
                        .log_i0_everywhere = one_i0};
    return on_device(machine, std::vector<float>(values.size(), NAN),
                     {nullptr, columns, views, columns, rows.size(), views * columns}, [&](const Planes& p) {
                       const SinogramBand band{p.data, columns, views, rows, detector_rows};
                       machine.kernels().to_stage(s.type, recorded.data(), band, staging, machine.queue());
                       if (!s.logarithm) return;
                       staging.to = s.type == PixelType::f32 ? BandStage::as_it_is : BandStage::counts_to_line;
                       machine.kernels().logarithm(band, staging, lowest_of_lines, machine.queue());
                     });
  };
  return s.type == PixelType::u8    ? frames(std::uint8_t{})
         : s.type == PixelType::u16 ? frames(std::uint16_t{})
                                    : frames(float{});
}

bool has(const Machine& machine, BandOperation operation) { return machine.kernels().has(operation); }

// A correction in place whose pixels are counted, with the counts behind the values.
template <class Kernel>
std::vector<float> counted(Machine& machine, const TestBand& band, const Way& way, const Kernel& kernel) {
  const Block memory = machine.device().allocate(band.rows * 8, Place::host);
  auto* const counts = reinterpret_cast<std::int64_t*>(memory.get());
  std::vector<float> result = on_device(
      machine, input_of(band.values, way),
      {nullptr, band.columns, band.views, band.columns, band.rows, band.views * band.columns}, [&](const Planes& all) {
        in_pieces(all, way, [&](const Planes& some, std::int64_t first) { kernel(some, counts + first); });
      });
  for (std::int64_t i = 0; i < band.rows; ++i) result.push_back(static_cast<float>(counts[i]));
  return result;
}

// The same of a reference that works on one sinogram and returns how many it replaced.
template <class Reference>
Truth counted_truth(TestBand band, const Reference& reference) {
  std::vector<double> counts;
  for (std::int64_t row = 0; row < band.rows; ++row)
    counts.push_back(static_cast<double>(reference(band.band().sinograms({0, band.rows}), row)));
  Truth truth;
  for (const float value : band.values)
    truth.add(static_cast<double>(value), std::abs(static_cast<double>(value)) + exactly);
  for (const double count : counts) truth.add(count, exactly);
  return truth;
}

// 50 sinograms of 1400 x 360 of a device, four on the CPU.
TestBand large_band(const Machine& machine) {
  const TestBand five = pixels::noisy_band(1400, 360, 5);
  TestBand band(1400, 360, machine.is_host() ? 5 : 50);
  for (std::size_t i = 0; i < band.values.size(); ++i) band.values[i] = five.values[i % five.values.size()];
  return band;
}

}  // namespace

std::vector<Case> stage_cases() {
  std::vector<Case> cases;
  using enum BandStage;
  for (const Staged& s : {Staged{counts_to_grey, PixelType::u16, true, false},
                          {counts_to_line, PixelType::u16, true, false},
                          {counts_to_grey, PixelType::u8, false, false},
                          {counts_to_line, PixelType::u8, false, false},
                          {counts_to_grey, PixelType::u16, true, true},
                          {counts_to_grey, PixelType::u8, false, true},
                          {line_to_grey, PixelType::f32, false, false},
                          {line_to_grey, PixelType::f32, false, true},
                          {as_it_is, PixelType::f32, false, false},
                          {as_it_is, PixelType::u16, false, false}})
    cases.push_back({.name = "stage " + std::to_string(static_cast<int>(s.stage)) + ", " +
                             std::to_string(bytes_per_pixel(s.type)) + " bytes" + (s.maps ? ", maps" : "") +
                             (s.logarithm ? ", logarithm" : ""),
                     .truth = [=] { return stage_truth(s); },
                     .run = [=](Machine& m, const Way& way) { return stage(m, s, way); },
                     .has = [](const Machine& m) { return has(m, BandOperation::stage); }});
  return cases;
}

std::vector<Case> hot_pixel_cases() {
  std::vector<Case> cases;
  const auto has_hot = [](const Machine& m) { return has(m, BandOperation::hot_pixels); };
  for (const HotPixelOptions& options : pixels::hot_option_cases())
    for (const std::int64_t width : {7, 41, 64, 129, 401})
      for (const std::int64_t height : {33, 100}) {
        const pixels::HotRules rules = pixels::hot_rules(pixels::hot_options(options), height);
        if (width < (rules.classic ? 7 : 4 * rules.reach())) continue;
        cases.push_back({.name = std::to_string(width) + " x " + std::to_string(height) + ", window " +
                                 std::to_string(rules.weights.window) + (rules.classic ? ", classic" : ""),
                         .truth =
                             [=] {
                               return counted_truth(pixels::noisy_band(width, height, 5),
                                                    [&](const Planes& p, std::int64_t row) {
                                                      const auto hot = pixels::reference_hot_pixels(rules, 3, p, row);
                                                      return std::accumulate(hot.begin(), hot.end(), std::int64_t{0});
                                                    });
                             },
                         .run =
                             [=](Machine& m, const Way& way) {
                               return counted(m, pixels::noisy_band(width, height, 5), way,
                                              [&](const Planes& some, std::int64_t* counts) {
                                                m.kernels().hot_pixels(rules, 3, some, counts, m.queue());
                                              });
                             },
                         .cuts = 1,
                         .takes_long = width == 64,
                         .has = has_hot});
      }
  if (timing())
    cases.push_back({.name = "50 sinograms (CPU: 5) of 1400 x 360",
                     .truth = {},
                     .run =
                         [](Machine& m, const Way& way) {
                           return counted(m, large_band(m), way, [&](const Planes& some, std::int64_t* counts) {
                             m.kernels().hot_pixels(pixels::hot_rules(pixels::hot_options(), 360), 3, some, counts,
                                                    m.queue());
                           });
                         },
                     .has = has_hot});
  return cases;
}

std::vector<Case> zinger_cases() {
  std::vector<Case> cases;
  using pixels::ZingerNeighbours;
  const auto has_zingers = [](const Machine& m) { return has(m, BandOperation::zingers); };
  const auto run = [](const TestBand& band, const pixels::ZingerRules& rules) {
    return [=](Machine& m, const Way& way) {
      return counted(m, band, way, [&](const Planes& some, std::int64_t* counts) {
        m.kernels().zingers(rules, some, counts, m.queue());
      });
    };
  };
  for (const ZingerNeighbours neighbours : {ZingerNeighbours::both, ZingerNeighbours::views, ZingerNeighbours::row})
    for (const int radius : {1, 2, 3})
      for (const std::int64_t width : {5, 64, 65, 257})
        for (const std::int64_t height : {7, 33}) {
          pixels::ZingerRules rules;
          rules.neighbours = neighbours;
          rules.radius = radius;
          rules.along = width % 2 == 0 ? 0 : radius + 1;
          rules.limit = 5 / pixels::mean_distance(neighbours == ZingerNeighbours::row ? pixels::row_radius : radius);
          rules.sign = height == 7 ? 1.0F : -1.0F;
          TestBand band = pixels::noisy_band(width, height, 3);
          for (std::int64_t i = 0; i < 20; ++i)
            band.values[static_cast<std::size_t>(noise(i) * static_cast<double>(band.values.size()))] += rules.sign;
          cases.push_back({.name = std::to_string(width) + " x " + std::to_string(height) + ", radius " +
                                   std::to_string(radius) + ", neighbours " +
                                   std::to_string(static_cast<int>(neighbours)),
                           .truth =
                               [=] {
                                 return counted_truth(band, [&](const Planes& p, std::int64_t row) {
                                   return pixels::reference_zingers(rules, p, row);
                                 });
                               },
                           .run = run(band, rules),
                           .cuts = 1,
                           .takes_long = width == 257,
                           .has = has_zingers});
        }
  if (timing())
    cases.push_back({.name = "50 sinograms (CPU: 5) of 1400 x 360",
                     .truth = {},
                     .run = [=](Machine& m, const Way& way) { return run(large_band(m), {})(m, way); },
                     .has = has_zingers});
  return cases;
}

std::vector<Case> bridge_cases() {
  std::vector<Case> cases;
  for (const std::int64_t width : {5, 64, 257}) {
    const TestBand band = pixels::noisy_band(width, 9, 8);
    // Both ends of rows, a run, a pixel; whole rows at both ends and two that follow one another.
    const std::vector<pixels::PixelRun> runs{{1, 0, 1}, {2, width - 2, width}, {5, 1, 4}, {6, 2, 3}, {6, 4, 5}};
    const std::vector<pixels::RowLine> lines{{0, -1, 1}, {3, 2, 5}, {4, 2, 5}, {7, 6, -1}};
    const auto truth = [=] {
      std::vector<double> v(band.values.begin(), band.values.end());
      const auto at = [&](std::int64_t row, std::int64_t view, std::int64_t x) -> double& {
        return v[static_cast<std::size_t>((row * 9 + view) * width + x)];
      };
      for (std::int64_t view = 0; view < 9; ++view) {
        for (const pixels::PixelRun& run : runs) {
          const double left = at(run.row, view, run.begin > 0 ? run.begin - 1 : run.end);
          const double right = at(run.row, view, run.end < width ? run.end : run.begin - 1);
          for (std::int64_t x = run.begin; x < run.end; ++x)
            at(run.row, view, x) = left + (right - left) * static_cast<double>(x - run.begin + 1) /
                                              static_cast<double>(run.end - run.begin + 1);
        }
        for (const pixels::RowLine& line : lines)
          for (std::int64_t x = 0; x < width; ++x) {
            const double above = at(line.above < 0 ? line.below : line.above, view, x);
            const double below = at(line.below < 0 ? line.above : line.below, view, x);
            const double share = line.above < 0 || line.below < 0 ? 0
                                                                  : static_cast<double>(line.row - line.above) /
                                                                        static_cast<double>(line.below - line.above);
            at(line.row, view, x) = above + (below - above) * share;
          }
      }
      Truth all;
      for (const double value : v) all.add(value, 8 * 0x1p-24 * 2.5);  // four roundings, twice, of values up to 2.5
      return all;
    };
    const auto run = [=](Machine& m, const Way& way) {
      return on_device(m, input_of(band.values, way), {nullptr, width, 9, width, 8, 9 * width}, [&](const Planes& all) {
        if (way.cut == 0) return m.kernels().bridge(runs, lines, all, m.queue());
        for (std::int64_t view = 0; view < 9; ++view)
          m.kernels().bridge(runs, lines, {all.row(0, view), width, 1, width, 8, 9 * width}, m.queue());
      });
    };
    cases.push_back({.name = std::to_string(width) + " columns",
                     .truth = truth,
                     .run = run,
                     .cuts = 1,
                     .has = [](const Machine& m) { return has(m, BandOperation::bridge); }});
  }
  return cases;
}

}  // namespace lepus::parity
