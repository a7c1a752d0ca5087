// SPDX-License-Identifier: Apache-2.0
#include "bench/ladder/cuda/table.h"

namespace lepus::ladder {

const std::vector<CudaRung>& cuda_steps() {
  using enum Way;
  using enum Held;
  using enum Hosts;
  constexpr int b = usual_b.views;
  static const std::vector<CudaRung> steps{
      {"naive, explicit interpolation", {launch_naive, memory, false, 1, in_order}, 1, true, first_size},
      {"texture and constant memory", {launch_texture, texture, false, 1, in_order}, 1, true, first_size},
      {"4 views per launch", {launch_four_views, texture, false, 4, in_order}, 4, true, first_size},
      {"+ prefetching, page-locked memory", {launch_four_views, texture, false, 4, prefetch}, 4, false, first_size},
      {"kernel A, K = 512", {launch_a_512, texture, false, 128, prefetch}, 128, true, nowhere},
      {"kernel A, K = 512, synchronised",
       {launch_a_512_synchronised, texture, false, 128, prefetch},
       128,
       true,
       nowhere},
      {"kernel A, K = 8", {launch_a_8, texture, false, 128, prefetch}, 128, true, nowhere},
      {"kernel A, K = 8, synchronised", {launch_a_8_synchronised, texture, false, 128, prefetch}, 128, true, nowhere},
      {"kernel B", {launch_b, texture, false, b, prefetch}, b, true, every_size},
      {"+ w' = rsqrt(w w), one fetch", {launch_rsqrt, texture, false, b, prefetch}, b, true, first_size},
      {"+ transposed volume at 45 degrees", {launch_transposed, texture, true, b, prefetch}, b, true, first_size},
      {"+ a copying thread, ping-pong buffers",
       {launch_transposed, texture, true, b, copying_thread},
       b,
       false,
       first_size},
      {"+ atomic accumulation", {launch_atomic, texture, true, b, copying_thread}, b, true, every_size},
      {"Michigan: a column per thread", {launch_column_per_thread, texture, false, 1, prefetch}, 1, true, nowhere},
      {"Michigan: two kernels, terms in global memory",
       {launch_two_kernels, texture, false, 1, prefetch},
       1,
       true,
       nowhere},
      {"Michigan: a voxel per thread", {launch_voxel_per_thread, texture, false, 1, prefetch}, 1, true, nowhere},
      {"Michigan: terms in shared memory", {launch_shared_terms, texture, false, 1, prefetch}, 1, true, nowhere},
      {"square warps", {launch_square_warps, texture, false, 128, prefetch}, 128, true, every_size},
  };
  return steps;
}

}  // namespace lepus::ladder
