// SPDX-License-Identifier: Apache-2.0
// lepus view: a volume, a scan or a running reconstruction in the browser.
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "app/commands.h"
#include <lepus/view.h>

namespace lepus::app {
namespace {

namespace fs = std::filesystem;

struct ViewArguments {
  std::string first, second, labels, blobs, status, listen;
  std::optional<std::int64_t> port;
  std::optional<double> water;
  bool once = false, no_browser = false, no_pyramid = false;
};

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

ViewOptions options_of(const ViewArguments& a, const Session& session) {
  ViewOptions options;
  options.call = session.call();
  options.write_pyramid = !a.no_pyramid;
  options.water_per_mm = a.water;
  options.listen = a.listen;
  options.port = a.port;
  options.labels = a.labels;
  options.blobs = a.blobs;
  options.status = a.status;
  if (fs::path(a.first).extension() == ".toml")
    options.scan = a.first;
  else
    options.volumes.emplace_back(a.first);
  if (!a.second.empty()) options.volumes.emplace_back(a.second);
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
  ViewServer server(options_of(a, session));
  session.wait_in_silence();
  say_address(a, server.address(), server.title(), session);
  server.serve(a.once);
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
