// SPDX-License-Identifier: Apache-2.0
// Passes everything on to another; for those that want to see one kind of message first.
#pragma once

#include "core/context.h"

namespace lepus {

class ForwardedProgress : public Progress {
public:
  explicit ForwardedProgress(Progress& to) : to_(to) {}
  void begin(std::string_view stage, std::int64_t steps) override { to_.begin(stage, steps); }
  void advance(std::int64_t steps) override { to_.advance(steps); }
  void end() override { to_.end(); }
  void note(const std::string& message) override { to_.note(message); }
  void warning(const std::string& message) override { to_.warning(message); }

private:
  Progress& to_;
};

}  // namespace lepus
