// SPDX-License-Identifier: Apache-2.0
// Frames to filtered rows: raw pixels [view][row][column] of any type -> line integrals (dark, flat, log; dead pixels
// bridged) -> FDK weights -> ramp filter -> float [view][row][wide column]. Two neighbouring rows are one complex row:
// the ramp's response is real, so they come out apart again.
// The transform of `length` points is done in place: the way there decimates in frequency, the way back in time, and
// between them the spectrum lies in the order of its digits, in which the response is stored (Gentleman and Sande 1966).
// `points` of them fit local memory. Where the transform is longer, the first steps there and the last back run in
// global memory. Formulas: project/ray_weight.h, preprocess/normalise.h.

#ifdef DOUBLES
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

typedef struct {
  // One row in the middle of the detector, in mm: value at the middle column, change per column, change per row.
  float along, along_u, along_v, across, across_u, across_v, height, height_u, height_v;
  float radius;                          // of the source's circle
  float share, per_row, per_row_change;  // a row's factor: share / |per_row + per_row_change * row from the middle|
  float redundancy;                      // of every ray, where it does not vary
  float margin;
  int first_partner, partners;
  int varies, needs_gamma, needs_rho, upright, narrow;
} ViewWeight;

typedef struct {
  long view_pixels, out_row, out_view;
  int type, length, points;
  int columns, before, wide;
  int first_view, view_step, row0, row1, counted_row0, counted_row1;
  int normalise, dead_runs, extension, beam;
  float log_i0_everywhere, clip, saturation;
  float middle_column, middle_row, fade_start, fade_scale;
} Job;

typedef struct {
  int row, begin, end;
} DeadRun;

// What a row reads from.
typedef struct {
  __global const uchar *pixels;  // of the batch
  __global const float *dark, *log_i0;
  __global const DeadRun *dead;
  __global const float2 *partners;
  __global const float *edge;
} Tables;

// ---- weights

float smooth_step(float x) {
  x = fmin(fmax(x, 0.0f), 1.0f);
  const float z = 0.5f * x, s = z * z;
  const float sine = z * (3.14159264f + s * (-5.167710084f + s * (2.550077523f + s * (-0.5982912856f + s * 0.07765766029f))));
  return sine * sine;
}

float small_atan(float t) {
  const float s = t * t;
  return t * (0.9999999842f + s * (-0.3333306678f + s * (0.1999248358f + s * (-0.1420257051f + s * (0.106367541f +
         s * (-0.07495445442f + s * (0.04258760745f + s * (-0.01600503049f + s * 0.002834064296f))))))));
}

// One row: v counts from the middle row, u from the middle column.
typedef struct {
  float along, across, height;
} Line;
Line line_of(const ViewWeight *w, float v) {
  const Line l = {fma(v, w->along_v, w->along), fma(v, w->across_v, w->across), fma(v, w->height_v, w->height)};
  return l;
}

float redundancy_of(const Job *job, const ViewWeight *w, Line line, float u, __global const float2 *partners) {
  if (!w->varies) return w->redundancy;
  const float along = fma(u, w->along_u, line.along), across = fma(u, w->across_u, line.across);
  float rho = across, gamma = 0.0f, partner = 0.0f;
  if (w->needs_rho && job->beam != PARALLEL) rho = across * w->radius / sqrt(along * along + across * across);
  if (!w->needs_gamma) {
    const float own = smooth_step(job->fade_start + rho * job->fade_scale);
    return own / (own + smooth_step(job->fade_start - rho * job->fade_scale));
  }
  if (job->beam != PARALLEL) gamma = w->narrow ? small_atan(across / along) : atan2(across, along);
  for (int k = 0; k < w->partners; ++k) {
    const float2 arc = partners[w->first_partner + k];
    partner = fmax(partner, fmin(2 * gamma - arc.x, arc.y - 2 * gamma));
  }
  const float fade = 1.0f / fmin(w->margin + partner, 1.0471975511965976f);  // at most 60 degrees
  float own = smooth_step(w->margin * fade), other = smooth_step(partner * fade);
  if (w->needs_rho) {
    own *= smooth_step(job->fade_start + rho * job->fade_scale);
    other *= smooth_step(job->fade_start - rho * job->fade_scale);
  }
  own += 1e-30f;  // no confidence in either counts fully
  return own / (own + other);
}

float weight_of(const Job *job, const ViewWeight *w, int row, int column, __global const float2 *partners) {
  const float u = column - job->middle_column, v = row - job->middle_row;
  const Line line = line_of(w, v);
  const float factor = w->share / fabs(fma(v, w->per_row_change, w->per_row));
  const float scale = factor * redundancy_of(job, w, w->upright ? line_of(w, 0.0f) : line, u, partners);
  if (job->beam == PARALLEL) return scale;
  const float along = fma(u, w->along_u, line.along), across = fma(u, w->across_u, line.across),
              height = fma(u, w->height_u, line.height);
  return scale * along / sqrt(along * along + across * across + height * height);
}

// ---- pixels

// The order of PixelType, io/frames.h.
enum { U8, I8, U16, I16, U32, I32, F32, F64 };

float grey_at(__global const uchar *pixels, int type, long at) {
  switch (type) {
    case U8: return pixels[at];
    case I8: return ((__global const char *)pixels)[at];
    case U16: return ((__global const ushort *)pixels)[at];
    case I16: return ((__global const short *)pixels)[at];
    case U32: return ((__global const uint *)pixels)[at];
    case I32: return ((__global const int *)pixels)[at];
#ifdef DOUBLES
    case F64: return (float)((__global const double *)pixels)[at];
#endif
    default: return ((__global const float *)pixels)[at];
  }
}

float good_line_integral(const Job *job, const Tables *t, long first_pixel, int row, int column) {
  const long at = (long)row * job->columns + column;
  float value = grey_at(t->pixels, job->type, first_pixel + column);
  if (t->dark) value -= t->dark[at];
  return (t->log_i0 ? t->log_i0[at] : job->log_i0_everywhere) - log(fmax(value, job->clip));
}

// A dead pixel's: between the nearest good ones of the row. Dead ones have a log_i0 that is not a number.
float line_integral(const Job *job, const Tables *t, long first_pixel, int row, int column) {
  const float value = good_line_integral(job, t, first_pixel, row, column);
  if (job->dead_runs == 0 || !isnan(value)) return value;
  int low = 0, high = job->dead_runs - 1;  // the last run that begins at or before the pixel
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    const DeadRun run = t->dead[middle];
    if (run.row < row || (run.row == row && run.begin <= column))
      low = middle;
    else
      high = middle - 1;
  }
  const DeadRun run = t->dead[low];
  const float left = good_line_integral(job, t, first_pixel, row, run.begin > 0 ? run.begin - 1 : run.end);
  const float right = good_line_integral(job, t, first_pixel, row, run.end < job->columns ? run.end : run.begin - 1);
  return left + (right - left) * (float)(column - run.begin + 1) / (float)(run.end - run.begin + 1);
}

// Any place of the transform's period: the row, what continues it on both sides, zero between. Saturated pixels of rows
// that are counted are added to `saturated`.
float weighted_place(const Job *job, const Tables *t, const ViewWeight *w, int view_index, int row, int place,
                     uint *saturated) {
  float edge = 1.0f;
  const bool own = place < job->wide;
  if (!own) {
    if (place < job->wide + job->extension) {
      edge = t->edge[place - job->wide];
      place = job->wide - 1;
    } else if (place >= job->length - job->extension) {
      edge = t->edge[job->length - 1 - place];
      place = 0;
    } else {
      return 0.0f;
    }
  }
  const int column = place - job->before;
  if (row >= job->row1 || column < 0 || column >= job->columns) return 0.0f;
  const long first_pixel = view_index * job->view_pixels + (long)(row - job->row0) * job->columns;
  const float grey = grey_at(t->pixels, job->type, first_pixel + column);
  if (own && row >= job->counted_row0 && row < job->counted_row1 && grey >= job->saturation) ++*saturated;
  const float value = job->normalise ? line_integral(job, t, first_pixel, row, column) : grey;
  return edge * value * weight_of(job, w, row, column, t->partners);
}

// ---- transform

float2 times(float2 a, float2 b) { return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
// Times -i there, times i back.
float2 turned(float2 a, bool back) { return back ? (float2)(-a.y, a.x) : (float2)(a.y, -a.x); }

void transform(float2 *v, int radix, bool back) {
  if (radix == 2) {
    const float2 a = v[0], b = v[1];
    v[0] = a + b;
    v[1] = a - b;
  } else if (radix == 3) {
    const float2 sum = v[1] + v[2], side = turned(0.8660254037844386f * (v[1] - v[2]), back);
    const float2 middle = v[0] - 0.5f * sum;
    v[0] = v[0] + sum;
    v[1] = middle + side;
    v[2] = middle - side;
  } else {
    const float2 p = v[0] + v[2], q = v[0] - v[2], r = v[1] + v[3], t = turned(v[1] - v[3], back);
    v[0] = p + r;
    v[1] = q + t;
    v[2] = p - r;
    v[3] = q - t;
  }
}

// Butterflies first, first + stride, ... of a step: blocks of m = radix * apart points, `apart` a power of two.
// roots[i] = exp(-2 pi i / length), step = length / m. Called with a constant radix and direction: compilers
// unroll the loops over k then, and the points stay in registers.
#define DEFINE_STEP(NAME, SPACE)                                                                                    \
  void NAME(SPACE float2 *line, __global const float2 *restrict roots, int radix, int apart, int step,              \
                   int count, int first, int stride, bool back) {                                                   \
    const int digits = popcount(apart - 1);                                                                         \
    for (int t = first; t < count; t += stride) {                                                                   \
      const int j = t & (apart - 1);                                                                                \
      SPACE float2 *const at = line + (t >> digits) * (radix * apart) + j;                                          \
      float2 v[4];                                                                                                  \
      for (int k = 0; k < radix; ++k) {                                                                             \
        v[k] = at[k * apart];                                                                                       \
        if (back && k > 0) v[k] = times(v[k], roots[k * j * step] * (float2)(1.0f, -1.0f));                         \
      }                                                                                                             \
      transform(v, radix, back);                                                                                    \
      for (int k = 0; k < radix; ++k) {                                                                             \
        if (!back && k > 0) v[k] = times(v[k], roots[k * j * step]);                                                \
        at[k * apart] = v[k];                                                                                       \
      }                                                                                                             \
    }                                                                                                               \
  }                                                                                                                 \
  void NAME##_of(int radix, SPACE float2 *line, __global const float2 *restrict roots, int apart, int step,         \
                        int count, int first, int stride, bool back) {                                              \
    if (radix == 4)                                                                                                 \
      back ? NAME(line, roots, 4, apart, step, count, first, stride, true)                                          \
           : NAME(line, roots, 4, apart, step, count, first, stride, false);                                        \
    else if (radix == 2)                                                                                            \
      NAME(line, roots, 2, apart, step, count, first, stride, back);                                                \
    else                                                                                                            \
      NAME(line, roots, 3, apart, step, count, first, stride, back);                                                \
  }
DEFINE_STEP(local_step, __local)
DEFINE_STEP(global_step, __global)

// There, the response, and back, of the points in local memory: a step of 3 first where it divides them, then steps of
// 4, at last one of 2 where there are an odd number of twos. After the first step blocks are powers of two.
void filter_local(__local float2 *line, int points, int length, __global const float2 *restrict roots,
                  __global const float *restrict response) {
  const int item = get_local_id(0), items = get_local_size(0);
  int m = points;
  while (m > 1) {
    const int radix = m % 3 == 0 ? 3 : m % 4 == 0 ? 4 : 2;
    local_step_of(radix, line, roots, m / radix, length / m, points / radix, item, items, false);
    m /= radix;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = item; i < points; i += items) line[i] *= response[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  const int twos = points % 3 == 0 ? points / 3 : points;
  const bool odd = (popcount(twos - 1) & 1) != 0;
  while (m < points) {
    const int radix = m == 1 && odd ? 2 : points / m == 3 ? 3 : 4;
    local_step_of(radix, line, roots, m, length / (m * radix), points / radix, item, items, true);
    m *= radix;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

#define TABLES                                                                                                      \
  MEMORY_IN(pixels), MEMORY_IN(dark), MEMORY_IN(log_i0), MEMORY_IN(dead), MEMORY_IN(partners), MEMORY_IN(edge),     \
      MEMORY_IN(views), MEMORY(bad)
#define TAKE_TABLES                                                                                                 \
  const Tables tables = {POINTER_IN(uchar, pixels),                                                                 \
                         IS_NULL(dark) ? 0 : POINTER_IN(float, dark),                                               \
                         IS_NULL(log_i0) ? 0 : POINTER_IN(float, log_i0),                                           \
                         IS_NULL(dead) ? 0 : POINTER_IN(DeadRun, dead),                                             \
                         IS_NULL(partners) ? 0 : POINTER_IN(float2, partners),                                      \
                         IS_NULL(edge) ? 0 : POINTER_IN(float, edge)};                                              \
  const int view_number = job.first_view + view_index * job.view_step;                                              \
  const ViewWeight weight = POINTER_IN(ViewWeight, views)[view_number];                                             \
  uint saturated = 0;
#define COUNT_SATURATED                                                                                             \
  if (saturated > 0) atomic_add(POINTER(uint, bad) + 2 * view_number + 1, saturated);

// A group takes a pair of rows of one view through all of it.
__kernel void filter_rows(Job job, TABLES, MEMORY_IN(roots), MEMORY_IN(response), MEMORY(out), __local float2 *line) {
  const int item = get_local_id(0), items = get_local_size(0), view_index = get_group_id(0), row = job.row0 + 2 * (int)get_group_id(1);
  TAKE_TABLES
  for (int place = item; place < job.points; place += items)
    line[place] = (float2)(weighted_place(&job, &tables, &weight, view_index, row, place, &saturated),
                           weighted_place(&job, &tables, &weight, view_index, row + 1, place, &saturated));
  COUNT_SATURATED
  barrier(CLK_LOCAL_MEM_FENCE);
  filter_local(line, job.points, job.length, POINTER_IN(float2, roots), POINTER_IN(float, response));
  __global float *const to = POINTER(float, out) + (view_index * job.out_view + (row - job.row0) * job.out_row);
  for (int place = item; place < job.wide; place += items) {
    to[place] = line[place].x;
    if (row + 1 < job.row1) to[job.out_row + place] = line[place].y;
  }
}

// The same in pieces, for rows too long for local memory: pairs of rows of one view, from `pair0` on, in `lines`.
__kernel void prepare_lines(Job job, TABLES, MEMORY(lines), int view_index, int pair0) {
  const int place = get_global_id(0), row = job.row0 + 2 * (pair0 + (int)get_global_id(1));
  if (place >= job.length) return;
  TAKE_TABLES
  const float2 value = (float2)(weighted_place(&job, &tables, &weight, view_index, row, place, &saturated),
                                weighted_place(&job, &tables, &weight, view_index, row + 1, place, &saturated));
  COUNT_SATURATED
  POINTER(float2, lines)[(long)get_global_id(1) * job.length + place] = value;
}

// One step of all blocks of radix * apart points.
__kernel void outer_step(MEMORY(lines), MEMORY_IN(roots), int length, int radix, int apart, int back) {
  global_step_of(radix, POINTER(float2, lines) + (long)get_global_id(1) * length, POINTER_IN(float2, roots), apart,
                 length / (radix * apart), length / radix, get_global_id(0), get_global_size(0), back != 0);
}

__kernel void inner_steps(MEMORY(lines), MEMORY_IN(roots), MEMORY_IN(response), int length, int points,
                          __local float2 *line) {
  const int item = get_local_id(0), items = get_local_size(0), block = get_group_id(0) * points;
  __global float2 *const at = POINTER(float2, lines) + ((long)get_group_id(1) * length + block);
  for (int i = item; i < points; i += items) line[i] = at[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  filter_local(line, points, length, POINTER_IN(float2, roots), POINTER_IN(float, response) + block);
  for (int i = item; i < points; i += items) at[i] = line[i];
}

__kernel void keep_rows(Job job, MEMORY_IN(lines), MEMORY(out), int view_index, int pair0) {
  const int place = get_global_id(0), pair = pair0 + (int)get_global_id(1), row = job.row0 + 2 * pair;
  if (place >= job.wide) return;
  const float2 value = POINTER_IN(float2, lines)[(long)get_global_id(1) * job.length + place];
  __global float *const to = POINTER(float, out) + (view_index * job.out_view + 2 * pair * job.out_row + place);
  to[0] = value.x;
  if (row + 1 < job.row1) to[job.out_row] = value.y;
}

// Frames of floating-point pixels: counts what is not finite and replaces it by the mean of the nearest good pixels of
// the row, as preprocess/row_audit.h does. A group looks at a row; where something is wrong its first item walks along.
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void repair_rows(Job job, MEMORY(pixels), MEMORY(bad)) {
  __local uint wrong;
  const int view_index = get_group_id(0), row = job.row0 + (int)get_group_id(1);
  const long first = view_index * job.view_pixels + (long)(row - job.row0) * job.columns;
  __global uchar *const pixels = POINTER(uchar, pixels);
  if (get_local_id(0) == 0) wrong = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint own = 0;
  for (int i = get_local_id(0); i < job.columns; i += 64) own += isfinite(grey_at(pixels, job.type, first + i)) ? 0 : 1;
  if (own > 0) atomic_add(&wrong, own);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (get_local_id(0) != 0 || wrong == 0) return;
  if (row >= job.counted_row0 && row < job.counted_row1)
    atomic_add(POINTER(uint, bad) + 2 * (job.first_view + view_index * job.view_step), wrong);
  int right = 0;
  for (int i = 0; i < job.columns; ++i) {
    if (isfinite(grey_at(pixels, job.type, first + i))) continue;
    right = max(right, i + 1);
    while (right < job.columns && !isfinite(grey_at(pixels, job.type, first + right))) ++right;
    const float before = i > 0 ? grey_at(pixels, job.type, first + i - 1) : 0.0f;
    const float after = right < job.columns ? grey_at(pixels, job.type, first + right) : 0.0f;
    const float value = i > 0 && right < job.columns ? 0.5f * (before + after) : i > 0 ? before : after;
#ifdef DOUBLES
    if (job.type == F64) ((__global double *)pixels)[first + i] = value;
#endif
    if (job.type == F32) ((__global float *)pixels)[first + i] = value;
  }
}
