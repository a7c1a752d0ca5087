// SPDX-License-Identifier: Apache-2.0
// Pictures with rows and columns exchanged, so that filters along rows work along columns.
// height x width -> width x height, packed; in and out must not overlap.
#pragma once

#include "core/threads.h"
#include "correct/planes.h"

struct CUstream_st;

namespace lepus::post {

// The shape of the transposed stack, in other memory.
inline Planes turned_planes(const Planes& in, float* data) {
  return {data, in.height, in.width, in.height, in.count, in.width * in.height};
}

void transpose(const Planes& in, const Planes& out, ThreadPool& threads);
void transpose_on_device(const Planes& in, const Planes& out, CUstream_st* stream);

}  // namespace lepus::post
