// SPDX-License-Identifier: Apache-2.0
// The backend cuda for whoever has filtered views and slabs in host memory: each call sends the views up and adds the
// sum that comes down. A whole reconstruction keeps everything on the device instead (run/sweep.h).
#pragma once

#include <memory>

#include "device/backend.h"

namespace lepus {

// Throws Error(unsupported) where the device cannot be used.
std::unique_ptr<Backend> make_cuda_backend(int device = 0, Precision precision = Precision::exact);

}  // namespace lepus
