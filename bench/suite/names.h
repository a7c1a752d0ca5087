// SPDX-License-Identifier: Apache-2.0
// What `lepus bench` can be asked for by name.
#pragma once

namespace lepus::bench {

// Parts of the suite, in the order in which they run.
inline constexpr const char* part_names[] = {"machine", "backprojection", "filter", "projector", "corrections", "io",
                                             "fdk"};
// Problems of the literature (docs/papers.md).
inline constexpr const char* paper_names[] = {"rabbitct", "michigan", "paris", "projector", "iowa", "filters"};

}  // namespace lepus::bench
