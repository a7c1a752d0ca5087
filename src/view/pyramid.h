// SPDX-License-Identifier: Apache-2.0
// The coarser levels of a volume, as OME-Zarr beside it ("volume.mha" -> "volume.mha.zarr"), made in the background
// while nobody waits for an answer. napari, Fiji and neuroglancer open it too.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "view/admission.h"
#include "view/events.h"
#include "view/viewed_volume.h"

namespace lepus::view {

std::filesystem::path pyramid_path(const std::filesystem::path& volume);

class PyramidThread {
public:
  // Begins at once: takes the pyramid that is there where it is of this very file, else makes one. Volumes whose slices
  // are small, and Zarr, which has its own levels, need none.
  PyramidThread(ViewedVolume& volume, Events& events, const Admission& requests, bool write);
  ~PyramidThread();  // stops; what was not finished goes
  PyramidThread(const PyramidThread&) = delete;
  PyramidThread& operator=(const PyramidThread&) = delete;

  bool finished() const { return finished_; }

private:
  void run();
  void make(const std::filesystem::path& folder, const std::shared_ptr<const OpenedVolume>& volume,
            const std::string& identity);
  void tell(const PyramidState& state);

  ViewedVolume& volume_;
  Events& events_;
  const Admission& requests_;
  const bool write_;
  std::atomic<bool> stop_{false}, finished_{false};
  std::thread thread_;
};

}  // namespace lepus::view
