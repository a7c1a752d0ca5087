// SPDX-License-Identifier: Apache-2.0
// Streams of views on a GPU, without a type of its interface.
#pragma once

#include <string>
#include <vector>

#include "bench/rabbitct/view_stream.h"

namespace lepus::rabbitct {

struct GpuRabbitct {
  std::string kind;  // "cuda"
  std::unique_ptr<ViewStream> (*make_stream)(const StreamSetup& setup);
  std::shared_ptr<float> (*page_locked)(std::int64_t count, int device);
};
std::vector<GpuRabbitct> gpu_rabbitct();  // those this build has

}  // namespace lepus::rabbitct
