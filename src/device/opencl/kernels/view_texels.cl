// SPDX-License-Identifier: Apache-2.0
// Filtered rows, [view][row][column], to where the backprojection reads them: layers of an image, or linear memory with
// zeros around each view.
// first_row[i]: the detector row that slot i holds first.

typedef struct {
  long row_stride, view_stride, slot_stride;  // of the source; of the store in linear memory
  int columns, held_rows, pitch;
  int row0, first_layer;
  float factor;
} Rows;

float stored(Rows r, __global const float *from, int column, int row) {
  return r.factor * from[get_global_id(2) * r.view_stride + (row - r.row0) * r.row_stride + column];
}

__kernel void store_rows(Rows r, MEMORY_IN(source), MEMORY_IN(first_row), MEMORY(pixels)) {
  const int column = get_global_id(0), row = r.row0 + (int)get_global_id(1);
  const int held = row - POINTER_IN(int, first_row)[get_global_id(2)];
  if (column >= r.columns || held < 0 || held >= r.held_rows) return;
  POINTER(float, pixels)[get_global_id(2) * r.slot_stride + (long)held * r.pitch + column] =
      stored(r, POINTER_IN(float, source), column, row);
}

__kernel void store_layers(Rows r, MEMORY_IN(source), MEMORY_IN(first_row), __write_only image2d_array_t images) {
  const int column = get_global_id(0), row = r.row0 + (int)get_global_id(1);
  const int held = row - POINTER_IN(int, first_row)[get_global_id(2)];
  if (column >= r.columns || held < 0 || held >= r.held_rows) return;
  // What is too large for fp16 is clipped; as fp32 it stays as it is. Images may be written by cutting off digits, which
  // makes every value smaller: it is rounded to fp16 before.
  const float value = stored(r, POINTER_IN(float, source), column, row);
#ifdef HALF
  ushort bits;
  vstore_half_rte(clamp(value, -65504.0f, 65504.0f), 0, (half *)&bits);
  const float kept = vload_half(0, (const half *)&bits);
#else
  const float kept = value;
#endif
  write_imagef(images, (int4)(column, held, r.first_layer + (int)get_global_id(2), 0), (float4)(kept, 0, 0, 0));
}

// Zero outside the circle: in line y the voxels [inside[y].x, inside[y].y) lie within it.
__kernel void mask_outside(MEMORY(slab), MEMORY_IN(inside), int nx, int ny) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= nx) return;
  const int2 within = POINTER_IN(int2, inside)[y];
  if (x >= within.x && x < within.y) return;
  POINTER(float, slab)[((long)get_global_id(2) * ny + y) * nx + x] = 0.0f;
}

__kernel void gather_voxels(MEMORY_IN(slices), MEMORY(voxels), int nx, int ny, int x0, int y0, int width, int height) {
  const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  if (x >= width) return;
  POINTER(float, voxels)[((long)z * height + y) * width + x] =
      POINTER_IN(float, slices)[((long)z * ny + y0 + y) * nx + x0 + x];
}
