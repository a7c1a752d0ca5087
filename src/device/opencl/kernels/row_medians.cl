// SPDX-License-Identifier: Apache-2.0
// Exact medians along rows, of windows of any width. A group takes a piece of a row with all that its windows see, sorts it, replaces
// values by their ranks, and builds a wavelet matrix of these in local memory (Inf. Syst. 47 (2015) 15):
// level by level, from the highest bit of the rank, the sequence is parted into zeros and ones, and the count of zeros before
// each place is known. The k-th smallest of any run is then found bit by bit, with two counts per bit, however long the run is.

typedef struct {
  int radius, mirror;  // beyond an edge the row is mirrored at its outermost pixel; else the window is cut off there
  int piece;           // pixels that a group makes
  int size, levels;    // places of the piece, with what its windows see: 2^levels
} Window;

// The value at place x of the row as an integer of the same order; above all numbers where there is none.
uint order_at(__global const float *row, int width, int x, int mirror) {
  if (x < 0 || x >= width) {
    if (!mirror) return 0xffffffffu;
    x = x < 0 ? -x : 2 * (width - 1) - x;
  }
  return ordered(row[x]);
}

// Which of the values that the window sees at x is the median.
int median_rank(Window w, int width, int x) {
  return w.mirror ? w.radius : (min(x + w.radius, width - 1) - max(x - w.radius, 0)) / 2;
}

// Where the median of pixel x of row y goes: there, or to the row that `views`, [plane][row][column], has for it.
__global float *target_of(Planes in, Planes out, __global float *to, __global const uint *views, long plane, long y, long x) {
  const long row = views ? views[(plane * in.height + y) * in.width + x] : y;
  return to + plane * out.plane_stride + row * out.row_stride + x;
}

// Which of the 32 places of a word hold a zero (x), and how many zeros come before the word (y).
int zeros_before(__local const uint2 *zeros, int place) {
  const uint2 word = zeros[place >> 5];
  return (int)(word.y + popcount(word.x & ((1u << (place & 31)) - 1)));
}

// ranks: two arrays of `size`, the first in the order of the places. zeros: size / 32 + 1 words for each level. Ranks are all numbers
// below `size`, so that each bit is zero in half of them.
void build_matrix(__local ushort *ranks, __local uint2 *zeros, int size, int levels) {
  const int item = get_local_id(0), items = get_local_size(0), words = size / 32;
  for (int level = 0; level < levels; ++level, zeros += words + 1) {
    __local const ushort *const from = ranks + (level & 1) * size;
    __local ushort *const to = ranks + (~level & 1) * size;
    const int bit = levels - 1 - level;
    for (int w = item; w < words; w += items) {
      uint places = 0;
      for (int j = 0; j < 32; ++j) {
        const int i = (j + w) & 31;  // neighbouring work-items meet different banks
        places |= (uint)(~(from[32 * w + i] >> bit) & 1) << i;
      }
      zeros[w].x = places;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int w = item; w <= words; w += items) {
      uint before = 0;
      for (int earlier = 0; earlier < w; ++earlier) before += popcount(zeros[earlier].x);
      zeros[w].y = before;
      if (w == words) zeros[w].x = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = item; i < size && bit > 0; i += items) {
      const ushort rank = from[i];
      const int before = zeros_before(zeros, i);
      to[(rank >> bit & 1) == 0 ? before : size / 2 + i - before] = rank;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

// The k-th smallest rank of places [first, last).
int find_rank(__local const uint2 *zeros, int size, int levels, int first, int last, int k) {
  int rank = 0;
  for (int level = 0; level < levels; ++level, zeros += size / 32 + 1) {
    const int zeros_first = zeros_before(zeros, first), zeros_last = zeros_before(zeros, last);
    const int inside = zeros_last - zeros_first;
    const bool one = k >= inside;
    rank = 2 * rank + one;
    k -= one ? inside : 0;
    first = one ? first + size / 2 - zeros_first : zeros_first;
    last = one ? last + size / 2 - zeros_last : zeros_last;
  }
  return rank;
}

// Groups: pieces, rows, planes. Local memory: keys[size], ranks[2][size], zeros[levels][size / 32 + 1].
__kernel void row_medians(Window w, Planes in, Planes out, MEMORY_IN(from), MEMORY(to), MEMORY_IN(views),
                          __local ulong *keys) {
  __local ushort *const ranks = (__local ushort *)(keys + w.size);
  __local uint2 *const zeros = (__local uint2 *)(ranks + 2 * w.size);
  const int item = get_local_id(0), items = get_local_size(0), width = (int)in.width;
  const int x0 = (int)get_group_id(0) * w.piece, n = min(w.piece, width - x0);
  const long y = get_group_id(1), plane = get_group_id(2);
  __global const float *const row = ROW_IN(from, in, plane, y);
  for (int i = item; i < w.size; i += items) {
    const uint order = i < n + 2 * w.radius ? order_at(row, width, x0 - w.radius + i, w.mirror) : 0xffffffffu;
    keys[i] = (ulong)order << 32 | (uint)i;
  }
  sort_lists(keys, w.size, 1);
  for (int i = item; i < w.size; i += items) ranks[(uint)keys[i]] = (ushort)i;
  barrier(CLK_LOCAL_MEM_FENCE);
  build_matrix(ranks, zeros, w.size, w.levels);
  __global const uint *const rows = IS_NULL(views) ? 0 : POINTER_IN(uint, views);
  for (int i = item; i < n; i += items) {
    const int rank = find_rank(zeros, w.size, w.levels, i, i + 2 * w.radius + 1, median_rank(w, width, x0 + i));
    *target_of(in, out, POINTER(float, to), rows, plane, y, x0 + i) = value_of((uint)(keys[rank] >> 32));
  }
}

// Windows that do not fit local memory, a work-item per pixel: the largest number that has at most k smaller ones is the k-th
// smallest.
__kernel void row_medians_by_search(Window w, Planes in, Planes out, MEMORY_IN(from), MEMORY(to), MEMORY_IN(views)) {
  const int x = get_global_id(0), width = (int)in.width;
  const long y = get_global_id(1), plane = get_global_id(2);
  if (x >= width) return;
  __global const float *const row = ROW_IN(from, in, plane, y);
  const int k = median_rank(w, width, x);
  uint median = 0;
  for (int bit = 31; bit >= 0; --bit) {
    const uint candidate = median | 1u << bit;
    int smaller = 0;
    for (int i = x - w.radius; i <= x + w.radius; ++i) smaller += order_at(row, width, i, w.mirror) < candidate;
    if (smaller <= k) median = candidate;
  }
  __global const uint *const rows = IS_NULL(views) ? 0 : POINTER_IN(uint, views);
  *target_of(in, out, POINTER(float, to), rows, plane, y, x) = value_of(median);
}
