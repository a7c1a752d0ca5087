// SPDX-License-Identifier: Apache-2.0
// Many views' rows on their way up: in as few copies as their places in host memory allow.
#pragma once

#include <cstdint>
#include <vector>

#include <cuda_runtime_api.h>

namespace lepus::cuda {

// views[i], `bytes` long each, go one after the other to `to`. Views that lie evenly spaced in host memory, one after
// the other, or one after the other in each turn of a group of symmetric ones, go up in one copy each; thousands of
// small copies would keep the host busy for longer than the link.
void copy_views(const std::vector<const void*>& views, std::int64_t bytes, unsigned char* to, std::int64_t group,
                cudaStream_t stream);

}  // namespace lepus::cuda
