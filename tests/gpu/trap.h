// SPDX-License-Identifier: Apache-2.0
// A kernel that dies: afterwards the process has lost its device.
#pragma once

namespace lepus {
void launch_trap();
}
