// SPDX-License-Identifier: Apache-2.0
// The program lepus: its commands are in commands.cpp, one file each.
#include <cstdlib>

#include "app/program.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace {

// Freed buffers go back to the system at once, and threads share one heap: what a limit on memory counts is then what
// is in use, not what the allocator keeps (glibc keeps up to 32 MiB, and a heap per thread).
void keep_no_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  mallopt(M_ARENA_MAX, 1);
#endif
}

}  // namespace

int main(int count, char** words) {
  keep_no_freed_memory();
  return lepus::app::run_program({words + (count > 0 ? 1 : 0), words + count});
}
