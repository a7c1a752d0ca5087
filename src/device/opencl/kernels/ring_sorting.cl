// SPDX-License-Identifier: Apache-2.0
// Columns of sinograms [row][view][column] sorted over the views (Vo, Atwood and Drakopoulos 2018; docs/corrections/rings.md). A group
// sorts `columns` neighbouring columns of one plane, from column x0 and plane0 on, a power of two of them, `padded` (likewise) keys each, so that
// every view is read in pieces of some columns. Groups: columns, planes.

// sorted, views: [plane][rank][column], the values and the views that they came from.
__kernel void sort_columns(Planes p, MEMORY_IN(sinograms), MEMORY(sorted), MEMORY(views), int x0, int plane0, int padded, int columns,
                           KEYS_ARGUMENT(all_keys)) {
  KEYS ulong *const keys = KEYS_OF_GROUP(all_keys, get_group_id(0), (long)columns * padded);
  const int item = get_local_id(0), items = get_local_size(0), first = x0 + (int)get_group_id(0) * columns;
  const long plane = plane0 + (long)get_group_id(1);
  for (int i = item; i < columns * padded; i += items) {
    const int column = i & (columns - 1), view = i / columns, x = first + column;
    keys[column * padded + view] = x < p.width && view < p.height
                                       ? key_of(ROW_IN(sinograms, p, plane, view)[x] + 0.0f, view)  // no negative zero
                                       : ~(ulong)0;
  }
  sort_lists(keys, padded, columns);
  for (int i = item; i < columns * (int)p.height; i += items) {
    const int column = i & (columns - 1), rank = i / columns, x = first + column;
    if (x >= p.width) continue;
    const ulong key = keys[column * padded + rank];
    const long at = (plane * p.height + rank) * p.width + x;
    POINTER(float, sorted)[at] = value_of((uint)(key >> 32));
    POINTER(uint, views)[at] = (uint)key;
  }
}

// How much three views in a row bend: noise, and not the object's slow change.
float bend(float a, float b, float c) {
  const float d = (a - 2 * b) + c;
  return d < 0 ? -d : d;
}

// flutter: [plane][column], the median over the views of how much three of them bend.
__kernel void find_flutter(Planes p, MEMORY_IN(sinograms), MEMORY(flutter), int x0, int plane0, int padded, int columns,
                           KEYS_ARGUMENT(all_keys)) {
  KEYS ulong *const keys = KEYS_OF_GROUP(all_keys, get_group_id(0), (long)columns * padded);
  const int item = get_local_id(0), items = get_local_size(0), first = x0 + (int)get_group_id(0) * columns;
  const int bends = (int)p.height - 2;
  const long plane = plane0 + (long)get_group_id(1);
  for (int i = item; i < columns * padded; i += items) {
    const int column = i & (columns - 1), view = i / columns, x = first + column;
    __global const float *const at = ROW_IN(sinograms, p, plane, view) + x;
    keys[column * padded + view] = x < p.width && view < bends
                                       ? key_of(bend(at[0], at[p.row_stride], at[2 * p.row_stride]), view)
                                       : ~(ulong)0;
  }
  sort_lists(keys, padded, columns);
  for (int column = item; column < columns && first + column < p.width; column += items) {
    const float median = value_of((uint)(keys[column * padded + (bends - 1) / 2] >> 32));
    POINTER(float, flutter)[plane * p.width + first + column] = median - median == 0 ? median : 0.0f;  // numbers only
  }
}
