// SPDX-License-Identifier: Apache-2.0
// A build without CUDA: whoever asks for a GPU is told so.
#include "live/view_sum.h"
#include "run/device_sweep.h"
#include <lepus/error.h>

namespace lepus {
namespace {

[[noreturn]] void refuse_gpu() {
  throw Error(ErrorKind::unsupported, {.what = "no CUDA device can be used",
                                       .where = "backend cuda",
                                       .why = why_no_device(),
                                       .hint = "use the backend cpu, or build lepus where nvcc 13 is installed"});
}

}  // namespace

DeviceSumBytes device_sum_bytes(const ViewSumSetup&) { refuse_gpu(); }
std::int64_t free_device_bytes(int) { refuse_gpu(); }
std::unique_ptr<ViewSum> make_device_sum(const ViewSumSetup&) { refuse_gpu(); }

}  // namespace lepus
