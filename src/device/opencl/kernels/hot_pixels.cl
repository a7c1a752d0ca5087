// SPDX-License-Identifier: Apache-2.0
// Hot pixels of sinograms [row][view][column] (project/hot_rules.h derives the rules and has their words): sums of
// squares per block of views, per column the deviations, the judgement (of suspects in each view), and the replacement in
// every view. Judged in double precision from sums in a fixed order: the pixels that are found are the host's.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define LARGEST_WINDOW 32
#define VIEWS_PER_SUM 32

typedef struct {
  double one_scale, two_scale, tolerance, minimum_spread, explained;
  long minimum_views;
  float one[LARGEST_WINDOW], two[LARGEST_WINDOW];
  float out_of_both, out_of_one;
  int window, gap, classic, three_deviations, below, nearest, furthest;
} Rules;

int reach_of(const __constant Rules *r) { return r->gap + r->window - 1; }

// ---- statistics: blocks[plane][block][left, middle, right][column]

__kernel void hot_sums(__constant const Rules *rules, Planes p, MEMORY_IN(sinograms), MEMORY_IN(changed),
                       MEMORY(blocks)) {
  const long x = get_global_id(0), block = get_global_id(1), plane = get_global_id(2);
  if (x >= p.width || !POINTER_IN(int, changed)[plane]) return;
  const int reach = reach_of(rules);
  const bool has_left = x >= reach, has_right = x + reach < p.width;
  const long first = block * VIEWS_PER_SUM, last = min(first + VIEWS_PER_SUM, p.height);
  float left = 0, middle = 0, right = 0;
  for (long view = first; view < last; ++view) {
    __global const float *const w = POINTER_IN(float, sinograms) + plane * p.plane_stride + view * p.row_stride + x;
    const float centre = *w;
    float n_left = 0, n_middle = 0, n_right = 0;
    for (int i = 0; i < rules->window; ++i) {
      const int k = rules->gap + i;
      const float from_left = has_left ? centre - w[-k] : 0.0f, from_right = has_right ? centre - w[k] : 0.0f;
      n_left += rules->one[i] * from_left;
      n_right += rules->one[i] * from_right;
      n_middle += rules->two[i] * (from_left + from_right);
    }
    left += n_left * n_left;
    middle += n_middle * n_middle;
    right += n_right * n_right;
  }
  __global float *const sums = POINTER(float, blocks) + (plane * get_global_size(1) + block) * 3 * p.width + x;
  sums[0] = left;
  sums[p.width] = has_left && has_right ? middle : 0.0f;
  sums[2 * p.width] = right;
}

__kernel void hot_deviations(__constant const Rules *rules, Planes p, MEMORY_IN(changed), MEMORY_IN(blocks),
                             MEMORY(deviations), long count) {
  const long x = get_global_id(0), plane = get_global_id(2);
  if (x >= p.width || !POINTER_IN(int, changed)[plane]) return;
  for (int i = 0; i < 3; ++i) {
    double total = 0;
    for (long block = 0; block < count; ++block)
      total += POINTER_IN(float, blocks)[((plane * count + block) * 3 + i) * p.width + x];
    const double scale = i == 1 ? rules->two_scale : rules->one_scale;
    POINTER(float, deviations)[(plane * 3 + i) * p.width + x] = (float)(sqrt(total / (double)(p.height - 1)) * scale);
  }
}

// The classic detector's mean and deviation of a row; one work-item per row, in the host's order.
__kernel void hot_classic_rows(Planes p, MEMORY_IN(deviations), MEMORY(rows)) {
  const long plane = get_global_id(0);
  __global const float *const d = POINTER_IN(float, deviations) + (plane * 3 + 1) * p.width;
  const double count = (double)(p.width - 4);
  double mean = 0, squares = 0;
  for (long x = 2; x < p.width - 2; ++x) mean += d[x];
  mean /= count;
  for (long x = 2; x < p.width - 2; ++x) squares += (d[x] - mean) * (d[x] - mean);
  POINTER(double2, rows)[plane] = (double2)(mean, sqrt(squares / (count - 1)));
}

// ---- judgement

enum { GOOD, HOT, SUSPECT };

typedef struct {
  double mean, deviation, least, most;
} Spread;

Spread spread_of(__global const float *d, __global const float *more, int count, double minimum_spread) {
  Spread s;
  s.least = s.most = d[0];
  double sum = 0, squares = 0;
  const int parts = more ? 2 : 1;
  for (int part = 0; part < parts; ++part)
    for (int i = 0; i < count; ++i) {
      const double value = part == 0 ? d[i] : more[i];
      sum += value;
      s.least = fmin(value, s.least);
      s.most = fmax(value, s.most);
    }
  s.mean = sum / (parts * count);
  for (int part = 0; part < parts; ++part)
    for (int i = 0; i < count; ++i) {
      const double off = (part == 0 ? d[i] : more[i]) - s.mean;
      squares += off * off;
    }
  s.deviation = fmax(sqrt(squares / (parts * count - 1)), minimum_spread * s.mean);
  return s;
}
bool far_above(double d, Spread s, double tolerance) { return d > s.most && d - s.mean > tolerance * s.deviation; }
bool far_below(double d, Spread s, double tolerance) { return d < s.least && s.mean - d > tolerance * s.deviation; }
bool hot_at_edge(__constant const Rules *r, double d, Spread s) {
  return far_above(d, s, r->tolerance) && d * d - s.least * s.least > r->explained * (s.most * s.most - s.least * s.least);
}
uchar verdict(__constant const Rules *r, bool above, bool below) {
  if (above) return r->minimum_views > 0 ? SUSPECT : HOT;
  return below ? HOT : GOOD;
}

uchar hot_in_windows(__constant const Rules *rules, __global const float *d, long columns, long x) {
  __global const float *const d_left = d, *const d_middle = d + columns, *const d_right = d + 2 * columns;
  const int reach = reach_of(rules), window = rules->window;
  const bool left = x >= 2 * reach, right = x + 2 * reach < columns;
  const long l = x - reach, r = x + rules->gap;
  if (left && right) {
    const double own = d_middle[x];
    if (!rules->three_deviations) {
      const Spread both = spread_of(d_middle + l, d_middle + r, window, rules->minimum_spread);
      return verdict(rules, far_above(own, both, rules->tolerance),
                     rules->below && far_below(own, both, rules->tolerance));
    }
    const Spread a = spread_of(d_left + l, 0, window, rules->minimum_spread);
    const Spread b = spread_of(d_right + r, 0, window, rules->minimum_spread);
    return verdict(rules, far_above(own, a, rules->tolerance) && far_above(own, b, rules->tolerance),
                   rules->below && far_below(own, a, rules->tolerance) && far_below(own, b, rules->tolerance));
  }
  bool above = false;
  if (left) above = hot_at_edge(rules, d_left[x], spread_of(d_left + l, 0, window, rules->minimum_spread));
  if (right) above = hot_at_edge(rules, d_right[x], spread_of(d_right + r, 0, window, rules->minimum_spread));
  return verdict(rules, above, false);
}

bool hot_in_row(__constant const Rules *rules, __global const float *d, double2 row, long columns, long x) {
  if (x < 2 || x >= columns - 2) return false;
  const bool above = d[x] - row.x > rules->tolerance * row.y;
  const bool below = rules->below && row.x - d[x] > rules->tolerance * row.y;
  if (!above && !below) return false;
  for (int k = -2; k <= 2; ++k) {
    if (k == 0 || x + k < 2 || x + k >= columns - 2) continue;
    if (above ? !(d[x] > d[x + k]) : !(d[x] < d[x + k])) return false;
  }
  return true;
}

__kernel void hot_judge(__constant const Rules *rules, Planes p, MEMORY_IN(changed), MEMORY_IN(deviations),
                        MEMORY_IN(rows), MEMORY(found), MEMORY(views)) {
  const long x = get_global_id(0), plane = get_global_id(2), at = plane * p.width + x;
  if (x >= p.width || !POINTER_IN(int, changed)[plane]) return;
  __global const float *const d = POINTER_IN(float, deviations) + plane * 3 * p.width;
  POINTER(uchar, found)[at] =
      rules->classic ? verdict(rules, hot_in_row(rules, d + p.width, POINTER_IN(double2, rows)[plane], p.width, x), false)
                     : hot_in_windows(rules, d, p.width, x);
  POINTER(int, views)[at] = 0;
}

float side_noise(__constant const Rules *r, __global const float *w, long x, int side) {
  float n = 0;
  for (int i = 0; i < r->window; ++i) n += r->one[i] * (w[x] - w[x + side * (r->gap + i)]);
  return n;
}

bool stands_out(__constant const Rules *r, __global const float *w, long columns, long x) {
  const int reach = reach_of(r);
  const bool left = x >= 2 * reach, right = x + 2 * reach < columns;
  float measure = 0;
  for (int i = 0; i < r->window; ++i) {
    const int k = r->gap + i;
    const float a = left ? side_noise(r, w, x - k, -1) : 0.0f, b = right ? side_noise(r, w, x + k, 1) : 0.0f;
    measure += a * a + b * b;
  }
  const float a = left ? side_noise(r, w, x, -1) : 0.0f, b = right ? side_noise(r, w, x, 1) : 0.0f;
  if (!left || !right) return (a * a + b * b) * r->out_of_one > measure;
  float m = 0;
  for (int i = 0; i < r->window; ++i) {
    const int k = r->gap + i;
    m += r->two[i] * ((w[x] - w[x - k]) + (w[x] - w[x + k]));
  }
  const float least = 0.25f * fabs(m), sign = m < 0 ? -1.0f : 1.0f;  // both sides see at least a quarter of it
  return m * m * r->out_of_both > measure && sign * a > least && sign * b > least;
}

// Only suspects are looked at, in every view.
__kernel void hot_views(__constant const Rules *rules, Planes p, MEMORY_IN(sinograms), MEMORY_IN(changed),
                        MEMORY_IN(found), MEMORY(views)) {
  const long x = get_global_id(0), block = get_global_id(1), plane = get_global_id(2), at = plane * p.width + x;
  if (x >= p.width || !POINTER_IN(int, changed)[plane] || POINTER_IN(uchar, found)[at] != SUSPECT) return;
  const long last = min((block + 1) * VIEWS_PER_SUM, p.height);
  int count = 0;
  for (long view = block * VIEWS_PER_SUM; view < last; ++view)
    count += stands_out(rules, POINTER_IN(float, sinograms) + plane * p.plane_stride + view * p.row_stride, p.width, x);
  if (count > 0) atomic_add(POINTER(int, views) + at, count);  // whole numbers: any order
}

__kernel void hot_settle(__constant const Rules *rules, Planes p, MEMORY_IN(changed), MEMORY_IN(found),
                         MEMORY_IN(views), MEMORY(hot), MEMORY(ever), MEMORY(changing)) {
  const long x = get_global_id(0), plane = get_global_id(2), at = plane * p.width + x;
  if (x >= p.width) return;
  const uchar found = POINTER_IN(uchar, found)[at];
  const bool is_hot = POINTER_IN(int, changed)[plane] &&
                      (found == HOT || (found == SUSPECT && POINTER_IN(int, views)[at] >= rules->minimum_views));
  POINTER(uchar, hot)[at] = is_hot;
  if (!is_hot) return;
  POINTER(uchar, ever)[at] = 1;
  POINTER(int, changing)[plane] = 1;  // every work-item that writes writes the same
}

// Only good pixels are read, and only hot ones written.
__kernel void hot_replace(__constant const Rules *rules, Planes p, MEMORY(sinograms), MEMORY_IN(hot)) {
  const long x = get_global_id(0), view = get_global_id(1), plane = get_global_id(2), columns = p.width;
  if (x >= columns) return;
  __global const uchar *const hot = POINTER_IN(uchar, hot) + plane * columns;
  if (!hot[x]) return;
  __global float *const w = POINTER(float, sinograms) + plane * p.plane_stride + view * p.row_stride;
  float sum = 0;
  int pairs = 0;
  for (int k = rules->nearest; k <= rules->furthest; ++k) {
    if (x - k < 0 || x + k >= columns || hot[x - k] || hot[x + k]) continue;
    sum += w[x - k] + w[x + k];
    ++pairs;
  }
  long l = x, r = x;
  while (l >= 0 && hot[l]) --l;
  while (r < columns && hot[r]) ++r;
  if (pairs > 0)
    w[x] = sum / (float)(2 * pairs);
  else if (l >= 0 && r < columns)
    w[x] = w[l] + (w[r] - w[l]) * (float)(x - l) / (float)(r - l);
  else if (l >= 0)
    w[x] = w[l];
  else if (r < columns)
    w[x] = w[r];
}

__kernel void hot_count(Planes p, MEMORY_IN(ever), MEMORY(counts)) {
  const long plane = get_global_id(0);
  long count = 0;
  for (long x = 0; x < p.width; ++x) count += POINTER_IN(uchar, ever)[plane * p.width + x];
  POINTER(long, counts)[plane] = count;
}
