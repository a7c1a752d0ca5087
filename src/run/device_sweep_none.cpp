// SPDX-License-Identifier: Apache-2.0
// A build without CUDA: there is no device, and whoever asks for one is told so.
#include <lepus/error.h>

#include "run/band_engine.h"
#include "run/device_sweep.h"

namespace lepus {

struct DeviceSweep::State {};

std::string why_no_device() { return "this build of lepus has no CUDA"; }
bool this_build_has_cuda() { return false; }

namespace {

[[noreturn]] void no_cuda() {
  throw Error(ErrorKind::unsupported, {.what = "no CUDA device can be used",
                                       .where = "backend cuda",
                                       .why = why_no_device(),
                                       .hint = "use --backend cpu, or build lepus where nvcc 13 is installed"});
}

}  // namespace

DeviceSweep::DeviceSweep(const DeviceJob&, const DeviceChoice&) { no_cuda(); }
DeviceSweep::~DeviceSweep() = default;
const DevicePlan& DeviceSweep::plan() const {
  static const DevicePlan none;
  return none;
}
std::string DeviceSweep::description() const { return {}; }
std::string DeviceSweep::device() const { return {}; }
SweepTimes DeviceSweep::run(const Frames&, VolumeWriter&, Context&) { return {}; }

std::unique_ptr<BandEngine> device_engine(const std::string&, ThreadPool&, std::int64_t) { no_cuda(); }

}  // namespace lepus
