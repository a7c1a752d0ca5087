// SPDX-License-Identifier: Apache-2.0
// Zingers of sinograms [row][view][column] (project/zinger_rules.h has the rules and their words): mean distances from
// the median per block of views and column, thresholds, then the corrected sinograms into scratch and back: neighbours
// are judged by what was measured. Sums in the host's order: the values that are replaced are the host's.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define VIEWS_PER_SUM 32
#define ROW_RADIUS 2
enum { BY_VIEWS, BY_ROW, BY_BOTH };  // ZingerNeighbours

typedef struct {
  double limit;
  int neighbours, radius, along;
  float sign;
} Rules;

__global const float *row_of(Planes p, __global const float *data, long plane, long view) {
  return data + plane * p.plane_stride + view * p.row_stride;
}

#define EXCHANGE(a, b)       \
  {                          \
    const float low = a, high = b; \
    a = low < high ? low : high;   \
    b = low < high ? high : low;   \
  }
float median_of_3(float a, float b, float c) {
  EXCHANGE(a, b) EXCHANGE(b, c) EXCHANGE(a, b)
  return b;
}
float median_of_5(float a, float b, float c, float d, float e) {
  EXCHANGE(a, b) EXCHANGE(c, d) EXCHANGE(a, c) EXCHANGE(b, d)
  return median_of_3(b, c, e);
}
float median_of_7(float a, float b, float c, float d, float e, float f, float g) {
  EXCHANGE(a, b) EXCHANGE(c, d) EXCHANGE(e, f) EXCHANGE(a, c) EXCHANGE(a, e) EXCHANGE(b, f) EXCHANGE(d, f)
  return median_of_5(b, c, d, e, g);
}

long first_neighbour(long at, long radius, long size) { return clamp(at - radius, 0L, size - 2 * radius - 1); }

float row_median_at(__global const float *w, long columns, long x) {
  __global const float *const v = w + first_neighbour(x, ROW_RADIUS, columns);
  return median_of_5(v[0], v[1], v[2], v[3], v[4]);
}

float median_at(Rules r, Planes p, __global const float *data, long plane, long view, long x) {
  if (r.neighbours == BY_ROW) return row_median_at(row_of(p, data, plane, view), p.width, x);
  __global const float *const w = row_of(p, data, plane, first_neighbour(view, r.radius, p.height)) + x;
  const long s = p.row_stride;
  if (r.radius == 1) return median_of_3(w[0], w[s], w[2 * s]);
  if (r.radius == 2) return median_of_5(w[0], w[s], w[2 * s], w[3 * s], w[4 * s]);
  return median_of_7(w[0], w[s], w[2 * s], w[3 * s], w[4 * s], w[5 * s], w[6 * s]);
}

bool detail_near(Rules r, __global const float *w, long columns, long x, long along, float least) {
  const long first = max(x - along, 0L), last = min(x + along, columns - 1);
  for (long k = first; k <= last; ++k)
    if (r.sign * (w[k] - row_median_at(w, columns, k)) > least) return true;
  return false;
}

bool alone_in_row(Rules r, Planes p, __global const float *data, long plane, long view, long x, float threshold) {
  __global const float *const w = row_of(p, data, plane, view);
  const float height = r.sign * (w[x] - row_median_at(w, p.width, x));
  if (!(height > threshold)) return false;
  if (r.along == 0) return true;
  const float share = 0.25f * height, half_of_it = 0.5f * threshold, least = share > half_of_it ? share : half_of_it;
  int views = 0;
  for (int away = -2; away <= 2; ++away) {
    if (away == 0 || view + away < 0 || view + away >= p.height) continue;
    if (detail_near(r, row_of(p, data, plane, view + away), p.width, x, (long)(away < 0 ? -away : away) * r.along, least))
      ++views;
  }
  return views < 2;
}

__kernel void zinger_sums(Rules r, Planes p, MEMORY_IN(sinograms), MEMORY(blocks)) {
  const long x = get_global_id(0), block = get_global_id(1), plane = get_global_id(2);
  if (x >= p.width) return;
  __global const float *const data = POINTER_IN(float, sinograms);
  const long first = block * VIEWS_PER_SUM, last = min(first + VIEWS_PER_SUM, p.height);
  float sum = 0;
  for (long view = first; view < last; ++view)
    sum += fabs(row_of(p, data, plane, view)[x] - median_at(r, p, data, plane, view, x));
  POINTER(float, blocks)[(plane * get_global_size(1) + block) * p.width + x] = sum;
}

__kernel void zinger_thresholds(Rules r, Planes p, MEMORY_IN(blocks), MEMORY(thresholds), long count) {
  const long x = get_global_id(0), plane = get_global_id(2);
  if (x >= p.width) return;
  double total = 0;
  for (long block = 0; block < count; ++block) total += POINTER_IN(float, blocks)[(plane * count + block) * p.width + x];
  POINTER(float, thresholds)[plane * p.width + x] = (float)(r.limit * total / (double)p.height);
}

__kernel void zinger_correct(Rules r, Planes p, MEMORY_IN(sinograms), MEMORY_IN(thresholds), MEMORY(corrected),
                             MEMORY(found)) {
  const long x = get_global_id(0), view = get_global_id(1), plane = get_global_id(2);
  if (x >= p.width) return;
  __global const float *const data = POINTER_IN(float, sinograms);
  const float threshold = POINTER_IN(float, thresholds)[plane * p.width + x];
  float value = row_of(p, data, plane, view)[x];
  const float median = median_at(r, p, data, plane, view, x);
  if (r.sign * (value - median) > threshold &&
      (r.neighbours != BY_BOTH || alone_in_row(r, p, data, plane, view, x, threshold))) {
    value = median;
    atomic_inc(POINTER(int, found) + plane);
  }
  POINTER(float, corrected)[(plane * p.height + view) * p.width + x] = value;
}

__kernel void zinger_finish(Planes p, MEMORY(sinograms), MEMORY_IN(corrected), MEMORY_IN(found), MEMORY(counts)) {
  const long x = get_global_id(0), view = get_global_id(1), plane = get_global_id(2);
  if (x == 0 && view == 0) POINTER(long, counts)[plane] = POINTER_IN(int, found)[plane];
  if (x >= p.width) return;
  POINTER(float, sinograms)[plane * p.plane_stride + view * p.row_stride + x] =
      POINTER_IN(float, corrected)[(plane * p.height + view) * p.width + x];
}
