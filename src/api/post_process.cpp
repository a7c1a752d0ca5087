// SPDX-License-Identifier: Apache-2.0
// A volume file through a chain of steps into another one.
#include <algorithm>

#include "api/refuse_option.h"
#include "api/unfinished_run.h"
#include "api/volume_in_axes.h"
#include "core/call_context.h"
#include "core/memory.h"
#include "device/check_compute.h"
#include "io/input_identity.h"
#include "post/post.h"
#include <lepus/post.h>

namespace lepus {

PostReport post_process(const PostOptions& options) {
  check_resume_or_restart(options.resume, options.restart);
  require_name(options.input, "volume");
  require_name(options.output, "output");
  check_compute(options.compute);
  refuse_to_replace_input(options.output, options.input);
  if (options.resume) require_unfinished_run(options.output);
  std::vector<PostSpec> chain;
  for (const std::string& step : options.steps) chain.push_back(parse_post_step(step));
  CallContext working(options.call);
  Context& context = working.context();
  const auto volume = open_in_our_axes(options.input, {}, {}, context.progress);
  PostSettings settings;
  settings.input = options.input.string();
  settings.backend = options.compute.backend;
  settings.devices = options.compute.devices;
  settings.device_memory_bytes = options.compute.device_memory_bytes;
  // The limit is for the whole program, which is there already.
  settings.memory_bytes = std::max<std::int64_t>(1, working.memory_bytes() - resident_bytes() - turning_bytes(*volume));
  settings.force = options.call.force;
  settings.stored = options.stored;
  settings.same_run = JournalHeader{"post", {volume_fact(options.input)}};
  settings.restart = options.restart;
  return post_process(*volume, options.output, chain, settings, context);
}

}  // namespace lepus
