// SPDX-License-Identifier: Apache-2.0
// Bands of rows of all views, [row][view][column]: recorded pixels become grey levels or line integrals, and grey levels
// line integrals. A work-item has a pixel of the detector and goes through views.

enum { COUNTS_TO_GREY, COUNTS_TO_LINE, LINE_TO_GREY, AS_IT_IS };  // BandStage
enum { U8, I8, U16, I16, U32, I32, F32 };                         // PixelType

#define LOWEST_LINE -20.7f  // project/grey_levels.h

typedef struct {
  long columns, views, rows, first_row;
  int type, to;
  float log_i0_everywhere, clip, lowest_of_lines;
} Band;

float pixel_value(__global const uchar *pixels, int type, long at) {
  switch (type) {
    case U8: return pixels[at];
    case I8: return ((__global const char *)pixels)[at];
    case U16: return ((__global const ushort *)pixels)[at];
    case I16: return ((__global const short *)pixels)[at];
    case U32: return ((__global const uint *)pixels)[at];
    case I32: return ((__global const int *)pixels)[at];
    default: return ((__global const float *)pixels)[at];
  }
}

__kernel void to_stage(Band b, MEMORY_IN(recorded), MEMORY(band), MEMORY_IN(dark), MEMORY_IN(log_i0)) {
  const long x = get_global_id(0), row = get_global_id(1), view = get_global_id(2);
  if (x >= b.columns) return;
  const long pixel = (b.first_row + row) * b.columns + x;
  const float above = IS_NULL(dark) ? 0.0f : POINTER_IN(float, dark)[pixel];
  const float open = IS_NULL(log_i0) ? b.log_i0_everywhere : POINTER_IN(float, log_i0)[pixel];
  float value = pixel_value(POINTER_IN(uchar, recorded), b.type, (view * b.rows + row) * b.columns + x);
  if (b.to == COUNTS_TO_GREY) value = fmax(value - above, b.clip) * exp(-open);
  if (b.to == COUNTS_TO_LINE) value = open - log(fmax(value - above, b.clip));
  if (b.to == LINE_TO_GREY) value = exp(-(value < LOWEST_LINE ? LOWEST_LINE : value));
  POINTER(float, band)[(row * b.views + view) * b.columns + x] = value;
}

// p = -ln max(g, lowest)
__kernel void take_logarithm(Band b, MEMORY(band), MEMORY_IN(log_i0)) {
  const long x = get_global_id(0), row = get_global_id(1), view = get_global_id(2);
  if (x >= b.columns) return;
  const float open =
      IS_NULL(log_i0) ? b.log_i0_everywhere : POINTER_IN(float, log_i0)[(b.first_row + row) * b.columns + x];
  const float lowest = b.to == AS_IT_IS ? b.lowest_of_lines : b.clip * exp(-open);
  __global float *const value = POINTER(float, band) + (row * b.views + view) * b.columns + x;
  *value = -log(fmax(*value, lowest));
}

// out[i][row][column] of view views[i]; rows from row0 of the band on.
__kernel void take_views(Band b, MEMORY_IN(band), MEMORY_IN(views), MEMORY(out), long row0, long rows) {
  const long x = get_global_id(0), row = get_global_id(1), i = get_global_id(2);
  if (x >= b.columns) return;
  POINTER(float, out)[(i * rows + row) * b.columns + x] =
      POINTER_IN(float, band)[((row0 + row) * b.views + POINTER_IN(long, views)[i]) * b.columns + x];
}
