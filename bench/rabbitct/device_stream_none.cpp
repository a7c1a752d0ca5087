// SPDX-License-Identifier: Apache-2.0
// A build without CUDA: whoever asks for a GPU is told so.
#include "run/device_sweep.h"
#include "bench/rabbitct/host_memory.h"
#include "bench/rabbitct/view_stream.h"
#include <lepus/error.h>

namespace lepus::rabbitct {

namespace {

[[noreturn]] void refuse_device() {
  throw Error(ErrorKind::unsupported, {.what = "no CUDA device can be used",
                                       .where = "backend cuda",
                                       .why = why_no_device(),
                                       .hint = "use the backend cpu, or build lepus where nvcc 13 is installed"});
}

}  // namespace

std::unique_ptr<ViewStream> make_device_stream(const StreamSetup&) { refuse_device(); }
std::shared_ptr<float> page_locked(std::int64_t, int) { refuse_device(); }

}  // namespace lepus::rabbitct
