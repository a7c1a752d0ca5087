// SPDX-License-Identifier: Apache-2.0
#include <lepus/view.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "api/refuse_option.h"
#include "core/call_context.h"
#include "core/check_numbers.h"
#include "core/format.h"
#include "view/server.h"

namespace lepus {
namespace {

void check_what_is_viewed(const ViewOptions& options) {
  for (const std::filesystem::path& volume : options.volumes) require_name(volume, "volume");
  if (options.water_per_mm) check_finite(*options.water_per_mm, "option --water");
  const bool overlays = !options.labels.empty() || !options.blobs.empty();
  if (options.water_per_mm && !(*options.water_per_mm > 0))
    refuse_option("--water", "water attenuates: give a number above zero", "0.02 per mm");
  if (!options.scan.empty()) {
    if (!options.volumes.empty() || overlays)
      throw Error(ErrorKind::usage, {.what = "a scan is looked at alone",
                                     .where = options.scan.string(),
                                     .why = "a second volume, labels and blobs belong to a volume",
                                     .hint = "start lepus view twice"});
    if (options.water_per_mm) refuse_option("--water", "a scan has no HU", "leave it out, or look at the volume");
    if (!options.status.empty())
      refuse_option("--status", "a scan file is no live run's output", "leave one of them out");
    return;
  }
  if (!options.status.empty() && (options.volumes.size() > 1 || overlays))
    refuse_option("--status", "a live run is looked at alone", "leave out the second volume, labels and blobs");
  if (options.volumes.empty() || options.volumes.size() > 2)
    throw Error(ErrorKind::usage, {.what = "one or two volumes can be looked at",
                                   .where = {},
                                   .why = format("there are {}", options.volumes.size()),
                                   .hint = "give a volume, two to be compared, or a scan file"});
}

view::ServerOptions server_options_of(const ViewOptions& options) {
  view::ServerOptions listening;
  if (options.port && (*options.port < 1 || *options.port > 65535))
    refuse_option("--port", format("there is no port {}", *options.port), "give a number from 1 to 65535");
  listening.port = static_cast<int>(options.port.value_or(0));
  if (!options.listen.empty()) {
    listening.address = options.listen;
    listening.open_to_others = true;
  }
  return listening;
}

Call viewed_in_silence(Call call) {
  call.progress = nullptr;
  return call;
}

const ViewOptions& checked_view_options(const ViewOptions& options) {
  server_options_of(options);
  check_what_is_viewed(options);
  return options;
}

constexpr std::int64_t view_memory_bytes = std::int64_t{1} << 30;  // more than this gains nothing

}  // namespace

struct ViewServer::State {
  explicit State(const ViewOptions& options)
      : working(viewed_in_silence(checked_view_options(options).call)),
        viewer(options, std::min(working.memory_bytes(), view_memory_bytes), working.context()),
        server(viewer, server_options_of(options)) {}

  CallContext working;
  view::Viewer viewer;
  view::Server server;
};

ViewServer::ViewServer(const ViewOptions& options) : state_(std::make_unique<State>(options)) {
  state_->server.start();
}

ViewServer::~ViewServer() = default;

std::string ViewServer::address() const { return state_->server.address(); }
std::string ViewServer::title() const { return state_->viewer.title(); }

void ViewServer::serve(bool once) {
  const CancelFlag& cancel = state_->working.context().cancel;
  constexpr auto grace = std::chrono::seconds(3);  // a page that is loaded again is away for a moment
  for (int tick = 0; !cancel.cancelled(); ++tick) {
    if (tick % 5 == 0) state_->viewer.look();
    if (once && state_->viewer.events().deserted(grace)) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  state_->server.stop();
}

}  // namespace lepus
