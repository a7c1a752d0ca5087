// SPDX-License-Identifier: Apache-2.0
// The row filter against double precision all the way: logarithm, bridged pixels, weights, and the ramp filter as a
// plain convolution. What is put into the store of views is caught. Rows onto the flat detector with level rows, too.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "core/memory.h"
#include "device/projector.h"
#include "device/row_filter.h"
#include "filter/test_scans.h"
#include "io/pixels.h"
#include "operations.h"
#include "preprocess/arc_resample.h"
#include "preprocess/level_rows.h"

namespace lepus::parity {
namespace {

using test_scans::angles;

// Keeps what is put as [view][row][column].
class CaughtRows final : public ViewStore {
public:
  CaughtRows(std::int64_t views, std::int64_t rows, std::int64_t columns)
      : values(static_cast<std::size_t>(views * rows * columns), NAN), rows_(rows), columns_(columns) {}
  void set_window(std::int64_t, RowBand, Keep) override {}
  void put(const float* filtered, std::int64_t view_stride, std::int64_t first_slot, std::int64_t slots, RowBand rows,
           Queue& queue) override {
    for (std::int64_t i = 0; i < slots; ++i)
      queue.device().copy(values.data() + ((first_slot + i) * rows_ + rows.first) * columns_,
                          filtered + i * view_stride, rows.size() * columns_ * static_cast<std::int64_t>(sizeof(float)),
                          queue);
  }
  std::vector<float> values;

private:
  std::int64_t rows_, columns_;
};

struct Options {
  RampOptions ramp = {};
  PixelType type = PixelType::u16;
  double scale = 1;                                // of the frames' values
  bool flats = true, dead = false, counts = true;  // counts false: frames of line integrals
  bool bad = false;                                // some pixels are not finite, and saturated ones are counted
};
constexpr double saturation = 40000;

// A scan with frames of line integrals between 0.1 and 3.4.
struct Recorded {
  ScanGeometry geometry, wide;
  FdkWeights weights;
  Options options;
  Normalisation normalisation;
  std::vector<std::int64_t> dead, order;
  std::vector<double> values;  // [view][row][column], as a pixel of the type holds them

  Recorded(const CircularScan& scan, const Options& given)
      : geometry(build_scan(scan)),
        weights(geometry),
        options(given),
        order(static_cast<std::size_t>(geometry.views())) {
    wide = padded(geometry, weights.padding());
    std::iota(order.begin(), order.end(), std::int64_t{0});
    const std::int64_t c = geometry.columns, pixels = c * geometry.rows;
    normalisation.columns = c;
    normalisation.rows = geometry.rows;
    normalisation.log_i0_everywhere = static_cast<float>(std::log(60000.0));
    if (options.flats) {
      normalisation.dark = Buffer<float>(pixels);
      normalisation.log_i0 = Buffer<float>(pixels);
      for (std::int64_t i = 0; i < pixels; ++i) {
        normalisation.dark[i] = static_cast<float>(100 + 50 * noise(i));
        normalisation.log_i0[i] = static_cast<float>(std::log(58000 + 4000 * noise(i + pixels)));
      }
    }
    if (options.dead)  // single ones, runs, both edges of rows
      dead = {0, c - 1, c, 2 * c + 5, 2 * c + 6, 2 * c + 7, 3 * c + 9, 4 * c - 1};
    for (std::int64_t i = 0; i < geometry.views() * pixels; ++i) {
      const double value = (2000 + std::floor(52000 * noise(7 * i))) * options.scale;
      values.push_back(bytes_per_pixel(options.type) < 4 ? std::floor(value) : value);
    }
    if (options.bad)
      for (const std::int64_t at : {std::int64_t{20}, c, c + 30, c + 31, 3 * c - 1})
        values[static_cast<std::size_t>(at)] = NAN;
  }

  std::int64_t columns() const { return geometry.columns; }
  std::int64_t rows() const { return geometry.rows; }
  double value(std::int64_t view, std::int64_t row, std::int64_t column) const {
    return values[static_cast<std::size_t>((view * rows() + row) * columns() + column)];
  }

  // Where something is not finite, the mean of the last value and the next good one of the row.
  std::vector<double> repaired_row(std::int64_t view, std::int64_t row) const {
    std::vector<double> line;
    for (std::int64_t i = 0; i < columns(); ++i) line.push_back(value(view, row, i));
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (std::isfinite(line[i])) continue;
      const auto next = std::find_if(line.begin() + static_cast<std::ptrdiff_t>(i), line.end(),
                                     [](double v) { return std::isfinite(v); });
      line[i] = i == 0 ? *next : next == line.end() ? line[i - 1] : 0.5 * (line[i - 1] + *next);
    }
    return line;
  }

  // With weights in double precision, or as the host has them.
  std::vector<double> filtered_row(std::int64_t view, std::int64_t row, bool single_weights = false) const {
    std::vector<double> line = repaired_row(view, row);
    for (std::int64_t i = 0; i < columns() && options.counts; ++i) {
      const std::int64_t at = row * columns() + i;
      const double dark = options.flats ? static_cast<double>(normalisation.dark[at]) : 0.0;
      const auto open = static_cast<double>(options.flats ? normalisation.log_i0[at] : normalisation.log_i0_everywhere);
      double& v = line[static_cast<std::size_t>(i)];
      v = open - std::log(std::max(v - dark, 1.0));
    }
    const auto is_dead = [&](std::int64_t i) { return std::ranges::binary_search(dead, row * columns() + i); };
    const std::vector<double> measured = line;
    for (std::int64_t i = 0; i < columns(); ++i) {
      if (!is_dead(i)) continue;
      std::int64_t left = i, right = i;
      while (left >= 0 && is_dead(left)) --left;
      while (right < columns() && is_dead(right)) ++right;
      const double a = measured[static_cast<std::size_t>(left >= 0 ? left : right)];
      const double b = measured[static_cast<std::size_t>(right < columns() ? right : left)];
      line[static_cast<std::size_t>(i)] =
          a + (b - a) * static_cast<double>(i - left) / static_cast<double>(right - left);
    }
    std::vector<double> wide_row(static_cast<std::size_t>(wide.columns));
    std::vector<float> single(line.size(), 1.0F);
    if (single_weights) weights.apply(view, row, row + 1, single.data());
    for (std::int64_t i = 0; i < columns(); ++i)
      wide_row[static_cast<std::size_t>(i + weights.padding().left)] =
          line[static_cast<std::size_t>(i)] *
          (single_weights ? static_cast<double>(single[static_cast<std::size_t>(i)])
                          : weights.at(view, static_cast<double>(i), static_cast<double>(row)));
    if (options.ramp.extrapolate == 0) return ramp_filter_reference(wide_row, options.ramp);
    // The plain convolution knows no continued rows: the host's filter stands in.
    const RampFilter ramp(wide.columns, options.ramp);
    Buffer<float> scratch(ramp.scratch_floats());
    std::vector<float> rounded(wide_row.begin(), wide_row.end());
    ramp.apply(rounded.data(), scratch.data());
    return {rounded.begin(), rounded.end()};
  }

  // Counted in the largest value. Where a ray and its partner both count next to nothing, their ratio magnifies the
  // rounding of its angle: a row may be off by twice as much as the host's weights make it, beside what the limit
  // allows.
  Truth truth() const {
    Truth all;
    std::vector<double> off;  // of each value's row
    double largest = 0;
    for (std::int64_t view = 0; view < geometry.views(); ++view)
      for (std::int64_t row = 0; row < rows(); ++row) {
        const std::vector<double> line = filtered_row(view, row);
        double by_weights = 0;
        if (weights.rays().views[static_cast<std::size_t>(view)].varies) {
          const std::vector<double> single = filtered_row(view, row, true);
          for (std::size_t i = 0; i < line.size(); ++i)
            by_weights = std::max(by_weights, std::abs(single[i] - line[i]));
        }
        for (const double v : line) {
          all.values.push_back(v);
          off.push_back(by_weights);
          largest = std::max(largest, std::abs(v));
        }
      }
    for (const double by_weights : off) all.unit.push_back(largest + 2 * by_weights / row_limit.largest);
    if (options.bad) {
      all.add(static_cast<double>(std::ranges::count_if(values, [](double v) { return !std::isfinite(v); })), exactly);
      all.add(static_cast<double>(std::ranges::count_if(values, [](double v) { return v >= saturation; })), exactly);
    }
    return all;
  }
};

// As the frames' type has it.
std::vector<std::byte> packed(PixelType type, std::span<const double> values) {
  std::vector<std::byte> bytes;
  const auto append = [&]<class Pixel>(Pixel) {
    for (const double value : values) {
      const auto pixel = static_cast<Pixel>(value);
      const auto* from = reinterpret_cast<const std::byte*>(&pixel);
      bytes.insert(bytes.end(), from, from + sizeof pixel);
    }
  };
  switch (type) {
    case PixelType::u8:
      append(std::uint8_t{});
      break;
    case PixelType::i8:
      append(std::int8_t{});
      break;
    case PixelType::u16:
      append(std::uint16_t{});
      break;
    case PixelType::i16:
      append(std::int16_t{});
      break;
    case PixelType::u32:
      append(std::uint32_t{});
      break;
    case PixelType::i32:
      append(std::int32_t{});
      break;
    case PixelType::f32:
      append(float{});
      break;
    case PixelType::f64:
      append(double{});
      break;
    case PixelType::f16:  // readers hand it out as f32: no bytes, which no row can be
      break;
  }
  return bytes;
}

// The audit asks it for sizes and names only.
class NoFrames final : public FrameSource {
public:
  explicit NoFrames(const Recorded& r) : r_(r) {}
  std::int64_t columns() const override { return r_.columns(); }
  std::int64_t rows() const override { return r_.rows(); }
  std::int64_t frames() const override { return r_.geometry.views(); }
  PixelType pixel_type() const override { return r_.options.type; }
  std::string name(std::int64_t) const override { return "memory"; }
  void read_native(std::int64_t, std::int64_t, std::int64_t, void*) const override {}

private:
  const Recorded& r_;
};

std::vector<float> filter_rows(Machine& machine, const Recorded& r, const Way& way) {
  const NoFrames source(r);
  RowAudit audit(source, {.maximum_fraction = 1, .saturation_level = saturation});
  RowFilterSetup setup;
  setup.wide = &r.wide;
  setup.weights = &r.weights;
  setup.ramp = r.options.ramp;
  setup.columns = setup.recorded_columns = r.columns();
  setup.columns_before = r.weights.padding().left;
  setup.view_order = &r.order;
  setup.type = r.options.type;
  setup.normalisation = r.options.counts ? &r.normalisation : nullptr;
  setup.dead_pixels = r.options.dead ? &r.dead : nullptr;
  setup.audit = r.options.bad ? &audit : nullptr;
  const auto filter = machine.device().make_row_filter(setup);
  const std::int64_t views = r.geometry.views(), at_once = way.cut == 0 ? r.rows() : 2 * way.cut;
  CaughtRows store(views, r.rows(), r.wide.columns);
  for (std::int64_t row = 0; row < r.rows(); row += at_once) {
    const RowBand rows{row, std::min(r.rows(), row + at_once)};
    std::vector<double> values;
    for (std::int64_t view = 0; view < views; ++view)
      for (std::int64_t y = rows.first; y < rows.last; ++y)
        for (std::int64_t x = 0; x < r.columns(); ++x)
          values.push_back(r.value(view, y, way.wrong ? (x + 1) % r.columns() : x));
    const Guarded<std::byte> pixels(machine, packed(r.options.type, values));
    std::vector<RowBlock> blocks;
    for (std::int64_t view = 0; view < views; ++view)
      blocks.push_back({{view, view, view, rows, rows, rows},
                        pixels.data() + view * rows.size() * r.columns() * bytes_per_pixel(r.options.type)});
    machine.work([&] { filter->filter(blocks, store, machine.queue()); });
    (void)pixels.values();
  }
  filter->report_bad_pixels();
  std::vector<float> all = store.values;
  if (r.options.bad) {
    all.push_back(static_cast<float>(audit.not_finite()));
    all.push_back(static_cast<float>(audit.saturated()));
  }
  return all;
}

CircularScan cone(std::vector<double> angles_rad, std::int64_t columns = 50, std::int64_t rows = 7) {
  CircularScan s;
  s.source_axis_mm = 200;
  s.source_detector_mm = 300;
  s.columns = columns;
  s.rows = rows;
  s.pixel_width_mm = s.pixel_height_mm = 180.0 / static_cast<double>(columns);
  s.angles_rad = std::move(angles_rad);
  return s;
}

CircularScan tilted(CircularScan s) {
  s.in_plane_rad = 0.03, s.pitch_rad = 0.05, s.yaw_rad = -0.04;
  return s;
}

}  // namespace

std::vector<Case> row_filter_cases() {
  std::vector<Case> cases;
  const auto add = [&](std::string name, const CircularScan& scan, const Options& options = {}) {
    const auto recorded = std::make_shared<const Recorded>(scan, options);
    cases.push_back({.name = std::move(name),
                     .truth = [=] { return recorded->truth(); },
                     .run = [=](Machine& m, const Way& way) { return filter_rows(m, *recorded, way); },
                     .cuts = 2,
                     .takes_long = scan.columns > 1024,
                     .has = {}});
  };
  using test_scans::fan, test_scans::with, test_scans::without_views;
  add("full turn", cone(angles(8, 360)));
  add("half-fan", with(cone(angles(20, 360)), 70, 0));
  add("half-fan, other side", with(cone(angles(20, 360)), -70, 0));
  add("tilted", tilted(cone(angles(8, 360))));
  add("parallel", fan(angles(20, 180), Beam::parallel));
  add("parallel, off the middle", with(fan(angles(20, 360), Beam::parallel), 20, 0));
  add("short scan", cone(angles(20, 230)));
  add("tilted short scan", tilted(cone(angles(20, 230))));
  add("gaps", without_views(cone(angles(40, 360)), 10, 16));
  add("fan", fan(angles(20, 230)));
  add("one I0", cone(angles(4, 360)), {.flats = false});
  add("dead pixels", cone(angles(4, 360)), {.dead = true});
  add("dead pixels, one I0", cone(angles(4, 360)), {.flats = false, .dead = true});
  Options windowed;
  windowed.ramp.window = Window::hann;
  windowed.ramp.cutoff = 0.8;
  add("window", cone(angles(4, 360)), windowed);
  Options continued;
  continued.ramp.extrapolate = 0.6;
  add("continued rows", cone(angles(4, 360)), continued);
  add("bad pixels", cone(angles(2, 360)), {.type = PixelType::f32, .bad = true});
  add("u8", cone(angles(2, 360)), {.type = PixelType::u8, .scale = 1 / 256.0, .counts = false});
  add("i8", cone(angles(2, 360)), {.type = PixelType::i8, .scale = 1 / 512.0, .counts = false});
  add("i16", cone(angles(2, 360)), {.type = PixelType::i16, .scale = 0.5});
  add("u32", cone(angles(2, 360)), {.type = PixelType::u32});
  add("i32", cone(angles(2, 360)), {.type = PixelType::i32});
  add("f32", cone(angles(2, 360)), {.type = PixelType::f32});
  add("f64", cone(angles(2, 360)), {.type = PixelType::f64});
  // One of every length of transform, the widest row that it takes and one column less; the last is too long for the
  // memory that threads of a GPU share.
  for (const std::int64_t columns : {90, 511, 512, 768, 1024, 1280, 1536, 2048, 2560, 3072, 4096, 6144, 8192, 8300})
    add(std::to_string(columns) + " columns", cone(angles(1, 360), columns, 3));
  return cases;
}

// Recorded rows become rows of the flat detector, or level ones, from frames (on the host) or from a band of corrected
// rows (on a device that corrects them). The formula is the one of project/row_map.h, in double precision everywhere.
std::vector<Case> resampling_cases() {
  std::vector<Case> cases;
  const auto add = [&](std::string name, std::shared_ptr<const RowResampler> resampler, const ScanGeometry& flat) {
    const RowMap map = resampler->map();
    const std::int64_t views = flat.views(), recorded = map.columns * map.rows;
    std::vector<float> frames;
    for (std::int64_t i = 0; i < views * recorded; ++i) frames.push_back(static_cast<float>(noise(i)));
    const RowBand all{0, flat.rows};
    const auto truth = [=] {
      Truth made;
      std::vector<float> rows(static_cast<std::size_t>(flat.rows * flat.columns));
      for (std::int64_t view = 0; view < views; ++view) {
        const std::int64_t first = resampler->recorded_rows(view, all).first;
        resampler->apply(view, all, frames.data() + view * recorded + first * map.columns, rows.data());
        made.values.insert(made.values.end(), rows.begin(), rows.end());
      }
      return made;
    };
    const auto run = [=](Machine& machine, const Way& way) {
      std::vector<std::int64_t> order(static_cast<std::size_t>(views));
      std::iota(order.begin(), order.end(), std::int64_t{0});
      RowFilterSetup setup;
      setup.wide = &flat;
      setup.columns = flat.columns;
      setup.view_order = &order;
      setup.recorded_columns = map.columns;
      setup.resampler = resampler.get();
      const auto filter = machine.device().make_row_filter(setup);
      CaughtRows store(views, flat.rows, flat.columns);
      std::vector<float> values = frames;
      if (way.wrong) std::rotate(values.begin(), values.begin() + 1, values.end());
      const std::int64_t at_once = way.cut == 0 ? flat.rows : 2 * way.cut;
      for (std::int64_t row = 0; row < flat.rows; row += at_once) {
        const RowBand rows{row, std::min(flat.rows, row + at_once)};
        std::vector<RowRequest> requests;
        for (std::int64_t view = 0; view < views; ++view)
          requests.push_back({view, view, view, rows, resampler->recorded_rows(view, rows), rows});
        if (machine.is_host()) {
          const Guarded<float> sent(machine, values);
          std::vector<RowBlock> blocks;
          for (const RowRequest& request : requests)
            blocks.push_back({request, reinterpret_cast<std::byte*>(sent.data() + request.view * recorded +
                                                                    request.recorded.first * map.columns)});
          machine.work([&] { filter->filter(blocks, store, machine.queue()); });
          continue;
        }
        std::vector<float> band;  // [row][view][column]
        for (std::int64_t y = 0; y < map.rows; ++y)
          for (std::int64_t view = 0; view < views; ++view)
            for (std::int64_t x = 0; x < map.columns; ++x)
              band.push_back(values[static_cast<std::size_t>(view * recorded + y * map.columns + x)]);
        const Guarded<float> corrected(machine, band);
        const Guarded<float> taken(machine,
                                   std::vector<float>(static_cast<std::size_t>(views * rows.size() * flat.columns)));
        machine.work([&] {
          filter->take({corrected.data(), map.columns, views, {0, map.rows}, map.rows}, requests,
                       reinterpret_cast<std::byte*>(taken.data()), machine.queue());
        });
        (void)taken.values();
        store.put(taken.data(), rows.size() * flat.columns, 0, views, rows, machine.queue());
        machine.queue().wait();
      }
      return store.values;
    };
    cases.push_back({.name = std::move(name), .truth = truth, .run = run, .cuts = 2, .has = [](const Machine& m) {
                       return m.is_host() || m.device().corrects_bands();
                     }});
  };
  CircularScan arc = cone(angles(5, 360), 40, 9), arc_fan = arc;
  arc.arc = arc_fan.arc = true;
  arc_fan.beam = Beam::fan;
  for (const CircularScan& scan : {arc, arc_fan}) {
    const ScanGeometry flat = build_scan(scan);
    add(scan.beam == Beam::fan ? "arc, fan" : "arc", std::make_shared<ArcResampler>(flat), flat);
  }
  CircularScan slanted = cone(angles(5, 360), 40, 9);
  slanted.in_plane_rad = 0.08;
  const auto leveller = std::make_shared<RowLeveller>(build_scan(slanted));
  add("slanted rows", leveller, leveller->level_scan());
  return cases;
}

}  // namespace lepus::parity
