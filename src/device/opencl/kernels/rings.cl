// SPDX-License-Identifier: Apache-2.0
// Stripes of sinograms [row][view][column] (docs/corrections/rings.md): the trend method with its bilateral or median filter, and the
// sorting method (Vo, Atwood and Drakopoulos 2018).
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

typedef struct {
  long width, height, row_stride, plane_stride;
} Planes;

#define ROW(name, plane, view) (POINTER(float, name) + (plane) * p.plane_stride + (view) * p.row_stride)

// ---- trend: what the filter takes away, summed over VIEWS_PER_PART views: [plane][part][column]

#define VIEWS_PER_PART 12

// mask: the weights of distances 0 to radius. Beyond an edge the mask is cut off.
__kernel void sum_bilateral(Planes p, MEMORY(sinograms), __constant const float *mask, int radius, float per_value,
                            MEMORY(rest), MEMORY(own)) {
  const long x = get_global_id(0), part = get_global_id(1), plane = get_global_id(2);
  if (x >= p.width) return;
  const int first = (int)max(-x, (long)-radius), last = (int)min(p.width - 1 - x, (long)radius);
  double taken = 0, values = 0;
  for (long view = part * VIEWS_PER_PART; view < min((part + 1) * VIEWS_PER_PART, p.height); ++view) {
    __global const float *const w = ROW(sinograms, plane, view) + x;
    const float centre = w[0];
    // Of differences: what the filter takes away is small beside the value.
    float sum = 0, weights = 0;
    for (int k = first; k <= last; ++k) {
      const float difference = w[k] - centre, off = difference * per_value;
      const float weight = mask[abs(k)] * exp(-off * off);
      sum += weight * difference;
      weights += weight;
    }
    taken -= (double)(sum / weights);
    values += (double)centre;
  }
  const long at = (plane * get_global_size(1) + part) * p.width + x;
  POINTER(double, rest)[at] = taken;
  if (!IS_NULL(own)) POINTER(double, own)[at] = values;
}

// The lowest of the values in the mask that at least half of them do not exceed. Each is tried: masks are short.
float median_around(__global const float *w, int first, int last) {
  const int wanted = (last - first) / 2;
  for (int k = first; k <= last; ++k) {
    int below = 0, equal = 0;
    for (int i = first; i <= last; ++i) {
      below += w[i] < w[k];
      equal += w[i] == w[k];
    }
    if (below <= wanted && wanted < below + equal) return w[k];
  }
  return w[0];  // some are not numbers
}

__kernel void sum_median(Planes p, MEMORY(sinograms), int radius, MEMORY(rest), MEMORY(own)) {
  const long x = get_global_id(0), part = get_global_id(1), plane = get_global_id(2);
  if (x >= p.width) return;
  const int first = (int)max(-x, (long)-radius), last = (int)min(p.width - 1 - x, (long)radius);
  double taken = 0, values = 0;
  for (long view = part * VIEWS_PER_PART; view < min((part + 1) * VIEWS_PER_PART, p.height); ++view) {
    __global const float *const w = ROW(sinograms, plane, view) + x;
    taken += (double)(w[0] - median_around(w, first, last));
    values += (double)w[0];
  }
  const long at = (plane * get_global_size(1) + part) * p.width + x;
  POINTER(double, rest)[at] = taken;
  if (!IS_NULL(own)) POINTER(double, own)[at] = values;
}

// Stripes that are addends: the mean of the rest. Factors: what the column is multiplied with, 1 where nothing can be
// said (correct/rings/stripe_pattern.h).
__kernel void find_pattern(Planes p, MEMORY_IN(rest), MEMORY_IN(own), MEMORY(pattern), long parts) {
  const long x = get_global_id(0), plane = get_global_id(2);
  if (x >= p.width) return;
  double rest = 0, own = 0;
  for (long part = 0; part < parts; ++part) {
    rest += POINTER_IN(double, rest)[(plane * parts + part) * p.width + x];
    if (!IS_NULL(own)) own += POINTER_IN(double, own)[(plane * parts + part) * p.width + x];
  }
  POINTER(float, pattern)[plane * p.width + x] =
      (float)(IS_NULL(own) ? rest / (double)p.height : own > 0 && own - rest > 0 ? (own - rest) / own : 1.0);
}

__kernel void take_away(Planes p, MEMORY(sinograms), MEMORY_IN(pattern), int relative) {
  const long x = get_global_id(0), view = get_global_id(1), plane = get_global_id(2);
  if (x >= p.width) return;
  __global float *const w = ROW(sinograms, plane, view) + x;
  const float here = POINTER_IN(float, pattern)[plane * p.width + x];
  *w = relative ? *w * here : *w - here;
}

// ---- sorting. A key is a value and its view, in the order of the values, equal ones in the order of the views.

uint ordered(float value) {
  const uint bits = as_uint(value);
  return (bits & 0x80000000u) ? ~bits : bits | 0x80000000u;
}
float value_of(ulong key) {
  const uint bits = (uint)(key >> 32);
  return as_float((bits & 0x80000000u) ? bits & 0x7fffffffu : ~bits);
}

// A group sorts `columns` neighbouring columns of one plane, `padded` (a power of two) keys each.
// sorted, views: [plane][rank][column]
__kernel void sort_columns(Planes p, MEMORY(sinograms), MEMORY(sorted), MEMORY(views), int padded, int columns,
                           __local ulong *keys) {
  const int item = get_local_id(0), items = get_local_size(0);
  const long first = (long)get_group_id(0) * columns, plane = get_group_id(1);
  for (int i = item; i < columns * padded; i += items) {
    const long x = first + i % columns;
    const int view = i / columns;
    keys[i % columns * padded + view] = x < p.width && view < p.height
                                            ? (ulong)ordered(ROW(sinograms, plane, view)[x] + 0.0f) << 32 | (uint)view
                                            : ~(ulong)0;
  }
  for (int size = 2; size <= padded; size *= 2)
    for (int stride = size / 2; stride > 0; stride /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int i = item; i < columns * padded / 2; i += items) {
        const int low = 2 * i - (i & (stride - 1)), high = low + stride;
        const ulong a = keys[low], b = keys[high];
        const bool ascending = (low & (padded - 1) & size) == 0;
        if ((a > b) == ascending) {
          keys[low] = b;
          keys[high] = a;
        }
      }
    }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = item; i < columns * padded; i += items) {
    const long x = first + i % columns;
    const int rank = i / columns;
    if (x >= p.width || rank >= p.height) continue;
    const ulong key = keys[i % columns * padded + rank];
    const long at = (plane * p.height + rank) * p.width + x;
    POINTER(float, sorted)[at] = value_of(key);
    POINTER(uint, views)[at] = (uint)key;
  }
}

// The median over [x - radius, x + radius] of a rank, mirrored at the outermost columns, goes back to the view that the
// value came from. By counting: the number that has at most half of the others below it, and with its likes more.
__kernel void put_medians_back(Planes p, MEMORY_IN(sorted), MEMORY_IN(views), MEMORY(sinograms), int radius) {
  const long x = get_global_id(0), rank = get_global_id(1), plane = get_global_id(2), n = p.width;
  if (x >= n) return;
  __global const float *const row = POINTER_IN(float, sorted) + (plane * p.height + rank) * n;
  float median = row[x];
  for (long k = x - radius; k <= x + radius; ++k) {
    const float candidate = row[k < 0 ? -k : k >= n ? 2 * (n - 1) - k : k];
    int below = 0, same = 0;
    for (long j = x - radius; j <= x + radius; ++j) {
      const float other = row[j < 0 ? -j : j >= n ? 2 * (n - 1) - j : j];
      below += other < candidate;
      same += other == candidate;
    }
    if (below <= radius && radius < below + same) {
      median = candidate;
      break;
    }
  }
  const uint view = POINTER_IN(uint, views)[(plane * p.height + rank) * n + x];
  ROW(sinograms, plane, view)[x] = median;
}
