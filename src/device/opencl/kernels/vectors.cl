// SPDX-License-Identifier: Apache-2.0
// Long vectors, one work-item per value; outputs may be inputs, so that nothing is promised about where they lie.
// Sums run in double precision: a group takes CHUNK values, its work-items every GROUP-th of them, and halves of them
// are joined pair by pair. So the order depends on the length alone.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define EACH(i) \
  const long i = get_global_id(0); \
  if (i >= n) return;

__kernel void fill(MEMORY(out), float value, long n) {
  EACH(i)
  POINTER(float, out)[i] = value;
}

__kernel void combine(MEMORY(out), float a, MEMORY(x), float b, MEMORY(y), long n) {
  EACH(i)
  POINTER(float, out)[i] = a * POINTER_IN(float, x)[i] + b * POINTER_IN(float, y)[i];
}

__kernel void multiply(MEMORY(out), MEMORY(x), MEMORY(y), long n) {
  EACH(i)
  POINTER(float, out)[i] = POINTER_IN(float, x)[i] * POINTER_IN(float, y)[i];
}

__kernel void divide(MEMORY(out), MEMORY(x), MEMORY(y), long n) {
  EACH(i)
  const float by = POINTER_IN(float, y)[i];
  POINTER(float, out)[i] = by == 0.0f ? 0.0f : POINTER_IN(float, x)[i] / by;
}

__kernel void clamp_values(MEMORY(out), MEMORY(x), float low, float high, long n) {
  EACH(i)
  const float value = POINTER_IN(float, x)[i];  // a NaN stays one
  POINTER(float, out)[i] = value < low ? low : value > high ? high : value;
}

__kernel void limit_length(MEMORY(out_x), MEMORY(out_y), MEMORY(out_z), MEMORY(in_x), MEMORY(in_y), MEMORY(in_z),
                           float scale, float limit, long n) {
  EACH(i)
  const float a = scale * POINTER_IN(float, in_x)[i], b = scale * POINTER_IN(float, in_y)[i],
              c = scale * POINTER_IN(float, in_z)[i], length = sqrt(a * a + b * b + c * c);
  const float factor = length > limit ? limit / length : 1.0f;
  POINTER(float, out_x)[i] = a * factor;
  POINTER(float, out_y)[i] = b * factor;
  POINTER(float, out_z)[i] = c * factor;
}

// NaN is the largest of all.
double larger(double a, double b) { return b > a || isnan(b) ? b : a; }

#define JOIN_CHUNK(join, value)                                                                       \
  __local double parts[GROUP];                                                                        \
  const int item = get_local_id(0);                                                                   \
  const long first = (long)get_group_id(0) * CHUNK, last = min(first + CHUNK, n);                     \
  double mine = 0;                                                                                    \
  for (long i = first + item; i < last; i += GROUP) mine = join(mine, value);                         \
  parts[item] = mine;                                                                                 \
  for (int half_of = GROUP / 2; half_of > 0; half_of /= 2) {                                          \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                     \
    if (item < half_of) parts[item] = join(parts[item], parts[item + half_of]);                       \
  }                                                                                                   \
  if (item == 0) POINTER(double, sums)[get_group_id(0)] = parts[0];

#define ADD(a, b) ((a) + (b))

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void dot_chunks(MEMORY(x), MEMORY(y), MEMORY(sums), long n) {
  JOIN_CHUNK(ADD, (double)POINTER_IN(float, x)[i] * (double)POINTER_IN(float, y)[i])
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void sum_chunks(MEMORY(x), MEMORY(sums), long n) {
  JOIN_CHUNK(ADD, (double)POINTER_IN(float, x)[i])
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void largest_of_chunks(MEMORY(x), MEMORY(sums), long n) {
  JOIN_CHUNK(larger, (double)fabs(POINTER_IN(float, x)[i]))
}
