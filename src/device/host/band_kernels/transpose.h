// SPDX-License-Identifier: Apache-2.0
// Pictures with rows and columns exchanged: height x width -> width x height, packed.
#pragma once

#include "core/threads.h"
#include "project/planes.h"

namespace lepus::host {

void transpose(const Planes& in, const Planes& out, ThreadPool& threads);

}  // namespace lepus::host
