// SPDX-License-Identifier: Apache-2.0
// The methods of ring removal on an OpenCL device, one file each, and what they share; options are checked.
#pragma once

#include <string>

#include "device/opencl/band_kernels.h"

namespace lepus::opencl {

void remove_rings_by_trend(const Planes& sinograms, const RingOptions& options, Queue& queue);
void remove_rings_by_wavelets(const Planes& sinograms, const RingOptions& options, Queue& queue);
void remove_rings_by_sorting(const Planes& sinograms, const RingOptions& options, Queue& queue);  // and combined

// The median of row y over [x - radius, x + radius] goes to (x, y) of `out`, or to row views[plane][y][x] of it. Beyond
// an edge the row is mirrored at its outermost pixel, where radius is less than the width, or the window is cut off.
struct RowMedians {
  Planes in, out;
  std::int64_t radius = 1;
  bool mirror = true;
  const std::uint32_t* views = nullptr;
};
void find_row_medians(const RowMedians& medians, Queue& queue);

// Program `name` after kernels/sorted_keys.cl.
Program& sorting_program(Context& context, const std::string& name, bool keys_in_global = false);
inline constexpr std::int64_t key_bytes = sizeof(cl_ulong);
std::int64_t power_of_two(std::int64_t n);            // the next one
std::int64_t sorting_memory(const Context& context);  // local memory for keys, and what belongs to them
std::int64_t sorting_items(const Context& context, std::int64_t pairs);  // of a group that exchanges so many pairs

// Sinograms that are worked on together, so that a picture that a method holds beside them, of so many floats for each,
// stays small beside the device's memory.
std::int64_t planes_at_once(const Planes& sinograms, std::int64_t floats_each, const Queue& queue);
// Pictures of another size for each of `like`, without gaps.
Planes packed_planes(const Planes& like, std::int64_t height, std::int64_t width, Queue& queue);

}  // namespace lepus::opencl
