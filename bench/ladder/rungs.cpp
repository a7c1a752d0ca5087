// SPDX-License-Identifier: Apache-2.0
// What each step shows, and what its authors published. Times are of RabbitCT's problem at 512^3 (and 1024^3).
#include "bench/ladder/ladder.h"

namespace lepus::ladder {
namespace {

constexpr const char *papenhausen_2011 = "Papenhausen, Zheng, Mueller 2011",
                     *zinsser_2013 = "Zinsser, Keck 2013 (Thumper), GTX 680",
                     *papenhausen_2013 = "Papenhausen, Mueller 2013 (Rapid Rabbit)";

}  // namespace

std::vector<Rung> cuda_rungs() {
  return {
      {"naive, explicit interpolation", "a thread per voxel, all from global memory", 42.6, papenhausen_2011},
      {"texture and constant memory", "the texture unit interpolates, its cache serves neighbours", 10.8,
       papenhausen_2011},
      {"4 views per launch", "the volume is read and written a quarter as often", 6.07, papenhausen_2011},
      {"+ prefetching, page-locked memory", "the next views go up while the last are summed", 0, ""},
      {"kernel A, K = 512", "views inside, K voxels of a column outside", 0, ""},
      {"kernel A, K = 512, synchronised", "the warps of a block stay at the same view and share texels", 0, ""},
      {"kernel A, K = 8", "more threads, shorter columns", 0, ""},
      {"kernel A, K = 8, synchronised", "both", 0, ""},
      {"kernel B", "loops reordered: a view serves K neighbouring voxels at once", 0.97, zinsser_2013, 6.04},
      {"+ w' = rsqrt(w w), one fetch", "one instruction for 1/w", 1.01, papenhausen_2013},
      {"+ transposed volume at 45 degrees", "lanes lie along the rays' axis", 0.967, papenhausen_2013},
      {"+ a copying thread, ping-pong buffers", "nobody waits for the copy to page-locked memory", 0.951,
       papenhausen_2013},
      {"+ atomic accumulation", "the memory adds; threads do not wait to read", 0.921, papenhausen_2013},
      {"Michigan: a column per thread", "(x, y) terms in registers, few threads", 0, ""},
      {"Michigan: two kernels, terms in global memory", "(x, y) terms computed once, read by every voxel", 0, ""},
      {"Michigan: a voxel per thread", "nothing is shared", 0, ""},
      {"Michigan: terms in shared memory", "(x, y) terms shared by the slices of a block", 0, ""},
      {"square warps", "a warp is 8 x 4 voxels: close together from every side", 0, ""},
      {"ours, fast", "and views that a block does not see are left out", 0, ""},
      {"ours, half", "fp16 texels", 0, ""},
      {"ours, exact", "fp32 weights by texture gathers", 0, ""},
  };
}

std::vector<Rung> cpu_rungs() {
  return {
      {"naive", "the definition, loop by loop", 0, ""},
      {"blocked", "blocks of voxels stay in the cache while the views pass by", 0, ""},
      {"SIMD", "a vector of voxels at once; taps are gathered", 0, ""},
      {"ours, any matrices", "taps as neighbouring floats, no gather", 0, ""},
      {"ours, symmetric (circle)", "one coordinate serves four voxels and four views", 0, ""},
  };
}

}  // namespace lepus::ladder
