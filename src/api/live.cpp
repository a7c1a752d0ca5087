// SPDX-License-Identifier: Apache-2.0
#include "live/live.h"

#include <cmath>

#include "api/compute_of_call.h"
#include "api/refuse_option.h"
#include "core/format.h"
#include <lepus/error.h>

namespace lepus {
namespace {

namespace fs = std::filesystem;

void check_live_seconds(const char* option, double seconds, double minimum) {
  if (seconds >= minimum && std::isfinite(seconds)) return;
  throw Error(ErrorKind::usage, {.what = format("{:g} seconds are not possible", seconds),
                                 .where = format("option {}", option),
                                 .why = {},
                                 .hint = format("give {:g} or more", minimum)});
}

void check_live_ending(const char* option, const fs::path& file, const char* ending) {
  if (file.empty() || file.extension() == ending) return;
  throw Error(ErrorKind::usage, {.what = format("'{}' does not end in {}", file.string(), ending),
                                 .where = format("option {}", option),
                                 .why = "the file is replaced again and again",
                                 .hint = format("name it {}{}", file.stem().string(), ending)});
}

void check_live_options(const LiveOptions& options) {
  check_live_seconds("--every", options.every_s, 0);
  check_live_seconds("--timeout", options.timeout_s, 0.1);
  check_live_seconds("--settle", options.settle_s, 0);
  check_live_ending("--preview", options.preview, ".png");
  check_live_ending("--status", options.status, ".json");
  if (options.views && *options.views < 1)
    throw Error(ErrorKind::usage, {.what = format("{} views are not possible", *options.views),
                                   .where = "option --views",
                                   .why = {},
                                   .hint = "give 1 or more"});
  constexpr std::int64_t maximum_views = 10'000'000;  // each is kept account of
  if (options.views && *options.views > maximum_views)
    refuse_option("--views", format("{} views are not possible", *options.views),
                  format("give at most {}", maximum_views));
  constexpr std::int64_t maximum_number = 1'000'000'000'000'000'000;  // what a number in a name can be
  if (options.first_number && (*options.first_number < 0 || *options.first_number > maximum_number))
    refuse_option("--first-number", format("no name has the number {}", *options.first_number),
                  "give the number in its name");
}

}  // namespace

LiveReport reconstruct_live(const fs::path& scan_file, const fs::path& volume_file, const LiveOptions& asked) {
  require_name(volume_file, "volume");
  check_live_options(asked);
  CallContext working(asked.call);
  LiveOptions options = asked;
  options.compute = compute_of_call(asked.compute, asked.call, working);
  return reconstruct_live(scan_file, volume_file, options, working.context());
}

}  // namespace lepus
