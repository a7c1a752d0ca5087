// SPDX-License-Identifier: Apache-2.0
// A volume of a call, in lepus' axes whatever those of its file are.
#pragma once

#include <memory>
#include <string>

#include "io/volume_axes.h"
#include <lepus/progress.h>

namespace lepus {

// `axes` as the option says, or as the volume notes them, of which the user is informed.
std::unique_ptr<VolumeReader> open_in_our_axes(const std::string& file, const std::string& axes,
                                               const std::string& option, Progress& progress);

}  // namespace lepus
