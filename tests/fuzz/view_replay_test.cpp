// SPDX-License-Identifier: Apache-2.0
// The corpus of requests to the viewer, replayed: each must be answered or refused.
#include "replay.h"

namespace lepus {
namespace {

TEST(FuzzCorpus, view_request) { replay("view_request", fuzz::view_request); }

}  // namespace
}  // namespace lepus
