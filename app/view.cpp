// SPDX-License-Identifier: Apache-2.0
// lepus view: a volume, a scan or a running reconstruction in the browser.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <thread>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "core/format.h"
#include "view/server.h"

namespace lepus::app {
namespace {

namespace fs = std::filesystem;

struct ViewArguments {
  std::string first, second, labels, blobs, status, listen;
  std::optional<std::int64_t> port;
  std::optional<double> water;
  bool once = false, no_browser = false, no_pyramid = false;
};

[[noreturn]] void refuse_option(const std::string& option, const std::string& what, const std::string& hint) {
  throw Error(ErrorKind::usage, {.what = what, .where = "option " + option, .why = {}, .hint = hint});
}

// Opens the address in the user's browser: $BROWSER, or what the desktop says. False where there is none.
bool open_browser(const std::string& address) {
  const char* chosen = std::getenv("BROWSER");
  const bool desktop = std::getenv("DISPLAY") || std::getenv("WAYLAND_DISPLAY");
  if ((!chosen || !*chosen) && !desktop) return false;
  std::string program = chosen && *chosen ? chosen : "xdg-open", word = address;
  char* words[] = {program.data(), word.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0);
  pid_t started = 0;
  const int failed = ::posix_spawnp(&started, program.c_str(), &actions, nullptr, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  return failed == 0;
}

view::ViewOptions options_of(const ViewArguments& a, const Session& session) {
  view::ViewOptions options;
  options.write_pyramid = !a.no_pyramid;
  options.water_per_mm = a.water;
  options.memory_bytes = std::min(session.memory_bytes(), std::int64_t{1} << 30);
  if (a.water && !(*a.water > 0)) refuse_option("--water", "water attenuates: give a number above zero", "0.02 per mm");
  if (fs::path(a.first).extension() == ".toml") {
    if (!a.second.empty() || !a.labels.empty() || !a.blobs.empty())
      throw Error(ErrorKind::usage, {.what = "a scan is looked at alone",
                                     .where = a.first,
                                     .why = "a second volume, labels and blobs belong to a volume",
                                     .hint = "start lepus view twice"});
    if (a.water) refuse_option("--water", "a scan has no HU", "leave it out, or look at the volume");
    options.scan = a.first;
    return options;
  }
  options.volumes.emplace_back(a.first);
  options.status = a.status;
  if (!a.status.empty() && (!a.second.empty() || !a.labels.empty() || !a.blobs.empty()))
    refuse_option("--status", "a live run is looked at alone", "leave out the second volume, labels and blobs");
  if (!a.second.empty()) options.volumes.emplace_back(a.second);
  options.labels = a.labels;
  options.blobs = a.blobs;
  return options;
}

view::ServerOptions server_options(const ViewArguments& a) {
  view::ServerOptions options;
  if (a.port && (*a.port < 1 || *a.port > 65535))
    refuse_option("--port", format("there is no port {}", *a.port), "give a number from 1 to 65535");
  options.port = static_cast<int>(a.port.value_or(0));
  if (!a.listen.empty()) {
    options.address = a.listen;
    options.open_to_others = true;
  }
  return options;
}

void say_address(const ViewArguments& a, const std::string& address, const std::string& title, Session& session) {
  session.print(address);
  session.result({{"address", address}, {"shows", title}});
  std::fflush(stdout);
  if (!a.listen.empty()) session.note("whoever has this address can see it: the token in it is the key");
  if (!a.no_browser && !open_browser(address)) session.note("no browser was found here: open the address above in one");
  session.note(a.once ? "ends when the page is closed, or with Ctrl-C" : "ends with Ctrl-C");
}

int run_view(const ViewArguments& a, Session& session) {
  const view::ServerOptions listening = server_options(a);
  Progress silent;  // what requests do is told to whoever asks
  Context context{session.context().threads, session.context().cancel, silent};
  view::Viewer viewer(options_of(a, session), context);
  view::Server server(viewer, listening);
  server.start();
  session.wait_in_silence();
  say_address(a, server.address(), viewer.title(), session);
  const CancelFlag& cancel = session.context().cancel;
  constexpr auto grace = std::chrono::seconds(3);  // a page that is loaded again is away for a moment
  for (int tick = 0; !cancel.cancelled(); ++tick) {
    if (tick % 5 == 0) viewer.look();
    if (a.once && viewer.events().deserted(grace)) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  server.stop();
  return exit_ok;
}

}  // namespace

std::unique_ptr<Command> view_command() {
  auto arguments = std::make_shared<ViewArguments>();
  auto command = std::make_unique<Command>();
  command->name = "view";
  command->summary = "a volume, a scan or a running reconstruction in the browser";
  command->description =
      "Serves a page on this machine alone, prints its address and opens it in the browser: slices, 3-D, measures of "
      "a\n"
      "volume of any size; two volumes side by side; the frames, sinograms and corrections of a scan file; the output "
      "of\n"
      "a lepus reconstruct that still runs.\n\n"
      "Coarser levels are written in the background beside a large volume, as volume.mha.zarr (OME-Zarr), and used "
      "again.";
  command->examples = {{"lepus view demo/volume.mha", "Look at a volume"},
                       {"lepus view demo/volume.mha demo/truth.mha", "Two volumes, side by side or as difference"},
                       {"lepus view demo/scan.toml", "Frames, sinograms and corrections of a scan"},
                       {"lepus view demo/volume.mha --listen 0.0.0.0 --no-browser",
                        "For another machine, which needs the token that is printed"}};
  OptionTable& table = command->options;
  ViewArguments& a = *arguments;
  table.positional("VOLUME", a.first, "a volume, a scan file, or the output of a run").must().file();
  table.positional("VOLUME2", a.second, "a volume to compare it with").file();
  table.group("Overlays");
  table.value("--labels", "VOLUME", a.labels, "the labels that lepus analyze made of the volume").file();
  table.value("--blobs", "CSV", a.blobs, "its table of blobs").file();
  table.value("--water", "VALUE", a.water, "attenuation of water in 1/mm, to show values in HU, too").otherwise("none");
  table.value("--status", "JSON", a.status, "the --status file of the lepus live that makes the volume").file();
  table.group("Server");
  table.value("--port", "N", a.port, "the port to listen on").otherwise("the first free one from 8790 on");
  table.value("--listen", "ADDRESS", a.listen, "let others on the network in, with a token that is printed")
      .otherwise("this machine alone");
  table.flag("--once", a.once, "end when the page is closed");
  table.flag("--no-browser", a.no_browser, "open no browser");
  table.flag("--no-pyramid", a.no_pyramid, "write no coarser levels beside the volume");
  command->run = [arguments](Session& session) { return run_view(*arguments, session); };
  return command;
}

}  // namespace lepus::app
