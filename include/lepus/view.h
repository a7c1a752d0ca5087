// SPDX-License-Identifier: Apache-2.0
// A volume, a scan or a running reconstruction as a page for a browser, served by this process (docs/viewer.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <lepus/call.h>
#include <lepus/export.h>

namespace lepus {

struct ViewOptions {
  Call call = {};  // of its memory at most 1 GiB is taken; `progress` is told nothing: what requests do, the page shows
  // Either one volume, or two to be compared; one that does not exist may be the output of a run that is making it.
  std::vector<std::filesystem::path> volumes = {};
  std::filesystem::path labels = {}, blobs = {};  // of the first: what analyze made of it; "": none
  std::filesystem::path status = {};              // of the `lepus live` whose output the volume will be; "": none
  std::optional<double> water_per_mm = {};        // what 0 HU is
  bool write_pyramid = true;                      // coarser levels beside a large volume
  // Or a scan file, alone.
  std::filesystem::path scan = {};

  std::string listen = {};  // on this address of the machine, for all who have the token; "": this machine alone
  std::optional<std::int64_t> port = {};  // none: the first free one from 8790 on
};

class LEPUS_API ViewServer {
public:
  // Opens the files, and answers from now on, in threads of its own. Throws Error(usage) where the options contradict
  // each other or the port is taken, Error(unsupported) where this build of lepus has no server. SIGPIPE is ignored by
  // the process from then on: a page that is closed must not end it.
  explicit ViewServer(const ViewOptions& options);
  ~ViewServer();  // stops
  ViewServer(const ViewServer&) = delete;
  ViewServer& operator=(const ViewServer&) = delete;

  std::string address() const;  // "http://127.0.0.1:8790/", with the token where one is needed
  std::string title() const;    // what is shown: names of files

  // Looks for changes of the files, and tells the pages, until the call's `cancel` is set, or, with `once`, until the
  // last page was closed. Then it stops: who still has a page open is told.
  void serve(bool once = false);

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lepus
