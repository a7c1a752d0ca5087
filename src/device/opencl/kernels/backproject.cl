// SPDX-License-Identifier: Apache-2.0
// Backprojection with any matrices: a work-item owns a column of SLICES voxels along z, sums it in registers over all
// views of the launch, and reads and writes the volume once (Feldkamp, Davis and Kress 1984; project/detector_point.h).
// Slices are counted from the start of a chunk that begins at a multiple of SLICES of the volume, and the sum starts
// from what the slab holds, view after view: however the work is cut, a voxel gets the same bits.
// Built for one BEAM, with or without GUARD (a voxel may lie beside or behind the source), and one of
//   EXACT    linear, fp32 weights, views in linear memory with zeros around each
//   IMAGE    linear, the sampler's weights, views as layers of an image
//   NEAREST, CUBIC  as project/interpolate.h has them, from linear memory
// UNWEIGHTED: plain sums of samples, a transpose of projections.
// TILE_X x TILE_Y work-items in a group.

typedef struct {
  float u[4], v[4], w[4];  // rows of the matrix, in voxel indices, times the root of the texels' scale
  float first_row;         // detector row that the store holds first
  int layer;               // of an image
  long pixels;             // in linear memory: floats before pixel (column 0, row first_row)
} View;

typedef struct {
  int nx, ny, z0, z1;
  int columns, detector_rows, band_rows, pitch;  // of the detector and of the store; floats from row to row
  int x0, y0, middle_z, column0, row0;           // what the matrices count from
  int chunk0;                                    // first chunk of the slab
  float gain;                                    // of parallel beams
} Slab;

float row_at(__constant const float *row, float x, float y, float z) {
  return fma(row[2], z, fma(row[1], y, fma(row[0], x, row[3])));
}

// Which views see the group's box of voxels at all. One that misses it is left out: its samples are zero, so no bit
// changes. n / w < bound means n - bound w < 0, which is affine: furthest from its value in the
// middle at a corner.
typedef struct {
  float x, y, z, half_x, half_y, half_z;
} Box;

// n - bound w: least and greatest in the box; a null w is one everywhere.
float2 range(__constant const float *n, __constant const float *w, float bound, Box box) {
  float row[4];
  for (int i = 0; i < 4; ++i) row[i] = fma(-bound, w ? w[i] : (i == 3 ? 1.0f : 0.0f), n[i]);
  const float middle = fma(row[2], box.z, fma(row[1], box.y, fma(row[0], box.x, row[3])));
  const float reach = fabs(row[0]) * box.half_x + fabs(row[1]) * box.half_y + fabs(row[2]) * box.half_z;
  return (float2)(middle - reach, middle + reach);
}

bool is_seen(__constant const View *view, const Slab *slab, Box box) {
  __constant const float *w = BEAM == PARALLEL ? 0 : view->w;
  __constant const float *v_w = BEAM == CONE ? w : 0;
  if (BEAM != PARALLEL && !(range(view->w, 0, 0.0f, box).x > 0.0f)) return true;
  // Half a pixel wider than what can be other than zero; cubic reaches one pixel further.
  const float margin = 2.5f;
  const float2 left = range(view->u, w, -margin - slab->column0, box);
  const float2 right = range(view->u, w, slab->columns - slab->column0 + margin - 1.0f, box);
  const float2 top = range(view->v, v_w, view->first_row - margin, box);
  const float2 bottom = range(view->v, v_w, view->first_row + slab->band_rows + margin - 1.0f, box);
  return !(left.y < 0.0f || right.x > 0.0f || top.y < 0.0f || bottom.x > 0.0f);
}

#ifdef EXACT
// Adding 1.5 x 2^23 rounds to a whole number, which then lies in the lowest bits: u - 1/2 rounded is the cell, up to
// whole u, which the fraction 0 of one cell or 1 of the one before gives alike.
// u and v come one half too small. Beyond the zeros around the view they are clamped onto them.
float sampled(__global const float *restrict pixels, int pitch, float u, float v, float4 bounds) {
  const float whole = 12582912.0f;
  u = fmin(fmax(u, bounds.x), bounds.y);
  v = fmin(fmax(v, bounds.z), bounds.w);
  const float tu = u + whole, tv = v + whole;
  const float fu = (u - (tu - whole)) + 0.5f, fv = (v - (tv - whole)) + 0.5f;
  __global const float *p = pixels + ((as_int(tv) - 0x4B400000) * pitch + (as_int(tu) - 0x4B400000));
  __global const float *q = p + pitch;
  const float p00 = p[0], p10 = p[1], p01 = q[0], p11 = q[1];
  const float above = fma(fu, p10 - p00, p00), below = fma(fu, p11 - p01, p01);
  return fma(fv, below - above, above);
}
#define SHIFT -0.5f
#endif

#ifdef IMAGE
__constant const sampler_t bilinear = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;
#define SHIFT 0.5f
#endif

#if defined(NEAREST) || defined(CUBIC)
#ifdef NEAREST
#define TAPS 1
#else
#define TAPS 4
#endif
// The first tap of x and the weights of all of them.
int first_tap(float x, float *weight) {
#ifdef NEAREST
  weight[0] = 1.0f;
  return (int)floor(x + 0.5f);
#else
  const float cell = floor(x), f = x - cell, h = 0.5f * f, g = 1.0f - f;
  weight[0] = -h * g * g;
  weight[1] = 1.0f + f * f * (1.5f * f - 2.5f);
  weight[2] = h * (1.0f + f * (4.0f - 3.0f * f));
  weight[3] = -h * f * g;
  return (int)cell - 1;
#endif
}
float sampled(__global const float *restrict pixels, const Slab *slab, int first_row, float u, float v) {
  if (!(u > -3.0f - slab->column0 && v > -3.0f - slab->row0 && u < slab->columns + 2.0f - slab->column0 &&
        v < slab->detector_rows + 2.0f - slab->row0))
    return 0.0f;
  float column_weight[TAPS], row_weight[TAPS];
  const int column0 = first_tap(u, column_weight) + slab->column0;
  const int row0 = first_tap(v, row_weight) + slab->row0 - first_row;
  float sum = 0.0f;
  for (int a = 0; a < TAPS; ++a) {
    const int column = column0 + a;
    if (column < 0 || column >= slab->columns) continue;
    float along = 0.0f;
    for (int b = 0; b < TAPS; ++b) {
      const int row = row0 + b;
      if (row >= 0 && row < slab->band_rows) along += row_weight[b] * pixels[row * slab->pitch + column];
    }
    sum += column_weight[a] * along;
  }
  return sum;
}
#define SHIFT 0.0f
#endif

// One step of Newton's method where weights are exact: devices' reciprocals are good to a unit or two.
float over(float w) {
  const float r = native_recip(w);
#ifdef IMAGE
  return r;
#else
  return fma(r, fma(-w, r, 1.0f), r);
#endif
}

__kernel __attribute__((reqd_work_group_size(TILE_X *TILE_Y, 1, 1))) void backproject(
    __constant const View *views, int count, Slab slab, MEMORY(sums),
#ifdef IMAGE
    __read_only image2d_array_t images
#else
    MEMORY_IN(pixels)
#endif
) {
  const int item = get_local_id(0);
#if TILE_X % 8 == 0 && TILE_Y % 4 == 0
  // 32 neighbouring work-items cover 8 x 4 columns in quads of 2 x 2: what they fetch together lies together.
  const int lane = item & 31, warp = item >> 5;
  const int in_x = warp % (TILE_X / 8) * 8 + ((lane & 1) | (lane >> 1 & 2) | (lane >> 2 & 4));
  const int in_y = warp / (TILE_X / 8) * 4 + ((lane >> 1 & 1) | (lane >> 2 & 2));
#else
  const int in_x = item % TILE_X, in_y = item / TILE_X;
#endif
  const int tile_x = get_group_id(0) * TILE_X, tile_y = get_group_id(1) * TILE_Y;
  const int x = tile_x + in_x, y = tile_y + in_y, z = (slab.chunk0 + (int)get_group_id(2)) * SLICES;

  __local uchar seen[VIEWS];
  const Box box = {tile_x - slab.x0 + 0.5f * (TILE_X - 1), tile_y - slab.y0 + 0.5f * (TILE_Y - 1),
                   z - slab.middle_z + 0.5f * (SLICES - 1), 0.5f * (TILE_X - 1), 0.5f * (TILE_Y - 1),
                   0.5f * (SLICES - 1)};
  for (int i = item; i < count; i += TILE_X * TILE_Y) seen[i] = is_seen(views + i, &slab, box);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (x >= slab.nx || y >= slab.ny) return;

  const long slice = (long)slab.nx * slab.ny;
  __global float *const column = POINTER(float, sums) + ((long)(z - slab.z0) * slice + (long)y * slab.nx + x);
  float sum[SLICES];
#pragma unroll
  for (int k = 0; k < SLICES; ++k) sum[k] = z + k >= slab.z0 && z + k < slab.z1 ? column[k * slice] : 0.0f;

  const float fx = x - slab.x0, fy = y - slab.y0, fz = z - slab.middle_z;
  for (int i = 0; i < count; ++i) {
    if (!seen[i]) continue;
    __constant const View *view = views + i;
    const float u0 = row_at(view->u, fx, fy, fz), v0 = row_at(view->v, fx, fy, fz), w0 = row_at(view->w, fx, fy, fz);
#ifndef IMAGE
    const int first_row = (int)view->first_row;
#endif
#ifdef EXACT
    const float4 bounds = (float4)(-1.5f - slab.column0, slab.columns - slab.column0 - 0.5f, view->first_row - 1.5f,
                                   view->first_row + slab.band_rows - 0.5f);
    // Columns and rows count from the middle, as u and v do.
    __global const float *restrict at =
        POINTER_IN(float, pixels) + (view->pixels + slab.column0 - (long)first_row * slab.pitch);
#endif
#pragma unroll
    for (int k = 0; k < SLICES; ++k) {
      float u = fma(view->u[2], (float)k, u0), v = fma(view->v[2], (float)k, v0), weight = slab.gain;
      const float w = fma(view->w[2], (float)k, w0);
      if (BEAM == PARALLEL) {
        u += SHIFT;
        v += SHIFT;
      } else {
        const float r = over(w);
        u = fma(u, r, SHIFT);
        v = BEAM == FAN ? v + SHIFT : fma(v, r, SHIFT);
#ifdef UNWEIGHTED
        weight = 1.0f;
#else
        weight = r * r;
#endif
      }
#ifdef EXACT
      float value = sampled(at, slab.pitch, u, v, bounds);
#elif defined(IMAGE)
      float value = read_imagef(images, bilinear, (float4)(u, v - view->first_row, view->layer, 0.0f)).x;
#else
      float value = sampled(POINTER_IN(float, pixels) + view->pixels, &slab, first_row + slab.row0, u, v);
#endif
#ifdef GUARD
      if (!(w > 0.0f)) value = weight = 0.0f;
#endif
      sum[k] = fma(value, weight, sum[k]);
    }
  }
#pragma unroll
  for (int k = 0; k < SLICES; ++k)
    if (z + k >= slab.z0 && z + k < slab.z1) column[k * slice] = sum[k];
}
