// SPDX-License-Identifier: Apache-2.0
// How much all requests together may hold: one that does not fit waits, and is refused (503) after a while. So any
// number of clients takes no more memory than this.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

namespace lepus::view {

class Admission {
public:
  explicit Admission(std::int64_t bytes, std::chrono::milliseconds patience = std::chrono::seconds(20))
      : limit_(bytes), patience_(patience) {}

  // Held as long as what it returns. Throws Refusal: 413 where it could never fit, 503 where others do not go.
  [[nodiscard]] std::shared_ptr<void> take(std::int64_t bytes);
  bool busy() const;  // somebody holds something

private:
  const std::int64_t limit_;
  const std::chrono::milliseconds patience_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t taken_ = 0;
};

}  // namespace lepus::view
