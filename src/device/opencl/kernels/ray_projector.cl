// SPDX-License-Identifier: Apache-2.0
// A and A' of the ray model before it. A: one work-item per pixel, layer by layer of voxels along the ray's main axis.
// A': one per voxel, which gathers from every view the pixels that can see it. Both ask the model for weights, of the
// same Pixel. Rays and voxels are summed in an order of their own: no cut of the work changes a bit.

typedef struct {
  float matrix[3][4];  // voxel, from the grid's middle, to (u w, v w, w), pixels from the detector's middle
  float slope[3][2];   // of rays along each axis: by how much they change at most on a and b from plane to plane
  int axes;            // bit k: some rays run along axis k
} SeenBy;

// Slices [z][y][x] with x and y exchanged: what rays along x read then lies side by side.
__kernel void turn_slices(Piece piece, MEMORY_IN(slices), MEMORY(turned)) {
  const int y = get_global_id(0), x = get_global_id(1), z = get_global_id(2);
  if (y >= piece.size[1]) return;
  POINTER(float, turned)[((long)z * piece.size[0] + x) * piece.size[1] + y] =
      POINTER_IN(float, slices)[((long)z * piece.size[1] + y) * piece.size[0] + x];
}

#ifdef IMAGE
// Slices to layers of an image on one axis; zeros where it has more of them.
__kernel void store_layers(Piece piece, MEMORY_IN(slices), __write_only image2d_array_t layers, int axis) {
  const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  if (x >= piece.size[0]) return;
  const float voxel = z < piece.z1 - piece.z0
                          ? POINTER_IN(float, slices)[((long)z * piece.size[1] + y) * piece.size[0] + x]
                          : 0.0f;
  const int4 place = axis == 0 ? (int4)(y, z, x, 0) : axis == 1 ? (int4)(x, z, y, 0) : (int4)(x, y, z, 0);
  write_imagef(layers, place, (float4)(voxel, 0, 0, 0));
}
#define VOLUME __read_only image2d_array_t on_x, __read_only image2d_array_t on_y, __read_only image2d_array_t on_z
#define SUM_LAYERS(layers) \
  for (int i = first; i < last; ++i) sum += layer_sum(&ray, i, layers, shift);
#else
#define VOLUME MEMORY_IN(straight), MEMORY_IN(turned)

// Plane i of an axis.
Plane plane_of(const Piece *piece, int axis, int i, __global const float *straight, __global const float *turned) {
  const long nx = piece->size[0], ny = piece->size[1], slice = nx * ny;
  const int a = axis_a(axis), b = axis_b(axis), z = piece->middle[2] - piece->z0;
  Plane p;
  p.a0 = -piece->middle[a], p.a1 = piece->size[a] - piece->middle[a];
  p.b0 = b == 2 ? -z : -piece->middle[b], p.b1 = b == 2 ? piece->z1 - piece->middle[2] : piece->size[b] - piece->middle[b];
  p.row = axis == 2 ? nx : slice;
  if (axis == 0)
    p.middle = turned + (z * slice + (i + piece->middle[0]) * ny + piece->middle[1]);
  else if (axis == 1)
    p.middle = straight + (z * slice + (i + piece->middle[1]) * nx + piece->middle[0]);
  else
    p.middle = straight + ((i + z) * slice + piece->middle[1] * nx + piece->middle[0]);
  return p;
}
#endif

__kernel void project(Piece piece, MEMORY_IN(views), MEMORY(sums), VOLUME) {
  const int u = get_global_id(0), row = get_global_id(1), view = get_global_id(2);
  if (u >= piece.columns || row >= piece.rows) return;
  const Pixel ray = pixel_of(POINTER_IN(View, views) + piece.first_view + view, &piece, u, piece.first_row + row);
  int first = ray.first, last = ray.last;
  if (ray.axis == 2) {
    first = max(first, piece.z0 - piece.middle[2]);
    last = min(last, piece.z1 - piece.middle[2]);
  }
  float sum = 0.0f;
#ifdef IMAGE
  const float z = piece.middle[2] - piece.z0;
  const float4 shift = ray.axis == 0   ? (float4)(piece.middle[1] + 0.5f, z + 0.5f, piece.middle[0], 0.0f)
                       : ray.axis == 1 ? (float4)(piece.middle[0] + 0.5f, z + 0.5f, piece.middle[1], 0.0f)
                                       : (float4)(piece.middle[0] + 0.5f, piece.middle[1] + 0.5f, z, 0.0f);
  if (ray.axis == 0)
    SUM_LAYERS(on_x)
  else if (ray.axis == 1)
    SUM_LAYERS(on_y)
  else
    SUM_LAYERS(on_z)
#else
  Plane plane = plane_of(&piece, ray.axis, first, POINTER_IN(float, straight), POINTER_IN(float, turned));
  const long step = ray.axis == 0 ? piece.size[1] : ray.axis == 1 ? piece.size[0] : (long)piece.size[0] * piece.size[1];
  for (int i = first; i < last; ++i, plane.middle += step) sum += layer_sum(&ray, i, plane);
#endif
  POINTER(float, sums)[((long)view * piece.rows + row) * piece.columns + u] = sum * ray.way_mm;
}

#ifndef IMAGE
// The rays of all pixels, their way times what the pixel measured: what A' gathers from.
__kernel void measured_rays(Piece piece, MEMORY_IN(views), MEMORY_IN(values), MEMORY(pixels)) {
  const int u = get_global_id(0), row = get_global_id(1), view = get_global_id(2);
  if (u >= piece.columns) return;
  const long at = ((long)view * piece.rows + row) * piece.columns + u;
  Pixel pixel = pixel_of(POINTER_IN(View, views) + piece.first_view + view, &piece, u, piece.first_row + row);
  pixel.way_mm *= POINTER_IN(float, values)[at];
  POINTER(Pixel, pixels)[at] = pixel;
}

float row_at(__global const float *row, const float *p) {
  return fma(row[2], p[2], fma(row[1], p[1], fma(row[0], p[0], row[3])));
}

// Columns [x, y) and rows [z, w) of the piece that can see the voxel p, by rays along an axis: those whose rays pass its
// plane within the model's reach, as the corners of that rectangle are seen. Where a part of it lies beside or behind
// the source, any pixel.
int4 seen_box(const Piece *piece, __global const SeenBy *seen, int axis, const float *p) {
  const int4 nowhere = (int4)(0), everywhere = (int4)(0, piece->columns, 0, piece->rows);
  const float in_front = 0.01f;  // of the way from source to axis: nearer, a float has too few digits
  const int a = axis_a(axis), b = axis_b(axis);
  __global const float *const m_u = seen->matrix[0], *const m_v = seen->matrix[1], *const m_w = seen->matrix[2];
  const float w = BEAM == PARALLEL ? 1.0f : row_at(m_w, p);
  float2 column_step = 0.0f, row_step = 0.0f;
#ifdef FOOTPRINT
  if (w > in_front) {
    // How far a step by a column or a row moves a ray on the plane: the inverse of what (a, b) moves (u, v) by.
    const float over = 1.0f / w, u = row_at(m_u, p) * over, v = BEAM == FAN ? 0.0f : row_at(m_v, p) * over;
    const float u_a = (m_u[a] - u * m_w[a]) * over, u_b = (m_u[b] - u * m_w[b]) * over;
    const float v_over = BEAM == FAN ? 1.0f : over;
    const float v_a = (m_v[a] - v * m_w[a]) * v_over, v_b = (m_v[b] - v * m_w[b]) * v_over;
    const float per_area = 1.0f / (u_a * v_b - u_b * v_a);
    column_step = (float2)(v_b, -v_a) * per_area;
    row_step = (float2)(-u_b, u_a) * per_area;
  }
#endif
  float2 reach = reach_of((float2)(seen->slope[axis][0], seen->slope[axis][1]), column_step, row_step);
#ifdef FOOTPRINT
  // Steps change with w over the rectangle; at the source there are none.
  const bool at_source = !(w > in_front);
  const float varies = BEAM == PARALLEL || at_source ? 0.0f : (reach.x * fabs(m_w[a]) + reach.y * fabs(m_w[b])) / w;
  reach = at_source ? reach + 1.0f : reach * (1.0f + 2.0f * varies);
#endif
  float low_u = INFINITY, high_u = -INFINITY, low_v = INFINITY, high_v = -INFINITY;
  int behind = 0, beside = 0;
  for (int corner = 0; corner < 4; ++corner) {
    float q[3] = {p[0], p[1], p[2]};
    q[a] += corner & 1 ? reach.x : -reach.x;
    q[b] += corner & 2 ? reach.y : -reach.y;
    const float at_w = BEAM == PARALLEL ? 1.0f : row_at(m_w, q);
    if (at_w < -in_front) ++behind;
    if (!(at_w > in_front)) {
      ++beside;
      continue;
    }
    const float u = row_at(m_u, q) / at_w, v = BEAM == FAN ? row_at(m_v, q) : row_at(m_v, q) / at_w;
    low_u = fmin(low_u, u), high_u = fmax(high_u, u);
    low_v = fmin(low_v, v), high_v = fmax(high_v, v);
  }
  if (behind == 4) return nowhere;
  if (beside > 0) return everywhere;
#ifdef FOOTPRINT
  if (!(varies < 0.25f)) return everywhere;
#endif
  const float rounding = 0.1f;  // of a pixel: far more than coordinates of some thousand are off by
  const float u0 = piece->middle_column, v0 = piece->middle_row - piece->first_row;
  return (int4)((int)ceil(fmax(low_u + u0 - rounding, 0.0f)),
                (int)floor(fmin(high_u + u0 + rounding, piece->columns - 1.0f)) + 1,
                (int)ceil(fmax(low_v + v0 - rounding, 0.0f)),
                (int)floor(fmin(high_v + v0 + rounding, piece->rows - 1.0f)) + 1);
}

__kernel void gather(Piece piece, MEMORY_IN(seen_by), MEMORY_IN(pixels), MEMORY(voxels)) {
  const int x = get_global_id(0), y = get_global_id(1), z = piece.z0 + (int)get_global_id(2);
  if (x >= piece.size[0] || y >= piece.size[1]) return;
  __global float *const voxel =
      POINTER(float, voxels) + (((long)get_global_id(2) * piece.size[1] + y) * piece.size[0] + x);
  const int at[3] = {x - piece.middle[0], y - piece.middle[1], z - piece.middle[2]};
  const float p[3] = {at[0], at[1], at[2]};
  float total = *voxel;
  for (int view = 0; view < piece.views; ++view) {
    __global const SeenBy *const seen = POINTER_IN(SeenBy, seen_by) + piece.first_view + view;
    __global const Pixel *const rays = POINTER_IN(Pixel, pixels) + (long)view * piece.rows * piece.columns;
    float sum = 0.0f;
    for (int axis = 0; axis < 3; ++axis) {
      if (!(seen->axes >> axis & 1)) continue;
      const int i = at[axis], j = at[axis_a(axis)], k = at[axis_b(axis)];
      const int4 box = seen_box(&piece, seen, axis, p);
      for (int row = box.z; row < box.w; ++row)
        for (int column = box.x; column < box.y; ++column) {
          const Pixel ray = rays[(long)row * piece.columns + column];
          if (ray.axis == axis && i >= ray.first && i < ray.last && ray.way_mm != 0.0f)
            sum = fma(weight_of(&ray, i, j, k), ray.way_mm, sum);
        }
    }
    total += sum;
  }
  *voxel = total;
}
#endif
