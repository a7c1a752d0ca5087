// SPDX-License-Identifier: Apache-2.0
#include "cuda_kernels.h"

namespace lepus::bench {

std::vector<KernelShape> kernel_shapes(cuda::TexelKind kind) {
  switch (kind) {
    case cuda::TexelKind::float1:
    case cuda::TexelKind::half1:
      return general_shapes();
    case cuda::TexelKind::float2:
    case cuda::TexelKind::half2:
      return pair_shapes();
    case cuda::TexelKind::half4:
      return quad_shapes();
    case cuda::TexelKind::gather:
      return exact_shapes();
    case cuda::TexelKind::linear:
      return {};
  }
  return {};
}

}  // namespace lepus::bench
