// SPDX-License-Identifier: Apache-2.0
// Sorting by a group: keys of 64 bits, in local memory or, with KEYS_IN_GLOBAL, in global memory by the same code. The upper half
// of a key is a float as an integer of the same order, the lower half says where it came from, so that equal values keep
// their order.

#ifdef KEYS_IN_GLOBAL
#define KEYS __global
#define KEYS_ARGUMENT(name) MEMORY(name)
#define KEYS_OF_GROUP(name, group, count) (POINTER(ulong, name) + (group) * (count))
#define KEYS_FENCE CLK_GLOBAL_MEM_FENCE
#else
#define KEYS __local
#define KEYS_ARGUMENT(name) __local ulong *name
#define KEYS_OF_GROUP(name, group, count) (name)
#define KEYS_FENCE CLK_LOCAL_MEM_FENCE
#endif

uint ordered(float value) {
  const uint bits = as_uint(value);
  return (bits & 0x80000000u) ? ~bits : bits | 0x80000000u;
}
float value_of(uint order) { return as_float((order & 0x80000000u) ? order & 0x7fffffffu : ~order); }
ulong key_of(float value, int place) { return (ulong)ordered(value) << 32 | (uint)place; }

// `lists` lists of n keys (a power of two), one after the other, each into ascending order: Batcher's bitonic network. What was
// written before is seen, and all is written at return.
void sort_lists(KEYS ulong *keys, int n, int lists) {
  const int item = get_local_id(0), items = get_local_size(0);
  for (int size = 2; size <= n; size *= 2)
    for (int stride = size / 2; stride > 0; stride /= 2) {
      barrier(KEYS_FENCE);
      for (int i = item; i < lists * n / 2; i += items) {
        const int low = 2 * i - (i & (stride - 1)), high = low + stride;
        const ulong a = keys[low], b = keys[high];
        const bool ascending = (low & (n - 1) & size) == 0;
        if ((a > b) == ascending) {
          keys[low] = b;
          keys[high] = a;
        }
      }
    }
  barrier(KEYS_FENCE);
}
