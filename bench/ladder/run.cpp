// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/format.h"
#include "device/device.h"
#include "bench/ladder/figures.h"
#include "bench/ladder/gpu.h"
#include "bench/measure/gpu_part.h"
#include <lepus/error.h>

namespace lepus::ladder {
namespace {

[[noreturn]] void refuse(const std::string& option, std::string why, std::string hint) {
  throw Error(ErrorKind::usage, {.what = "the ladder cannot be run so",
                                 .where = "option " + option,
                                 .why = std::move(why),
                                 .hint = std::move(hint)});
}

void check_options(const LadderOptions& o) {
  for (const std::int64_t size : o.sizes)
    if (size < 2 || size > 2048) refuse("--size", format("it is {}", size), "give 2 to 2048");
  if (o.views != 0 && (o.views < 3 || o.views > 2048)) refuse("--views", format("it is {}", o.views), "give 3 to 2048");
  if (o.columns < 8 || o.rows < 2 || o.columns > 16384 || o.rows > 16384)
    refuse("--width, --height", format("{} x {} pixels", o.columns, o.rows), "give 8 x 2 to 16384 x 16384");
  if (o.repeats < 1) refuse("--repeats", format("it is {}", o.repeats), "give 1 or more");
  if (o.samples < 1) refuse("--samples", format("it is {}", o.samples), "give 1 or more");
}

}  // namespace

measure::Report run_ladder(const LadderOptions& options, Context& context) {
  check_options(options);
  // Steps are kernels of their own, written for the CPU and for CUDA.
  const std::string kind =
      open_devices(compute_on(options.backend, format("{}", options.device)), context.threads).front()->info().kind;
  if (kind != "cpu" && kind != "cuda")
    refuse("--backend", format("there are no steps for '{}'", kind), "give auto, cpu or cuda");
  const bool gpu = kind == "cuda";
  LadderOptions o = options;
  if (o.sizes.empty()) o.sizes = {gpu ? 512 : 256};
  if (o.views == 0) o.views = gpu ? 496 : 32;

  const Scene scene = make_scene(Orbit::c_arm, o.views, o.columns, o.rows, context.threads);
  measure::Report report;
  report.title = "lepus bench ladder";
  if (gpu)
    measure::gpu_part(gpu_ladder(), "cuda").run(o, scene, context, report);
  else
    run_cpu(o, scene, context, report);
  if (report.figures.empty())
    refuse("--only", format("no step has '{}' in its name", o.only), "docs/ladder.md names the steps");
  return report;
}

}  // namespace lepus::ladder
