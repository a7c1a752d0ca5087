// SPDX-License-Identifier: Apache-2.0
// Everything that the page can ask for, without the network: requests in, answers out, from any number of threads.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "core/context.h"
#include "view/admission.h"
#include "view/blob_table.h"
#include "view/events.h"
#include "view/part_cache.h"
#include "view/pyramid.h"
#include "view/request.h"
#include "view/run_view.h"
#include "view/scan_view.h"
#include "view/viewed_volume.h"
#include <lepus/view.h>

namespace lepus::view {

class Viewer {
public:
  // Of the options what is shown; threads, memory and what ends it are given beside them.
  Viewer(const ViewOptions& options, std::int64_t memory_bytes, Context& context);
  ~Viewer();

  // Never throws: what goes wrong is an answer, too.
  Answer answer(const Request& request);

  // To be called about twice a second: looks at the files, and tells what changed.
  void look();
  Events& events() { return events_; }
  std::string title() const;  // what is shown, for a message

private:
  Answer answer_or_throw(const Request& request);
  Answer session() const;
  nlohmann::json awaited_run() const;
  void open_awaited_output();
  ViewedVolume& volume(const std::string& number) const;
  void start_pyramid(std::size_t index);

  const CancelFlag& cancel_;
  ViewOptions options_;
  PartCache cache_;
  Admission admission_;
  Events events_;
  mutable std::shared_mutex volumes_mutex_;  // an output that is awaited comes late
  std::vector<std::unique_ptr<ViewedVolume>> volumes_;
  bool awaiting_ = false;  // an output that lepus live or an iterative method writes at its end
  std::string awaited_;    // what was last said of its run
  std::optional<BlobTable> blobs_;
  std::unique_ptr<ScanView> scan_;
  std::unique_ptr<RunView> run_;
  std::vector<std::unique_ptr<PyramidThread>> pyramids_;  // stopped before what they use goes
};

}  // namespace lepus::view
