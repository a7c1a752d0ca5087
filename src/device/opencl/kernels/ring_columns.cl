// SPDX-License-Identifier: Apache-2.0
// Which columns of sinograms are faulty, and what becomes of them: project/stripe_columns.h and sorted_keys.h derive the rules and have
// their words. Lists have a number per column, [plane][column]. Judged in double precision from sums in the host's order: the
// columns that are found are the host's.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

double finite_or_zero(double value) { return value - value == 0 ? value : 0.0; }

// ---- columns that flutter otherwise than their neighbours

double median_of_five(__global const float *list, int n, int x) {
  for (int k = x - 2; k <= x + 2; ++k) {
    const float candidate = list[k < 0 ? -k : k >= n ? 2 * (n - 1) - k : k];
    int below = 0, same = 0;
    for (int j = x - 2; j <= x + 2; ++j) {
      const float other = list[j < 0 ? -j : j >= n ? 2 * (n - 1) - j : j];
      below += other < candidate;
      same += other == candidate;
    }
    if (below <= 2 && 2 < below + same) return candidate;
  }
  return list[x];  // not reached while the list holds numbers
}

double flutter_contrast(__global const float *flutter, int n, int x, double around, double least) {
  const double times = 10, no_doubt = 100, d = flutter[x];
  if (n > 12) {
    const double left = median_of_five(flutter, n, x < 4 ? 4 - x : x - 4);
    const double right = median_of_five(flutter, n, x + 4 >= n ? 2 * (n - 1) - (x + 4) : x + 4);
    const double low = left < right ? left : right, high = left < right ? right : left;
    if (low > least && times * d < low) return -no_doubt;
    if (d > times * (high > least ? high : least) && d > 0) return no_doubt;
  }
  const double sum = d + around + 2 * least;
  return sum > 0 ? (d - around) / sum : 0.0;
}

// A group per plane. around: medians of the flutter. One work-item sums, in the host's order.
__kernel void flutter_contrasts(MEMORY_IN(flutter), MEMORY_IN(around), MEMORY(list), int width) {
  __local double least;
  const int item = get_local_id(0), items = get_local_size(0);
  const long start = (long)get_group_id(0) * width;
  __global const float *const around = POINTER_IN(float, around) + start;
  if (item == 0) {
    double mean = 0;
    for (int x = 0; x < width; ++x) mean += around[x];
    least = 0.1 * mean / (double)width;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int x = item; x < width; x += items)
    POINTER(double, list)[start + x] = flutter_contrast(POINTER_IN(float, flutter) + start, width, x, around[x], least);
}

// ---- columns whose sorted values lie off the smooth ones; both [plane][rank][column]

__kernel void stripe_offsets(Planes p, MEMORY_IN(sorted), MEMORY_IN(smooth), MEMORY(list), int relative) {
  const long x = get_global_id(0), plane = get_global_id(2), left_out = p.height / 20;
  if (x >= p.width) return;
  double sum = 0, smooth_sum = 0;
  for (long rank = left_out; rank < p.height - left_out; ++rank) {
    const long at = (plane * p.height + rank) * p.width + x;
    sum += POINTER_IN(float, sorted)[at];
    smooth_sum += POINTER_IN(float, smooth)[at];
  }
  double offset = (sum - smooth_sum) / (double)(p.height - 2 * left_out);
  if (relative) offset = sum > 0 && smooth_sum > 0 ? sum / smooth_sum - 1 : 0.0;
  POINTER(double, list)[plane * p.width + x] = finite_or_zero(offset);
}

// ---- outliers of a list

typedef struct {
  double bottom, top, threshold;
  int any_low, any_high;
} Limits;

ulong ordered_double(double value) {
  const ulong bits = as_ulong(value);
  return (bits >> 63) ? ~bits : bits | (ulong)1 << 63;
}
double double_of(ulong order) { return as_double((order >> 63) ? order & ~((ulong)1 << 63) : ~order); }

Limits outlier_limits(KEYS const ulong *ascending, int n, double snr) {
  Limits limits = {0, 0, 0, 0, 0};
  if (n < 4) return limits;
  const int first = n / 4, last = n - n / 4;
  const double middle = 0.5 * (double)(first + last - 1);
  double mean = 0, along = 0, squares = 0;
  for (int i = first; i < last; ++i) mean += double_of(ascending[i]);
  mean /= (double)(last - first);
  for (int i = first; i < last; ++i) {
    const double t = (double)i - middle;
    along += t * (double_of(ascending[i]) - mean);
    squares += t * t;
  }
  const double slope = along / squares, lowest = double_of(ascending[0]), highest = double_of(ascending[n - 1]);
  limits.bottom = mean - slope * middle;
  limits.top = mean + slope * ((double)(n - 1) - middle);
  const double noise = limits.top - limits.bottom;
  limits.any_high = highest > limits.top && highest - limits.top >= snr * noise;
  limits.any_low = lowest < limits.bottom && limits.bottom - lowest >= snr * noise;
  limits.threshold = 0.5 * snr * noise;
  return limits;
}

double beyond(const __local Limits *limits, double value) {
  if (limits->any_high && value > limits->top) return value - limits->top;
  if (limits->any_low && value < limits->bottom) return limits->bottom - value;
  return 0;
}

// Column x of [first, last), or a neighbour of it there, lies further out than the threshold.
uchar is_out(__global const double *list, const __local Limits *limits, double threshold, int x, int first, int last) {
  for (int k = max(x - 1, first); k <= min(x + 1, last - 1); ++k)
    if (beyond(limits, list[k]) > threshold) return 1;
  return 0;
}

// A run that is too long is marked with half of its own peak as threshold; what is too long again is the object's.
void mark_again(__global const double *list, const __local Limits *limits, int first, int last, int longest,
                __global uchar *mask) {
  double peak = 0;
  for (int x = first; x < last; ++x) peak = fmax(peak, beyond(limits, list[x]));
  for (int x = first; x < last; ++x) mask[x] = is_out(list, limits, 0.5 * peak, x, first, last);
  for (int x = first, run = 0; x <= last; ++x) {
    if (x < last && mask[x]) {
      ++run;
      continue;
    }
    for (int k = x - run; k < x && run > longest; ++k) mask[k] = 0;
    run = 0;
  }
}

// A group per plane; `padded` keys (a power of two) each. One work-item lays the line and goes through the runs.
__kernel void mark_columns(MEMORY_IN(lists), MEMORY(masks), int width, int padded, double snr, int longest,
                           KEYS_ARGUMENT(all_keys)) {
  __local Limits limits;
  KEYS ulong *const keys = KEYS_OF_GROUP(all_keys, get_group_id(0), (long)padded);
  const int item = get_local_id(0), items = get_local_size(0);
  __global const double *const list = POINTER_IN(double, lists) + (long)get_group_id(0) * width;
  __global uchar *const mask = POINTER(uchar, masks) + (long)get_group_id(0) * width;
  for (int x = item; x < padded; x += items) keys[x] = x < width ? ordered_double(list[x]) : ~(ulong)0;
  sort_lists(keys, padded, 1);
  if (item == 0) limits = outlier_limits(keys, width, snr);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int x = item; x < width; x += items) mask[x] = is_out(list, &limits, limits.threshold, x, 0, width);
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (item > 0) return;
  for (int x = 0, run = 0; x <= width; ++x) {
    if (x < width && mask[x]) {
      ++run;
      continue;
    }
    if (run > longest) mark_again(list, &limits, x - run, x, longest, mask);
    run = 0;
  }
}

// ---- what becomes of them

// On a straight line between the nearest good columns; good ones alone are read, marked ones alone written. The share is divided in
// double precision, and so rounded to the nearest float on every device.
__kernel void bridge_columns(Planes p, MEMORY(sinograms), MEMORY_IN(masks)) {
  const long x = get_global_id(0), view = get_global_id(1), plane = get_global_id(2);
  if (x >= p.width) return;
  __global const uchar *const mask = POINTER_IN(uchar, masks) + plane * p.width;
  if (!mask[x]) return;
  long left = x, right = x;
  while (left >= 0 && mask[left]) --left;
  while (right < p.width && mask[right]) ++right;
  __global float *const row = ROW(sinograms, p, plane, view);
  if (left >= 0 && right < p.width)
    row[x] = row[left] + (float)((double)(x - left) / (double)(right - left)) * (row[right] - row[left]);
  else if (left >= 0 || right < p.width)
    row[x] = row[left >= 0 ? left : right];
}

__kernel void replace_columns(Planes p, MEMORY(sorted), MEMORY_IN(smooth), MEMORY_IN(masks)) {
  const long x = get_global_id(0), rank = get_global_id(1), plane = get_global_id(2);
  if (x >= p.width || !POINTER_IN(uchar, masks)[plane * p.width + x]) return;
  const long at = (plane * p.height + rank) * p.width + x;
  POINTER(float, sorted)[at] = POINTER_IN(float, smooth)[at];
}
