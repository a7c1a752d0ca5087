// SPDX-License-Identifier: Apache-2.0
// What a caller chooses of the method goes before [method] of the scan file.
#pragma once

#include "scan/scan.h"
#include <lepus/method.h>

namespace lepus {

// Into scan.method alone, for calls that try several methods: each has its own part of the choices.
void set_choices(Scan& scan, const MethodChoices& choices);
// And into the resolved scan file that the volume keeps. Throws Error(usage) where the method does not know them,
// Error(input) where the scan file has some and names no method.
void choose_method(Scan& scan, const MethodChoices& choices);

}  // namespace lepus
