// SPDX-License-Identifier: Apache-2.0
// What lepus_bench_cuda_backprojection needs beside the library: every shape of every kernel.
#pragma once

#include <string>
#include <vector>

#include "device/cuda/backproject_launch.h"
#include "device/cuda/orbit_views.h"

namespace lepus::bench {

struct KernelShape {
  std::string name;  // "quad 16x16 K8"
  cuda::Launcher launcher;
};
// Every shape that reads this kind of texel.
std::vector<KernelShape> kernel_shapes(cuda::TexelKind kind);
std::vector<KernelShape> general_shapes();
std::vector<KernelShape> pair_shapes();
std::vector<KernelShape> quad_shapes();
std::vector<KernelShape> exact_shapes();

}  // namespace lepus::bench
