// SPDX-License-Identifier: Apache-2.0
// Joseph's method, one work-item per ray (project/joseph.h, whose formulas these are): along the axis that the ray
// crosses fastest one sample in each plane of voxels. What is set up once per ray is in double precision, as everywhere:
// all devices agree on axis, planes and samples. With IMAGE the sampler weighs, else the kernel does, from lines of
// voxels with zeros around them. The sum runs with growing z, from what is there on, so that slabs can be summed one
// after another.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

typedef struct {
  double point[3][3], direction[3][3], nearest, step_mm[3], upright_rows[6];
} View;

typedef struct {
  int size[3], middle[3];
  int first, cell0, cell1;        // the slab's first slice, and cells of samples along z, from slice 0
  int views, columns, rows, onto;
  long at[3], plane[3], row[3];   // of lines: the middle voxel, from plane to plane, from line to line
} Slab;

typedef struct {
  int axis, first, last;
  float a0, da, b0, db, way_mm;
} Ray;

// Cuts [first, last) to where least < c0 + i dc < greatest, and up to one plane more on each side.
void clip_planes(double c0, double dc, double least, double greatest, double *first, double *last) {
  if (dc == 0) {
    if (!(c0 > least && c0 < greatest)) *last = *first;
    return;
  }
  const double p = (least - c0) / dc, q = (greatest - c0) / dc;
  const double low = floor(dc > 0 ? p : q), high = ceil(dc > 0 ? q : p) + 1;
  if (low > *first) *first = low;
  if (high < *last) *last = high;
}

Ray ray_of(__constant const View *view, const Slab *slab, double u, double v) {
  double p[3], d[3];
  for (int k = 0; k < 3; ++k) {
    p[k] = view->point[k][0] + u * view->point[k][1] + v * view->point[k][2];
    d[k] = view->direction[k][0] + u * view->direction[k][1] + v * view->direction[k][2];
  }
  const double ahead = 1 + 1e-9;  // rays at exactly 45 degrees are not left to rounding
  const double x = fabs(d[0]), y = fabs(d[1]), z = fabs(d[2]);
  int axis = y > ahead * x ? 1 : 0;
  if (z > ahead * (axis == 1 ? y : x)) axis = 2;
  const int a = axis == 0 ? 1 : 0, b = axis == 2 ? 1 : 2;
  const double over = 1 / d[axis], da = d[a] * over, db = d[b] * over;
  const double a0 = p[a] - p[axis] * da, b0 = p[b] - p[axis] * db;
  double way = 0;
  for (int k = 0; k < 3; ++k) way += d[k] * view->step_mm[k] * d[k] * view->step_mm[k];

  double first = -slab->middle[axis], last = slab->size[axis] - slab->middle[axis];
  const double source = p[axis] + view->nearest * d[axis];  // planes behind it are not crossed
  if (d[axis] > 0 && source >= first) first = floor(source) + 1;
  if (d[axis] < 0 && source <= last - 1) last = ceil(source);
  clip_planes(a0, da, -1 - slab->middle[a], slab->size[a] - slab->middle[a], &first, &last);
  clip_planes(b0, db, -1 - slab->middle[b], slab->size[b] - slab->middle[b], &first, &last);
  if (!(first < last)) first = last = 0;  // also where a number is not one
  const Ray ray = {axis, (int)first, (int)last, (float)a0, (float)da, (float)b0, (float)db,
                   (float)(sqrt(way) * fabs(over))};
  return ray;
}

// Where the sample of a plane lies along b, which is z where the planes stand on x or y. A sampler may weigh with 8 bits:
// rounding z to them beforehand makes the place of a sample within a slab exact, wherever the slab begins.
float b_at(const Ray *ray, float plane) {
  const float b = fma(plane, ray->db, ray->b0);
#ifdef IMAGE
  return (fma(b, 256.0f, 12582912.0f) - 12582912.0f) * (1.0f / 256.0f);
#else
  return b;
#endif
}

#ifdef IMAGE
__constant const sampler_t bilinear = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;

float sum_of_layers(float sum, __read_only image2d_array_t layers, const Ray *ray, float to_a, float to_b, int shift,
                    int start, int count, int direction) {
  for (int k = 0; k < count; ++k) {
    const int at = start + k * direction;
    const float a = fma((float)at, ray->da, ray->a0), b = b_at(ray, (float)at);
    sum = fma(read_imagef(layers, bilinear, (float4)(a + to_a, b + to_b, (float)(at + shift), 0.0f)).x, ray->way_mm, sum);
  }
  return sum;
}
#else
float sum_of_lines(float sum, __global const float *restrict middle, const Ray *ray, long plane, long row, int start,
                   int count, int direction) {
  for (int k = 0; k < count; ++k) {
    const int at = start + k * direction;
    const float a = fma((float)at, ray->da, ray->a0), b = b_at(ray, (float)at);
    const float cell_a = floor(a), cell_b = floor(b), fa = a - cell_a, fb = b - cell_b;
    __global const float *const p = middle + (at * plane + (int)cell_b * row + (int)cell_a);
    const float p00 = p[0], p10 = p[1], p01 = p[row], p11 = p[row + 1];
    const float low = fma(fa, p10 - p00, p00), high = fma(fa, p11 - p01, p01);
    sum = fma(fma(fb, high - low, low), ray->way_mm, sum);
  }
  return sum;
}
#endif

__kernel void project_rays(__constant const View *views, Slab slab, MEMORY(sums),
#ifdef IMAGE
                           __read_only image2d_array_t on_x, __read_only image2d_array_t on_y,
                           __read_only image2d_array_t on_z
#else
                           MEMORY_IN(turned), MEMORY_IN(straight)
#endif
) {
  const int u = get_global_id(0), v = get_global_id(1), view = get_global_id(2);
  if (u >= slab.columns || v >= slab.rows) return;
  const Ray ray = ray_of(views + view, &slab, u, v);
  // All planes of the ray with samples in the slab's cells, in the order of growing z.
  const int cell0 = slab.cell0 - slab.middle[2], cell1 = slab.cell1 - slab.middle[2];
  int start = ray.first, count = ray.last - ray.first, direction = 1;
  if (ray.axis == 2) {
    start = max(ray.first, cell0);
    count = max(min(ray.last, cell1) - start, 0);
  } else {
    double low = ray.first, high = ray.last;
    clip_planes(ray.b0, ray.db, cell0 - 0.01, cell1 + 0.01, &low, &high);
    const int first = (int)low, last = (int)high;
    count = low < high ? last - first : 0;
    direction = ray.db < 0 ? -1 : 1;
    start = direction < 0 ? last - 1 : first;
    // The cells decide by the coordinate that the sample is taken at.
    for (; count > 0; --count, start += direction) {
      const float z = b_at(&ray, (float)start);
      if (z >= cell0 && z < cell1) break;
    }
    for (; count > 0; --count) {
      const float z = b_at(&ray, (float)(start + (count - 1) * direction));
      if (z >= cell0 && z < cell1) break;
    }
  }
  __global float *const pixel = POINTER(float, sums) + ((long)view * slab.rows + v) * slab.columns + u;
  const float before = slab.onto ? *pixel : 0.0f;
#ifdef IMAGE
  const int to_z = slab.middle[2] - slab.first;
  const float half_pixel = 0.5f;
  if (ray.axis == 0)
    *pixel = sum_of_layers(before, on_x, &ray, slab.middle[1] + half_pixel, to_z + half_pixel, slab.middle[0], start,
                           count, direction);
  else if (ray.axis == 1)
    *pixel = sum_of_layers(before, on_y, &ray, slab.middle[0] + half_pixel, to_z + half_pixel, slab.middle[1], start,
                           count, direction);
  else
    *pixel = sum_of_layers(before, on_z, &ray, slab.middle[0] + half_pixel, slab.middle[1] + half_pixel, to_z, start,
                           count, direction);
#else
  __global const float *const lines = ray.axis == 0 ? POINTER_IN(float, turned) : POINTER_IN(float, straight);
  *pixel = sum_of_lines(before, lines + slab.at[ray.axis], &ray, slab.plane[ray.axis], slab.row[ray.axis], start, count,
                        direction);
#endif
}

// Slices [z][y][x] to lines of voxels, along x or (turned) along y, and to layers on one axis.
__kernel void store_lines(MEMORY_IN(slices), MEMORY(lines), int nx, int ny, int turned, long origin, long pitch,
                          long slice) {
  const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  if (x >= nx) return;
  POINTER(float, lines)[origin + z * slice + (turned ? x * pitch + y : y * pitch + x)] =
      POINTER_IN(float, slices)[((long)z * ny + y) * nx + x];
}

__kernel void store_planes(MEMORY_IN(slices), __write_only image2d_array_t layers, int nx, int ny, int axis, int z0) {
  const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2), at = z0 + z;
  if (x >= nx) return;
  const float voxel = POINTER_IN(float, slices)[((long)z * ny + y) * nx + x];
  const int4 place = axis == 0 ? (int4)(y, at, x, 0) : axis == 1 ? (int4)(x, at, y, 0) : (int4)(x, y, at, 0);
  write_imagef(layers, place, (float4)(voxel, 0, 0, 0));
}
