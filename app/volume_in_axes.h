// SPDX-License-Identifier: Apache-2.0
// A volume of a command, in lepus' axes whatever those of its file are.
#pragma once

#include <memory>
#include <string>

#include "app/command.h"
#include "core/format.h"
#include "io/volume_axes.h"

namespace lepus::app {

// `axes` as the option says, or as the volume notes them, of which the user is informed.
inline std::unique_ptr<VolumeReader> open_in_our_axes(const std::string& file, const std::string& axes,
                                                      const std::string& option, Session& session) {
  auto volume = open_volume(file);
  if (!axes.empty()) return from_axes(std::move(volume), parse_axes(axes, "option " + option));
  const auto noted = noted_axes(*volume);
  if (!noted) return volume;
  session.note(format("{} says that its axes are {}: they are turned into x,y,z", file, words_of(*noted)));
  return from_axes(std::move(volume), *noted);
}

}  // namespace lepus::app
