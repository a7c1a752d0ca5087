// SPDX-License-Identifier: Apache-2.0
// What happens to one detector row before the backprojection: 16-bit counts in either byte order -> floats -> line
// integrals -> ramp filter. One thread.
#include <cmath>
#include <cstring>

#include "checked.h"
#include "core/memory.h"
#include "filter/ramp.h"
#include "io/pixels.h"
#include "preprocess/normalise.h"

namespace lepus::micro {
namespace {

std::vector<std::uint16_t> counts_of_a_row(std::int64_t columns) {
  std::vector<std::uint16_t> counts;
  counts.reserve(static_cast<std::size_t>(columns));
  for (std::int64_t i = 0; i < columns; ++i)
    counts.push_back(static_cast<std::uint16_t>(2000 + (static_cast<std::uint64_t>(i) * 2654435761u >> 7) % 52000));
  return counts;
}

void decode_16_bit(benchmark::State& state) {
  const std::int64_t columns = state.range(0);
  const std::vector<std::uint16_t> counts = counts_of_a_row(columns);
  std::vector<float> out(counts.size());
  convert_to_float(PixelType::u16, counts.data(), columns, out.data());
  if (!is_right(state, largest_difference(out.data(), counts.data(), out.size()), 0)) return;
  for (auto _ : state) {
    convert_to_float(PixelType::u16, counts.data(), columns, out.data());
    benchmark::ClobberMemory();
  }
  count_rate(state, "pixels", columns);
}
BENCHMARK(decode_16_bit)->Arg(1248);

void swap_16_bit(benchmark::State& state) {
  const std::int64_t columns = state.range(0);
  const std::vector<std::uint16_t> counts = counts_of_a_row(columns);
  std::vector<std::uint16_t> swapped = counts, expected;
  expected.reserve(counts.size());
  for (const std::uint16_t c : counts) expected.push_back(static_cast<std::uint16_t>(c << 8 | c >> 8));
  swap_bytes(swapped.data(), columns, 2);
  if (!is_right(state, largest_difference(swapped.data(), expected.data(), expected.size()), 0)) return;
  for (auto _ : state) {
    swap_bytes(swapped.data(), columns, 2);
    benchmark::ClobberMemory();
  }
  count_rate(state, "pixels", columns);
}
BENCHMARK(swap_16_bit)->Arg(1248);

void normalise_and_log(benchmark::State& state) {
  const std::int64_t columns = state.range(0);
  constexpr double open_beam = 60000;
  const Normalisation normalisation = normalisation_from_value(open_beam, nullptr, columns, 1, PixelType::u16);
  const std::vector<std::uint16_t> counts = counts_of_a_row(columns);
  const std::vector<float> row(counts.begin(), counts.end());
  std::vector<float> line = row;
  std::vector<double> expected;
  expected.reserve(row.size());
  for (const std::uint16_t c : counts) expected.push_back(std::log(open_beam / static_cast<double>(c)));
  normalisation.apply(0, 1, line.data());
  // Two logarithms of at most 11 in single precision, each with half a unit in its last place, and their difference.
  if (!is_right(state, largest_difference(line.data(), expected.data(), line.size()), 2e-6)) return;
  for (auto _ : state) {
    std::memcpy(line.data(), row.data(), row.size() * sizeof(float));  // it works in place
    normalisation.apply(0, 1, line.data());
    benchmark::ClobberMemory();
  }
  count_rate(state, "pixels", columns);
}
BENCHMARK(normalise_and_log)->Arg(1248);

void ramp_filter_of_a_row(benchmark::State& state) {
  const std::int64_t columns = state.range(0);
  const RampOptions options;
  const RampFilter filter(columns, options);
  Buffer<float> row(columns), scratch(filter.scratch_floats());
  std::vector<double> line;
  const std::vector<std::uint16_t> counts = counts_of_a_row(columns);
  line.reserve(counts.size());
  for (const std::uint16_t c : counts) line.push_back(static_cast<double>(static_cast<float>(c) / 60000.0f));
  const auto fill = [&] {
    for (std::int64_t i = 0; i < columns; ++i) row[i] = static_cast<float>(line[static_cast<std::size_t>(i)]);
  };
  fill();
  filter.apply(row.data(), scratch.data());
  const std::vector<double> expected = ramp_filter_reference(line, options);
  // Values of about 0.3 through two transforms in single precision: 2e-7 is their rounding, the largest of a row more.
  if (!is_right(state, largest_difference(row.data(), expected.data(), expected.size()), 1e-6)) return;
  for (auto _ : state) {
    fill();  // it works in place, and a row filtered again and again would run out of range
    filter.apply(row.data(), scratch.data());
    benchmark::ClobberMemory();
  }
  count_rate(state, "pixels", columns);
}
BENCHMARK(ramp_filter_of_a_row)->Arg(624)->Arg(1248)->Arg(2048);

}  // namespace
}  // namespace lepus::micro
