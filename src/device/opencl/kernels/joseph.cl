// SPDX-License-Identifier: Apache-2.0
// Joseph's method (project/joseph.h): in each plane of voxels one sample, linear between the four around it. With IMAGE
// the sampler weighs in A; the transpose always has fp32 weights.

typedef struct {
  int axis, first, last;
  float way_mm, a0, da, b0, db;
} Pixel;

Pixel pixel_of(__global const View *view, const Piece *piece, double u, double v) {
  const MainAxisRay ray = main_axis_ray(view, u, v);
  double first = -piece->middle[ray.axis], last = piece->size[ray.axis] - piece->middle[ray.axis];
  cut_at_source(&ray, &first, &last);
  clip_to_grid(&ray, piece, 1, 1, &first, &last);
  if (!(first < last)) first = last = 0;  // also where a number is not one
  const Pixel pixel = {ray.axis,           (int)first,         (int)last,          (float)ray.way_mm,
                       (float)ray.line.a0, (float)ray.line.da, (float)ray.line.b0, (float)ray.line.db};
  return pixel;
}

float a_at(const Pixel *ray, int i) { return fma((float)i, ray->da, ray->a0); }
float b_at(const Pixel *ray, int i) { return fma((float)i, ray->db, ray->b0); }

float nearness(float distance) { return fmax(1.0f - fabs(distance), 0.0f); }
float weight_of(const Pixel *ray, int i, int j, int k) {
  return nearness(a_at(ray, i) - (float)j) * nearness(b_at(ray, i) - (float)k);
}

#ifdef IMAGE
__constant const sampler_t bilinear = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;

// A sampler may weigh with 8 bits: rounding b to them beforehand makes the place of a sample within a slab exact,
// wherever the slab begins. Adding and taking away 1.5 x 2^23 rounds to a whole number.
float layer_sum(const Pixel *ray, int i, __read_only image2d_array_t layers, float4 shift) {
  const float b = (fma(b_at(ray, i), 256.0f, 12582912.0f) - 12582912.0f) * (1.0f / 256.0f);
  return read_imagef(layers, bilinear, (float4)(a_at(ray, i), b, (float)i, 0.0f) + shift).x;
}
#else
float voxel_at(Plane plane, int j, int k) {
  return j >= plane.a0 && j < plane.a1 && k >= plane.b0 && k < plane.b1 ? plane.middle[k * plane.row + j] : 0.0f;
}

float layer_sum(const Pixel *ray, int i, Plane plane) {
  const float a = a_at(ray, i), b = b_at(ray, i), cell_a = floor(a), cell_b = floor(b);
  const float fa = a - cell_a, fb = b - cell_b;
  const int j = (int)cell_a, k = (int)cell_b;
  float p00, p10, p01, p11;
  if (j >= plane.a0 && j + 1 < plane.a1 && k >= plane.b0 && k + 1 < plane.b1) {
    __global const float *const p = plane.middle + (k * plane.row + j);
    p00 = p[0], p10 = p[1], p01 = p[plane.row], p11 = p[plane.row + 1];
  } else {
    p00 = voxel_at(plane, j, k), p10 = voxel_at(plane, j + 1, k);
    p01 = voxel_at(plane, j, k + 1), p11 = voxel_at(plane, j + 1, k + 1);
  }
  const float low = fma(fa, p10 - p00, p00), high = fma(fa, p11 - p01, p01);
  return fma(fb, high - low, low);
}
#endif

// How far from a voxel's centre rays pass its plane at most that have to do with it.
float2 reach_of(float2 slope, float2 column_step, float2 row_step) { return (float2)(1.0f, 1.0f); }
