// SPDX-License-Identifier: Apache-2.0
// A build without CUDA: there is no device whose memory bands could be corrected in.
#include <lepus/error.h>

#include "run/band_engine.h"

namespace lepus {

std::unique_ptr<BandEngine> device_engine(const std::string&, ThreadPool&, std::int64_t) {
  throw Error(ErrorKind::unsupported, {.what = "no CUDA device can be used",
                                       .where = "backend cuda",
                                       .why = "this build of lepus has no CUDA",
                                       .hint = "use --backend cpu, or build lepus where nvcc 13 is installed"});
}

}  // namespace lepus
