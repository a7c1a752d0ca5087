// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/device.h"
#include "device/forward_project_job.h"

namespace lepus::cuda {

// Host to host, on devices that share the views. Each holds the whole volume. Fills in the report's kernel and slabs.
void forward_project(const ForwardJob& job, const Devices& devices, Precision precision, ForwardReport& report);

}  // namespace lepus::cuda
