// SPDX-License-Identifier: Apache-2.0
// How fast the core really runs, where its counters are closed to us (containers, virtual machines).
#pragma once

namespace lepus::bench {

double seconds();            // a steady clock
double cpu_seconds();        // of all threads of this process: does not count while others have the core
double measured_clock_hz();  // from a chain of dependent additions, one cycle each; a few milliseconds

}  // namespace lepus::bench
