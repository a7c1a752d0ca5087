// SPDX-License-Identifier: Apache-2.0
#include "api/volume_in_axes.h"

#include "core/format.h"

namespace lepus {

std::unique_ptr<VolumeReader> open_in_our_axes(const std::string& file, const std::string& axes,
                                               const std::string& option, Progress& progress) {
  auto volume = open_volume(file);
  if (!axes.empty()) return from_axes(std::move(volume), parse_axes(axes, "option " + option));
  const auto noted = noted_axes(*volume);
  if (!noted) return volume;
  progress.note(format("{} says that its axes are {}: they are turned into x,y,z", file, words_of(*noted)));
  return from_axes(std::move(volume), *noted);
}

}  // namespace lepus
