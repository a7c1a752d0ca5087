// SPDX-License-Identifier: Apache-2.0
// A scan file that is looked at and tuned: frames and sinograms before and after its corrections, one slice
// reconstructed with a changed text, the axis found, the text saved. One thing at a time: each takes all threads.
#pragma once

#include <filesystem>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/context.h"
#include "view/admission.h"
#include "view/request.h"

namespace lepus::view {

class ScanView {
public:
  // Throws as read_scan does. The context is used by one request at a time.
  ScanView(std::filesystem::path file, Context& context, std::int64_t memory_bytes);
  ~ScanView();

  nlohmann::json json() const;
  // `what`: "frame", "sinogram", "slice", "axis", "save".
  Answer answer(const std::string& what, const Request& request, Admission& admission);
  bool look();  // true where the file changed

private:
  struct Prepared;
  std::shared_ptr<Prepared> prepared(const std::string& toml, bool corrected);
  Answer frame(const Request& request, const std::string& toml, Admission& admission);
  Answer sinogram(const Request& request, const std::string& toml, Admission& admission);
  Answer slice(const nlohmann::json& body, Admission& admission);
  Answer axis(const nlohmann::json& body);
  Answer save(const nlohmann::json& body);

  const std::filesystem::path file_;
  Context& context_;
  const std::int64_t memory_bytes_;
  mutable std::mutex text_mutex_;
  std::string text_;  // of the file, as it was last seen
  std::mutex work_;   // one at a time
  std::list<std::shared_ptr<Prepared>> recent_;
};

}  // namespace lepus::view
