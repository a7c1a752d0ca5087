// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "device/host/backprojector.h"
#include "device/projector.h"

namespace lepus::host {

// Filtered rows lie with rows fastest, slabs with z fastest (device/host/backprojector.h).
std::unique_ptr<Projector> make_projector(std::unique_ptr<Backprojector> kernel, const ProjectorSetup& setup);

}  // namespace lepus::host
