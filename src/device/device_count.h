// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lepus {

// How many devices of a backend this machine shows, 1 at least; "auto": of the one that it takes.
int device_count(const std::string& backend);

}  // namespace lepus
