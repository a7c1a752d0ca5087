// SPDX-License-Identifier: Apache-2.0
// The wavelet-Fourier filter's products along the views and its steps along the columns; project/wavelet_modes.h derives them.

// C = A B, or C - A B, for every plane: A is m x k without gaps, B k x n and C m x n. A group makes 32 x 64 elements of C, 16 of k at a
// time through local memory, each of its 64 work-items 8 x 4 of them: 8 numbers and a vector of 4 read for 32 products.
#define TILE_ROWS 32
#define TILE_COLUMNS 64
#define DEPTH 16
#define ROWS_EACH 8
#define ACROSS (TILE_COLUMNS / 4)
#define ITEMS (ACROSS * (TILE_ROWS / ROWS_EACH))

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void product(__global const float *restrict a, Planes b, MEMORY_IN(right),
                                                                         Planes c, MEMORY(result), int m, int k, int n, int subtract) {
  __local float left_part[DEPTH][TILE_ROWS + 1];
  __local float4 right_part[DEPTH][ACROSS];
  const int item = get_local_id(0), across = item % ACROSS, down = item / ACROSS;
  const int x0 = (int)get_group_id(0) * TILE_COLUMNS, row0 = (int)get_group_id(1) * TILE_ROWS;
  const long plane = get_group_id(2);
  float4 sums[ROWS_EACH];
  for (int i = 0; i < ROWS_EACH; ++i) sums[i] = 0.0f;
  for (int k0 = 0; k0 < k; k0 += DEPTH) {
    for (int i = item; i < DEPTH * TILE_ROWS; i += ITEMS) {
      const int row = row0 + i / DEPTH, deep = k0 + i % DEPTH;
      left_part[i % DEPTH][i / DEPTH] = row < m && deep < k ? a[(long)row * k + deep] : 0.0f;
    }
    for (int i = item; i < DEPTH * TILE_COLUMNS; i += ITEMS) {
      const int x = x0 + i % TILE_COLUMNS, deep = k0 + i / TILE_COLUMNS;
      ((__local float *)right_part)[i] = x < n && deep < k ? ROW_IN(right, b, plane, deep)[x] : 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int deep = 0; deep < DEPTH; ++deep) {
      const float4 four = right_part[deep][across];
#pragma unroll
      for (int i = 0; i < ROWS_EACH; ++i) sums[i] = fma((float4)(left_part[deep][down * ROWS_EACH + i]), four, sums[i]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const int x = x0 + 4 * across;
#pragma unroll
  for (int i = 0; i < ROWS_EACH; ++i) {
    const int row = row0 + down * ROWS_EACH + i;
    if (row >= m || x >= n) continue;
    __global float *const to = ROW(result, c, plane, row) + x;
    if (x + 4 <= n) {
      vstore4(subtract ? vload4(0, to) - sums[i] : sums[i], 0, to);
      continue;
    }
    const float made[4] = {sums[i].x, sums[i].y, sums[i].z, sums[i].w};
    for (int j = 0; j < n - x; ++j) to[j] = subtract ? to[j] - made[j] : made[j];
  }
}

// One step along lines of `stride` floats, `modes` of them per plane: [own, higher) with the high-pass, [higher, modes) with the low-pass
// taps; n is the length of a line before analysis and after synthesis, `half_n` that between. taps: low-pass, then high-pass.
typedef struct {
  int taps, n, half_n, stride, modes, own, higher;
} Step;

__constant const float *taps_of(Step s, __constant const float *taps, int mode) {
  return mode < s.higher ? taps + s.taps : taps;
}

// Coefficient i is the sum over j of tap[j] * line[2 i + 1 - j], the line mirrored about its ends (2 1 0 | 0 1 2).
__kernel void analyse(Step s, __constant const float *all_taps, MEMORY_IN(from), MEMORY(to)) {
  const int i = get_global_id(0), mode = s.own + (int)get_global_id(1);
  if (i >= s.half_n) return;
  const long line = ((long)get_global_id(2) * s.modes + mode) * s.stride;
  __global const float *const values = POINTER_IN(float, from) + line;
  __constant const float *const taps = taps_of(s, all_taps, mode);
  float sum = 0;
  for (int j = 0; j < s.taps; ++j) {
    int at = 2 * i + 1 - j;
    if (at < 0 || at >= s.n) {  // lines may be shorter than the taps
      at = (at % (2 * s.n) + 2 * s.n) % (2 * s.n);
      at = at < s.n ? at : 2 * s.n - 1 - at;
    }
    sum = fma(taps[j], values[at], sum);
  }
  POINTER(float, to)[line + i] = sum;
}

__kernel void synthesise(Step s, __constant const float *all_taps, MEMORY_IN(from), MEMORY(to)) {
  const int i = get_global_id(0), mode = s.own + (int)get_global_id(1);
  if (i >= s.n) return;
  const long line = ((long)get_global_id(2) * s.modes + mode) * s.stride;
  __global const float *const values = POINTER_IN(float, from) + line;
  __constant const float *const taps = taps_of(s, all_taps, mode);
  float sum = 0;
  for (int k = i / 2; 2 * k + 1 - i < s.taps && k < s.half_n; ++k) sum = fma(taps[2 * k + 1 - i], values[k], sum);
  POINTER(float, to)[line + i] = sum;
}
