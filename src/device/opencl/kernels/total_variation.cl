// SPDX-License-Identifier: Apache-2.0
// What total variation needs of a volume [z][y][x], one work-item per voxel: forward differences (zero at the last
// voxel of an axis), the negative of their transpose, and the steps of the proximal map by its dual.

typedef struct {
  long nx, ny, nz;
} Shape;

#define EACH_VOXEL                                                                      \
  const long ix = get_global_id(0), iy = get_global_id(1), iz = get_global_id(2);       \
  if (ix >= shape.nx) return;                                                           \
  const long row = shape.nx, slice = shape.nx * shape.ny, at = iz * slice + iy * row + ix;

#define FIELD(name) MEMORY(name##_x), MEMORY(name##_y), MEMORY(name##_z)

// What lies at an axis' last voxel does not count.
float divergence_at(Shape shape, long ix, long iy, long iz, long at, __global const float *x, __global const float *y,
                    __global const float *z) {
  const long row = shape.nx, slice = shape.nx * shape.ny;
  float sum = (ix + 1 < shape.nx ? x[at] : 0.0f) - (ix > 0 ? x[at - 1] : 0.0f);
  sum += (iy + 1 < shape.ny ? y[at] : 0.0f) - (iy > 0 ? y[at - row] : 0.0f);
  sum += (iz + 1 < shape.nz ? z[at] : 0.0f) - (iz > 0 ? z[at - slice] : 0.0f);
  return sum;
}

#define DIVERGENCE(name)                                                                                   \
  divergence_at(shape, ix, iy, iz, at, POINTER_IN(float, name##_x), POINTER_IN(float, name##_y),           \
                POINTER_IN(float, name##_z))

__kernel void gradient(Shape shape, MEMORY(volume), FIELD(out)) {
  EACH_VOXEL
  __global const float *const v = POINTER_IN(float, volume) + at;
  POINTER(float, out_x)[at] = ix + 1 < shape.nx ? v[1] - v[0] : 0.0f;
  POINTER(float, out_y)[at] = iy + 1 < shape.ny ? v[row] - v[0] : 0.0f;
  POINTER(float, out_z)[at] = iz + 1 < shape.nz ? v[slice] - v[0] : 0.0f;
}

__kernel void divergence(Shape shape, FIELD(in), MEMORY(volume)) {
  EACH_VOXEL
  POINTER(float, volume)[at] = DIVERGENCE(in);
}

// The volume moved along the divergence, within the bounds; a NaN stays one.
__kernel void move_and_clamp(Shape shape, MEMORY(volume), float strength, FIELD(field), float low, float high,
                             MEMORY(out)) {
  EACH_VOXEL
  const float moved = POINTER_IN(float, volume)[at] + strength * DIVERGENCE(field);
  POINTER(float, out)[at] = moved < low ? low : moved > high ? high : moved;
}

// One step of the dual fast gradient method from `ahead`, the dual with momentum; `moved` is the volume there.
__kernel void dual_step(Shape shape, MEMORY(moved), float rise, float momentum, FIELD(ahead), FIELD(dual)) {
  EACH_VOXEL
  __global const float *const v = POINTER_IN(float, moved) + at;
  __global float *const r[3] = {POINTER(float, ahead_x) + at, POINTER(float, ahead_y) + at,
                                POINTER(float, ahead_z) + at};
  __global float *const d[3] = {POINTER(float, dual_x) + at, POINTER(float, dual_y) + at, POINTER(float, dual_z) + at};
  const float change[3] = {ix + 1 < shape.nx ? v[1] - v[0] : 0.0f, iy + 1 < shape.ny ? v[row] - v[0] : 0.0f,
                           iz + 1 < shape.nz ? v[slice] - v[0] : 0.0f};
  float next[3];
  for (int k = 0; k < 3; ++k) next[k] = *r[k] + rise * change[k];
  const float length = sqrt(next[0] * next[0] + next[1] * next[1] + next[2] * next[2]);
  const float factor = length > 1.0f ? 1.0f / length : 1.0f;
  for (int k = 0; k < 3; ++k) {
    next[k] *= factor;
    *r[k] = next[k] + momentum * (next[k] - *d[k]);
    *d[k] = next[k];
  }
}
