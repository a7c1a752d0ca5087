// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lepus/progress.h>  // CancelFlag is part of the API
