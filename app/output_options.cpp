// SPDX-License-Identifier: Apache-2.0
#include "app/output_options.h"

#include <charconv>
#include <cmath>

#include "core/format.h"
#include <lepus/error.h>
#include <lepus/text.h>

namespace lepus::app {
namespace {

[[noreturn]] void refuse_range(const std::string& what, const std::string& hint) {
  throw Error(ErrorKind::usage, {.what = what, .where = "option --output-range", .why = {}, .hint = hint});
}

// "-0.01:0.12"
void read_range(const std::string& text, OutputValues& values) {
  const char* const end = text.data() + text.size();
  const auto [colon, first] = std::from_chars(text.data(), end, values.low);
  if (first == std::errc{} && colon != end && *colon == ':') {
    const auto [after, second] = std::from_chars(colon + 1, end, values.high);
    if (second == std::errc{} && after == end && std::isfinite(values.low) && std::isfinite(values.high) &&
        values.low < values.high)
      return;
  }
  refuse_range(format("'{}' is no range of values", shown(text)),
               "give the smallest value, a colon and the largest, for example 0:0.1");
}

}  // namespace

void OutputOptions::describe(OptionTable& table) {
  table
      .value("--output-type", "TYPE", type,
             "of the voxels in the file; 16 bits halve it: float16 in .tif .h5 .npy .npz .raw .zarr, uint16 with "
             "--output-range")
      .one_of({"float32", "float16", "uint16"});
  table.value("--output-range", "LOW:HIGH", range,
              "the values that uint16 holds, in 65535 steps; the header has the scale, and what is beyond is cut off");
}

OutputValues OutputOptions::values() const {
  OutputValues values;
  if (type == "float16") values.type = VoxelType::float16;
  if (type != "uint16") {
    if (!range.empty()) refuse_range(format("{} needs no range", type), "leave it out, or add --output-type uint16");
    return values;
  }
  values.type = VoxelType::uint16;
  if (range.empty())
    refuse_range("uint16 needs the range of the values before there are any",
                 "give the smallest and the largest that you expect, for example --output-range 0:0.1");
  read_range(range, values);
  return values;
}

}  // namespace lepus::app
