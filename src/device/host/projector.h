// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "device/backend.h"
#include "device/projector.h"

namespace lepus::host {

// Filtered rows lie with rows fastest, slabs with z fastest (device/backend.h).
std::unique_ptr<Projector> make_projector(const Backend& backend, const ProjectorSetup& setup);

}  // namespace lepus::host
