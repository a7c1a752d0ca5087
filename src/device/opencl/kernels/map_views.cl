// SPDX-License-Identifier: Apache-2.0
// Rows of the flat detector, or level ones, interpolated from recorded rows of a band [row][view][column], by
// Catmull-Rom in double precision: project/row_map.h, which has the words, with the same bits.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

typedef struct {
  double row_from, row_to, middle_column;
  long columns, rows;                      // that were recorded
  long views, first_row;                   // of the band
  long made_columns, made_row0, made_rows;  // that are made
  int zero_beyond;
} Map;

// The four taps at x, clamped to [0, n).
void taps_at(double x, long n, long *index, double *weight) {
  const double cell = floor(x), f = x - cell, h = 0.5 * f, g = 1.0 - f;
  weight[0] = -h * g * g;
  weight[1] = 1.0 + f * f * (1.5 * f - 2.5);
  weight[2] = h * (1.0 + f * (4.0 - 3.0 * f));
  weight[3] = -h * f * g;
  for (int k = 0; k < 4; ++k) index[k] = clamp((long)cell - 1 + k, 0L, n - 1);
}

bool covers(long n, double x) { return x >= -0.5 && x <= n - 0.5; }

// out[i][row][column] of view order[i]; a work-item has a pixel.
__kernel void map_views(Map m, MEMORY_IN(band), MEMORY_IN(order), MEMORY_IN(stretch), MEMORY_IN(slope),
                        MEMORY_IN(column_at), MEMORY(out)) {
  const long column = get_global_id(0), made_row = get_global_id(1), i = get_global_id(2);
  if (column >= m.made_columns) return;
  const long view = POINTER_IN(long, order)[i];
  double distance = (double)(m.made_row0 + made_row) - m.row_from;
  if (!IS_NULL(stretch)) distance *= POINTER_IN(double, stretch)[column];
  double at = distance + m.row_to;
  if (!IS_NULL(slope)) at = at + POINTER_IN(double, slope)[view] * ((double)column - m.middle_column);
  const bool across = !IS_NULL(column_at);
  const double from = across ? POINTER_IN(double, column_at)[column] : (double)column;
  float made = 0.0f;
  if (!m.zero_beyond || (covers(m.rows, at) && covers(m.columns, from))) {
    long row[4], x[4] = {column, 0, 0, 0};
    double along[4], beside[4] = {1, 0, 0, 0};
    taps_at(at, m.rows, row, along);
    if (across) taps_at(from, m.columns, x, beside);
    double value = 0;
    for (int j = 0; j < 4; ++j) {
      __global const float *const line =
          POINTER_IN(float, band) + ((row[j] - m.first_row) * m.views + view) * m.columns;
      double sum = 0;
      for (int k = 0; k < (across ? 4 : 1); ++k) sum += beside[k] * (double)line[x[k]];
      value += along[j] * sum;
    }
    made = (float)value;
  }
  POINTER(float, out)[(i * m.made_rows + made_row) * m.made_columns + column] = made;
}
