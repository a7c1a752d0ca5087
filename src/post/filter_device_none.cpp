// SPDX-License-Identifier: Apache-2.0
// Without CUDA there is no device, and none of the rest is ever called.
#include "post/filter_device.h"

#include <lepus/error.h>

namespace lepus::post {
namespace {

[[noreturn]] void refuse_device() {
  throw Error(ErrorKind::unsupported, {.what = "no GPU can be used",
                                       .where = {},
                                       .why = why_no_filter_device(),
                                       .hint = "leave out --backend cuda: the CPU computes the same"});
}

}  // namespace

struct FilterDevice::State {};

std::string why_no_filter_device() { return "this build of lepus has no CUDA"; }
FilterDevice::FilterDevice(int) { refuse_device(); }
FilterDevice::~FilterDevice() = default;
std::string FilterDevice::name() const { refuse_device(); }
std::int64_t FilterDevice::free_bytes() const { refuse_device(); }
void FilterDevice::filter(const Planes&, const Planes&, const FilterOptions&, const FilterCut&) { refuse_device(); }
void FilterDevice::filter_separately(const Planes&, const Planes&, const FilterOptions&) { refuse_device(); }

}  // namespace lepus::post
