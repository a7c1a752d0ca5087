// SPDX-License-Identifier: Apache-2.0
// The plain backend: the formulas of src/project in double-precision loops. What every other backend is held against.
#pragma once

#include <memory>

#include "device/backend.h"

namespace lepus {

std::unique_ptr<Backend> make_reference_backend();

}  // namespace lepus
