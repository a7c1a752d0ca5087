// SPDX-License-Identifier: Apache-2.0
#include "device/band_kernels.h"

#include "core/format.h"
#include <lepus/error.h>

namespace lepus {
namespace {

[[noreturn]] void lacks_kernel(const char* operation) {
  throw Error(ErrorKind::internal, {.what = format("the device has no kernel for \"{}\"", operation),
                                    .where = {},
                                    .why = "BandKernels::has() says so, and was not asked",
                                    .hint = {}});
}

}  // namespace

void BandKernels::to_stage(PixelType, const void*, const SinogramBand&, const BandStaging&, Queue&) {
  lacks_kernel("stage");
}
void BandKernels::logarithm(const SinogramBand&, const BandStaging&, float, Queue&) { lacks_kernel("logarithm"); }
void BandKernels::hot_pixels(const pixels::HotRules&, int, const Planes&, std::int64_t*, Queue&) {
  lacks_kernel("hot pixels");
}
void BandKernels::zingers(const pixels::ZingerRules&, const Planes&, std::int64_t*, Queue&) { lacks_kernel("zingers"); }
void BandKernels::bridge(std::span<const pixels::PixelRun>, std::span<const pixels::RowLine>, const Planes&, Queue&) {
  lacks_kernel("bridge");
}
void BandKernels::remove_rings(const Planes&, const RingOptions&, Queue&) { lacks_kernel("rings"); }
void BandKernels::scale_views(const Planes&, const float*, Queue&) { lacks_kernel("scale"); }
void BandKernels::remove_lag(const Planes&, const LagModel&, LagStart, Queue&) { lacks_kernel("lag"); }
void BandKernels::linearise(const Planes&, const HardeningCurve&, Queue&) { lacks_kernel("hardening"); }
void BandKernels::interpolate_flats(const Planes&, std::int64_t, const FlatsOfViews&, Queue&) { lacks_kernel("flats"); }
std::unique_ptr<PhaseKernel> BandKernels::make_phase(const PhasePlan&, std::int64_t) { lacks_kernel("phase"); }
void BandKernels::filter(const Planes&, const Planes&, const FilterOptions&, const FilterCut&, Queue&) {
  lacks_kernel("filter");
}
void BandKernels::transpose(const Planes&, const Planes&, Queue&) { lacks_kernel("transpose"); }

}  // namespace lepus
