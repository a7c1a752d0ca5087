// SPDX-License-Identifier: Apache-2.0
// Band kernels on pictures: smoothing filters, transposition, ring removal.
#include <algorithm>
#include <cmath>

#include "correct/filters/filter_cases_test.h"
#include "correct/rings/ring_cases_test.h"
#include "operations.h"

namespace lepus::parity {
namespace {

using filter_test::TestStack;

std::vector<float> filter(Machine& machine, const filter_test::Case& c, const Way& way) {
  TestStack in = filter_test::noisy_stack(c.width, c.height, c.count);
  in.values = input_of(in.values, way);
  const Guarded<float> from(machine, in.values);
  Planes source = in.planes();
  source.data = from.data();
  return on_device(machine, std::vector<float>(in.values.size(), NAN), in.planes(), [&](const Planes& out) {
    BandKernels& kernels = machine.kernels();
    if (way.cut == 0) return kernels.filter(source, out, c.options, uncut(source), machine.queue());
    for (const RowBand wanted : {RowBand{0, 1}, RowBand{1, c.height / 2}, RowBand{c.height / 2, c.height}}) {
      const RowBand needed = c.options.dimensions > 1 ? needed_along(c.options, wanted, c.height) : wanted;
      Planes band = source, part = out;
      band.data += needed.first * c.width, band.height = needed.size();
      part.data += wanted.first * c.width, part.height = wanted.size();
      kernels.filter(band, part, c.options, cut_rows(band, needed, c.height, wanted), machine.queue());
    }
  });
}

// Of the double-precision filter, or, where that takes too long, of the host's, which is held against it here.
Truth filter_truth(const filter_test::Case& c, bool by_host) {
  TestStack in = filter_test::noisy_stack(c.width, c.height, c.count), expected = in;
  ThreadPool threads;
  if (by_host)
    lepus::filter(in.planes(), expected.planes(), c.options, threads);
  else
    reference::filter(in.planes(), expected.planes(), c.options);
  // The expected value was rounded, too.
  const double limit = filter_test::limit_of(c.options),
               unit = limit == 0 ? exactly : (by_host ? 2 : 1) * limit + 0x1p-24;
  Truth truth;
  for (const float value : expected.values) truth.add(static_cast<double>(value), unit);
  return truth;
}

bool has_filter(const Machine& machine) { return machine.kernels().has(BandOperation::filter); }
bool is_gpu(const Machine& machine) { return !machine.is_host() && has_filter(machine); }

// Rows in several pieces; blocks of every size; masks that are searched in global memory (2-D from radius 64, 3-D from
// radius 13).
std::vector<filter_test::Case> large_masks() {
  struct Large {
    std::int64_t width, height, count, radius;
    int dimensions;
  };
  std::vector<filter_test::Case> all;
  for (const Large& l :
       {Large{1400, 7, 3, 30, 1}, Large{4099, 2, 1, 100, 1}, Large{4099, 1, 1, 1500, 1}, Large{9001, 1, 1, 3000, 1},
        Large{20000, 1, 1, 4000, 1}, Large{20000, 1, 1, 8500, 1}, Large{300, 130, 2, 30, 2}, Large{211, 150, 1, 50, 2},
        Large{160, 140, 1, 66, 2}, Large{90, 40, 25, 5, 3}, Large{40, 30, 28, 13, 3}})
    for (const FilterKind kind : {FilterKind::box, FilterKind::gaussian, FilterKind::median, FilterKind::bilateral})
      for (const FilterBorder border : {FilterBorder::keep, FilterBorder::partial, FilterBorder::mirror}) {
        if ((kind == FilterKind::bilateral && l.radius > 100) || (kind != FilterKind::median && l.radius > 4000))
          continue;
        const std::int64_t shortest = l.dimensions > 2 ? l.count : l.dimensions > 1 ? l.height : l.width;
        if (border == FilterBorder::keep && 2 * l.radius >= shortest) continue;
        FilterOptions options;
        options.kind = kind;
        options.border = border;
        options.radius = l.radius;
        options.dimensions = l.dimensions;
        options.sigma = 0.4 * static_cast<double>(l.radius);
        options.sigma_value = 0.4;
        all.push_back({l.width, l.height, l.count, options});
      }
  return all;
}

bool has_rings(const Machine& machine) { return machine.kernels().has(BandOperation::rings); }
bool is_another_device(const Machine& machine) { return !machine.is_host() && has_rings(machine); }

std::vector<float> remove_rings(Machine& machine, const ring_cases::Case& c, const Way& way) {
  ring_cases::Stack stack(c);
  if (way.wrong) *stack.planes.row(0, 0) += 0.01F;
  return on_device(machine, stack.memory, stack.planes, [&](const Planes& all) {
    in_pieces(all, way, [&](const Planes& some, std::int64_t) {
      machine.kernels().remove_rings(some, c.options, machine.queue());
    });
  });
}

Truth ring_truth(const ring_cases::Case& c, bool by_host) {
  ring_cases::Stack expected(c);
  ThreadPool threads;
  if (by_host)
    lepus::remove_rings(expected.planes, c.options, threads);
  else
    reference::remove_rings(expected.planes, c.options);
  Truth truth;
  for (std::size_t i = 0; i < expected.memory.size(); ++i) {
    const bool gap = static_cast<std::int64_t>(i) % expected.planes.row_stride >= c.width;  // nobody may write there
    truth.add(static_cast<double>(expected.memory[i]), gap ? exactly : ring_cases::tolerance);
  }
  return truth;
}

}  // namespace

std::vector<Case> filter_cases() {
  std::vector<Case> cases;
  const auto add = [&](const filter_test::Case& c, bool by_host) {
    cases.push_back({.name = filter_test::name_of(c),
                     .truth = [=] { return filter_truth(c, by_host); },
                     .run = [=](Machine& m, const Way& way) { return filter(m, c, way); },
                     .cuts = c.options.dimensions < 3 && c.height > 3 ? 1 : 0,
                     .takes_long = by_host,
                     .has = by_host ? is_gpu : has_filter});
  };
  for (const filter_test::Case& c : filter_test::cases()) add(c, false);
  for (const filter_test::Case& c : large_masks()) add(c, true);
  return cases;
}

std::vector<Case> transpose_cases() {
  std::vector<Case> cases;
  for (const auto& [width, height] :
       {std::pair<std::int64_t, std::int64_t>{31, 33}, {1, 1}, {64, 32}, {257, 7}, {2, 130}}) {
    const TestStack in = filter_test::noisy_stack(width, height, 3);
    const auto truth = [=] {
      Truth turned;
      for (std::int64_t plane = 0; plane < 3; ++plane)
        for (std::int64_t x = 0; x < width; ++x)
          for (std::int64_t y = 0; y < height; ++y)
            turned.values.push_back(
                static_cast<double>(in.values[static_cast<std::size_t>((plane * height + y) * width + x)]));
      return turned;
    };
    const auto run = [=](Machine& m, const Way& way) {
      const Guarded<float> from(m, input_of(in.values, way));
      return on_device(m, std::vector<float>(in.values.size(), NAN),
                       {nullptr, height, width, height, 3, width * height}, [&](const Planes& out) {
                         m.kernels().transpose({from.data(), width, height, width, 3, width * height}, out, m.queue());
                       });
    };
    cases.push_back({.name = std::to_string(width) + " x " + std::to_string(height),
                     .truth = truth,
                     .run = run,
                     .has = [](const Machine& m) { return m.kernels().has(BandOperation::transpose); }});
  }
  return cases;
}

std::vector<Case> ring_cases(RingMethod method) {
  std::vector<Case> cases;
  const auto add = [&](ring_cases::Case c, bool by_host) {
    c.name += " " + std::to_string(c.width) + " x " + std::to_string(c.height);
    cases.push_back({.name = c.name,
                     .truth = [=] { return ring_truth(c, by_host); },
                     .run = [=](Machine& m, const Way& way) { return remove_rings(m, c, way); },
                     .cuts = c.count > 1 ? 1 : 0,
                     .takes_long = c.height > 3000,
                     .cuts_in_short = [=](const Machine& m) { return by_host && m.kind() == "opencl" ? 0 : 1; },
                     .has = by_host ? is_another_device : has_rings});
  };
  for (const ring_cases::Case& c : ring_cases::cases())
    if (c.options.method == method) add(c, false);
  const RingOptions options = ring_cases::options_for(method, 70);
  // More views than shared memory sorts; and so many that several columns do not fit it together.
  if (method == RingMethod::sorting || method == RingMethod::combined)
    for (const std::int64_t views : {3000, 16384, 20000}) add({name_of(method), options, 70, views, 2}, true);
  // Stripes that are wider than half of the window, or pull their neighbours along: long runs are judged again.
  if (method == RingMethod::combined)
    for (const std::int64_t size : {15, 23, 61})
      for (const bool quiet : {false, true}) {
        ring_cases::Case c{"combined, window " + std::to_string(size), options, 400, 100, 1, quiet};
        c.options.large_size = size;
        c.options.relative = size == 15;
        add(c, false);
      }
  if (method == RingMethod::wavelet_fourier)
    add({name_of(method), ring_cases::options_for(method, 700), 700, 200, 2}, false);
  // Rows that are cut into pieces or do not fit shared memory, and windows that do not.
  for (const auto& [width, size] : {std::pair<std::int64_t, std::int64_t>{5000, 61}, {5000, 1001}, {3000, 2201}}) {
    if (method == RingMethod::wavelet_fourier) break;
    ring_cases::Case wide{name_of(method) + ", window " + std::to_string(size), options, width, 5, 1};
    wide.options.filter = FilterKind::median;
    wide.options.radius = size / 2;
    wide.options.small_size = wide.options.large_size = size;
    add(wide, true);
  }
  if (timing()) {
    RingOptions usual;
    usual.method = method;
    add({name_of(method) + ", 4 of", usual, 1400, 360, 4}, true);
    cases.back().truth = {};
    cases.back().has = has_rings;
  }
  return cases;
}

}  // namespace lepus::parity
