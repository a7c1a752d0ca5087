// SPDX-License-Identifier: Apache-2.0
#include "analysis/phase.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "analysis/components.h"
#include "analysis/local_threshold.h"
#include "analysis/morphology.h"
#include "analysis/value_slices.h"
#include "core/format.h"
#include "core/text.h"
#include <lepus/error.h>

namespace lepus::analysis {
namespace {

[[noreturn]] void throw_threshold(const std::string& text, const std::string& why) {
  throw Error(ErrorKind::usage,
              {.what = format("'{}' is no threshold", shown(text)),
               .where = "option --threshold",
               .why = why,
               .hint = "write otsu, multi-otsu:3, a number, local:RADIUS,OFFSET or hysteresis:LOW,HIGH"});
}

std::vector<double> numbers_in(const std::string& text, const std::string& whole) {
  std::vector<double> numbers;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, comma - at);
    char* end = nullptr;
    const double number = std::strtod(part.c_str(), &end);
    if (part.empty() || *end != '\0' || !std::isfinite(number))
      throw_threshold(whole, format("'{}' is no number", shown(part)));
    numbers.push_back(number);
    at = comma + 1;
  }
  return numbers;
}

// Voxels with low < v <= high.
struct ValueRange {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};

void select_range(const VolumeReader& volume, const ValueRange& range, BitVolume& bits, WorkMemory& memory,
                  Context& context) {
  WorkerSlices words(bits, context.threads.size());
  const VolumeGrid& grid = volume.grid();
  // Between a double and the floats around it nothing lies: the comparison is the same in floats.
  const auto below = [](double t) {
    const auto f = static_cast<float>(t);
    return static_cast<double>(f) > t ? std::nextafter(f, -std::numeric_limits<float>::infinity()) : f;
  };
  const float low = below(range.low), high = below(range.high), largest = std::numeric_limits<float>::max();
  each_value_slice(volume, "threshold", memory, context, [&](std::int64_t z, const float* values, int worker) {
    Word* const out = words[worker];
    for (std::int64_t y = 0; y < grid.ny; ++y) {
      const float* const row = values + y * grid.nx;
      for (std::int64_t w = 0; w < bits.row_words(); ++w) {
        Word word = 0;
        const std::int64_t n = std::min(word_bits, grid.nx - w * word_bits);
        for (std::int64_t i = 0; i < n; ++i) {
          const float v = row[w * word_bits + i];
          word |= Word{v > low && v <= high && std::abs(v) <= largest} << i;  // NaN fails, and so do infinities
        }
        out[y * bits.row_words() + w] = word;
      }
    }
    bits.write(z, out);
  });
}

// Dark or bright, and no classes between.
bool is_two_sided(const ThresholdOptions& threshold) {
  return threshold.kind == ThresholdKind::local || threshold.kind == ThresholdKind::hysteresis;
}

ValueRange range_of(const PhaseChoice& choice, const std::vector<double>& thresholds) {
  const auto classes = static_cast<std::int64_t>(thresholds.size()) + 1;
  const std::int64_t number = choice.number >= 0 ? choice.number : choice.bright ? classes - 1 : 0;
  if (number >= classes)
    throw Error(ErrorKind::usage,
                {.what = format("there is no class {}", number),
                 .where = "option --phase",
                 .why = format("the threshold makes {} classes, counted from 0, the darkest", classes),
                 .hint = "use dark, bright or a number below that"});
  ValueRange range;
  if (number > 0) range.low = thresholds[static_cast<std::size_t>(number) - 1];
  if (number + 1 < classes) range.high = thresholds[static_cast<std::size_t>(number)];
  return range;
}

// Weak voxels whose component (6 neighbours, as in scikit-image) has a strong one.
void select_hysteresis(const VolumeReader& volume, const std::vector<double>& values, bool bright, BitVolume& phase,
                       WorkMemory& memory, Context& context) {
  ValueRange weak, strong;
  if (bright) {
    weak.low = values[0];
    strong.low = values[1];
  } else {
    weak.high = values[1];
    strong.high = values[0];
  }
  BitVolume sure(memory, phase.size());
  select_range(volume, strong, sure, memory, context);
  select_range(volume, weak, phase, memory, context);
  Components components(phase, Connectivity::faces, memory, context);
  WorkerSlices buffers(sure, components.pieces());
  components.drop(components_touching(
      components,
      [&](std::int64_t z, Word* words, int piece) {
        std::copy_n(sure.slice(z, buffers[piece]), sure.slice_words(), words);
      },
      context));
  keep_components(components, phase, context);
}

}  // namespace

ThresholdOptions parse_threshold(const std::string& text) {
  ThresholdOptions result;
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const std::vector<double> numbers =
      colon == std::string::npos ? std::vector<double>{} : numbers_in(text.substr(colon + 1), text);
  if (name == "otsu" && numbers.empty()) return result;
  if (name == "multi-otsu") {
    result.kind = ThresholdKind::multi_otsu;
    if (numbers.size() > 1) throw_threshold(text, "multi-otsu takes the number of classes");
    if (!numbers.empty()) result.classes = static_cast<int>(std::clamp(numbers[0], 0.0, 1000.0));
    if (result.classes < 2 || result.classes > 8) throw_threshold(text, "there may be 2 to 8 classes");
    return result;
  }
  if (name == "local") {
    result.kind = ThresholdKind::local;
    if (numbers.size() > 2) throw_threshold(text, "local takes a radius and an offset");
    if (!numbers.empty()) result.radius = static_cast<std::int64_t>(std::clamp(numbers[0], -1.0, 1e6));
    if (numbers.size() > 1) result.offset = numbers[1];
    if (result.radius < 1 || result.radius > 200) throw_threshold(text, "the radius may be 1 to 200 voxels");
    return result;
  }
  if (name == "hysteresis") {
    result.kind = ThresholdKind::hysteresis;
    result.values = numbers;
    if (numbers.size() != 2 || !(numbers[0] <= numbers[1])) throw_threshold(text, "hysteresis takes LOW,HIGH");
    return result;
  }
  if (colon != std::string::npos || name.empty() || (std::isalpha(static_cast<unsigned char>(name[0])) != 0)) {
    const std::string near = nearest_name(name, {"otsu", "multi-otsu", "local", "hysteresis"});
    throw_threshold(text, near.empty() ? "no such kind" : format("did you mean '{}'?", near));
  }
  result.kind = ThresholdKind::fixed;
  result.values = numbers_in(text, text);
  if (!std::is_sorted(result.values.begin(), result.values.end(), std::less_equal<>()))
    throw_threshold(text, "several thresholds must grow");
  return result;
}

PhaseChoice parse_phase(const std::string& text) {
  if (text == "dark") return {};
  if (text == "bright") return {.bright = true, .number = -1};
  if (!text.empty() && text.size() <= 2 && text.find_first_not_of("0123456789") == std::string::npos)
    return {.bright = false, .number = std::atoi(text.c_str())};
  throw Error(ErrorKind::usage, {.what = format("there is no phase '{}'", shown(text)),
                                 .where = "option --phase",
                                 .why = {},
                                 .hint = "use dark, bright or the number of a class, counted from 0, the darkest"});
}

bool is_darkest(const PhaseChoice& choice) { return !choice.bright && choice.number <= 0; }

PhaseResult find_phase(const VolumeReader& volume, const ThresholdOptions& threshold, const PhaseChoice& choice,
                       const Histogram& histogram, const Survey& looked, BitVolume& phase, WorkMemory& memory,
                       Context& context) {
  PhaseResult result;
  const bool two_sided = is_two_sided(threshold);
  if (two_sided && choice.number > 1) range_of(choice, {0});  // refuses it
  const bool bright = choice.bright || (two_sided && choice.number == 1);
  switch (threshold.kind) {
    case ThresholdKind::fixed:
      result.thresholds = threshold.values;
      break;
    case ThresholdKind::otsu:
      result.thresholds = {otsu_threshold(histogram)};
      break;
    case ThresholdKind::multi_otsu:
      result.thresholds = multi_otsu_thresholds(histogram, threshold.classes);
      break;
    case ThresholdKind::hysteresis:
      result.thresholds = threshold.values;
      select_hysteresis(volume, threshold.values, bright, phase, memory, context);
      break;
    case ThresholdKind::local:
      select_local(volume, threshold.radius, threshold.offset, bright, looked, phase, memory, context);
      break;
  }
  if (!two_sided) select_range(volume, range_of(choice, result.thresholds), phase, memory, context);
  result.voxels = phase.count(context);
  return result;
}

void find_air(const VolumeReader& volume, const ThresholdOptions& threshold, const PhaseChoice& choice,
              const PhaseResult& found, const BitVolume& phase, BitVolume& air, WorkMemory& memory, Context& context) {
  // The material first: what is finite and not of class 0.
  WorkerSlices words(phase, context.threads.size());
  if (is_darkest(choice)) {
    select_range(volume, {}, air, memory, context);
    air.each_slice(context, [&](std::int64_t z, Word* bits, int worker) {
      const Word* const dark = phase.slice(z, words[worker]);
      for (std::int64_t i = 0; i < air.slice_words(); ++i) bits[i] &= ~dark[i];
      return true;
    });
  } else if (is_two_sided(threshold) || found.thresholds.size() == 1) {
    context.threads.parallel_for(0, phase.size().nz, 1, [&](std::int64_t z, std::int64_t, int worker) {
      air.write(z, phase.slice(z, words[worker]));
    });
  } else {
    ValueRange material;
    material.low = found.thresholds.front();
    select_range(volume, material, air, memory, context);
  }
  complement(air, context);
}

}  // namespace lepus::analysis
