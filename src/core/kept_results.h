// SPDX-License-Identifier: Apache-2.0
// Results of a run that the next start of the same command takes instead of making them again, by their names; they
// are bytes, which their makers understand.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace lepus {

// Any thread may ask and keep.
class KeptResults {
public:
  virtual ~KeptResults() = default;
  // As it was kept; none where it was not, or is not as it was written.
  virtual std::optional<std::string> find(const std::string& name) = 0;
  virtual void keep(const std::string& name, const std::string& bytes, double seconds) = 0;  // that it took to make
};

// What was kept under this name, or what `make` returns, which is then kept. kept null: it is made.
// to_bytes(result) and from_bytes(bytes) are each other's inverse, to the bit.
template <class Make, class ToBytes, class FromBytes>
auto kept_or_made(KeptResults* kept, const std::string& name, const Make& make, const ToBytes& to_bytes,
                  const FromBytes& from_bytes) -> decltype(make()) {
  if (!kept) return make();
  if (const auto bytes = kept->find(name)) return from_bytes(*bytes);
  const auto start = std::chrono::steady_clock::now();
  auto result = make();
  kept->keep(name, to_bytes(result), std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return result;
}

}  // namespace lepus
