// SPDX-License-Identifier: Apache-2.0
// What the shared library shows to programs; all else in it is hidden.
#pragma once

#define LEPUS_API __attribute__((visibility("default")))
