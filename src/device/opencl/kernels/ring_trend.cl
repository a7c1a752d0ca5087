// SPDX-License-Identifier: Apache-2.0
// Stripes of sinograms [row][view][column] by their trend (docs/corrections/rings.md): its bilateral filter, or what any other filter left.
// What the filter takes away is summed over VIEWS_PER_PART views: [plane][part][column].
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define VIEWS_PER_PART 12

// mask: the weights of distances 0 to radius. Beyond an edge the mask is cut off.
__kernel void sum_bilateral(Planes p, MEMORY_IN(sinograms), __constant const float *mask, int radius, float per_value,
                            MEMORY(rest), MEMORY(own)) {
  const long x = get_global_id(0), part = get_global_id(1), plane = get_global_id(2);
  if (x >= p.width) return;
  const int first = (int)max(-x, (long)-radius), last = (int)min(p.width - 1 - x, (long)radius);
  double taken = 0, values = 0;
  for (long view = part * VIEWS_PER_PART; view < min((part + 1) * VIEWS_PER_PART, p.height); ++view) {
    __global const float *const w = ROW_IN(sinograms, p, plane, view) + x;
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

// smooth: what a filter left, [plane][view][column].
__kernel void sum_difference(Planes p, MEMORY_IN(sinograms), MEMORY_IN(smooth), MEMORY(rest), MEMORY(own)) {
  const long x = get_global_id(0), part = get_global_id(1), plane = get_global_id(2);
  if (x >= p.width) return;
  double taken = 0, values = 0;
  for (long view = part * VIEWS_PER_PART; view < min((part + 1) * VIEWS_PER_PART, p.height); ++view) {
    const float value = ROW_IN(sinograms, p, plane, view)[x];
    taken += (double)(value - POINTER_IN(float, smooth)[(plane * p.height + view) * p.width + x]);
    values += (double)value;
  }
  const long at = (plane * get_global_size(1) + part) * p.width + x;
  POINTER(double, rest)[at] = taken;
  if (!IS_NULL(own)) POINTER(double, own)[at] = values;
}

// Stripes that are addends: the mean of the rest. Factors: what the column is multiplied with, 1 where nothing can be
// said (project/stripe_pattern.h).
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
  __global float *const w = ROW(sinograms, p, plane, view) + x;
  const float here = POINTER_IN(float, pattern)[plane * p.width + x];
  *w = relative ? *w * here : *w - here;
}
