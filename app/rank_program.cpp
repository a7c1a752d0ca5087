// SPDX-License-Identifier: Apache-2.0
#include "app/rank_program.h"

#include <chrono>
#include <cstdlib>
#include <thread>

#include "app/errors.h"

namespace lepus::app {
namespace {

constexpr std::chrono::seconds time_to_end(8);

}  // namespace

void fail_together(Ranks& ranks, const Error& error, bool json) {
  if (ranks.fetch_add(failed_ranks, 1) == 0) {
    ErrorParts parts = error.parts();
    parts.where = ranks.name() + (parts.where.empty() ? "" : ": " + parts.where);
    ranks.abort(finish_output(report(Error(error.kind(), parts), json)));
  }
  std::this_thread::sleep_for(time_to_end);
  std::_Exit(exit_code(error.kind()));
}

}  // namespace lepus::app
