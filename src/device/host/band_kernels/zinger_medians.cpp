// SPDX-License-Identifier: Apache-2.0
#include "device/host/band_kernels/zinger_medians.h"

#include "device/host/targets.h"
#include "project/zinger_rules.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/host/band_kernels/zinger_medians.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lepus::pixels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#include "device/host/band_kernels/along_row-inl.h"
#include "project/median_networks-inl.h"

// Fills out[x] for x in [first, last) from rows r[i] + x, i in [0, 2 radius].
void medians(const float* const* r, int radius, std::int64_t first, std::int64_t last, float* out) {
  const auto exchange = [](auto& low, auto& high) {
    const auto a = low;
    low = hn::Min(a, high);
    high = hn::Max(a, high);
  };
  HWY_NAMESPACE::along_row(first, last, [&](auto tag, std::int64_t x) {
    const auto at = [&](int i) { return hn::LoadU(tag, r[i] + x); };
    const auto median = radius == 1 ? HWY_NAMESPACE::median_of_3(at(0), at(1), at(2), exchange)
                        : radius == 2
                            ? HWY_NAMESPACE::median_of_5(at(0), at(1), at(2), at(3), at(4), exchange)
                            : HWY_NAMESPACE::median_of_7(at(0), at(1), at(2), at(3), at(4), at(5), at(6), exchange);
    hn::StoreU(median, tag, out + x);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace lepus::pixels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lepus::pixels {
namespace {

HWY_EXPORT(medians);

}  // namespace

void view_medians(const float* const* rows, int radius, std::int64_t columns, float* out) {
  HWY_DYNAMIC_DISPATCH(medians)(rows, radius, 0, columns, out);
}

void row_medians(const float* w, std::int64_t columns, float* out) {
  static_assert(row_radius == 2);
  const float* shifted[5] = {w - 2, w - 1, w, w + 1, w + 2};
  HWY_DYNAMIC_DISPATCH(medians)(shifted, row_radius, row_radius, columns - row_radius, out);
  for (int i = 0; i < row_radius; ++i) {
    out[i] = out[row_radius];
    out[columns - 1 - i] = out[columns - 1 - row_radius];
  }
}

}  // namespace lepus::pixels
#endif
