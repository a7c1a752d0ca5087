// SPDX-License-Identifier: Apache-2.0
// A volume file that is looked at, as it is now: opened anew when it changes, gone when it vanishes, with the pyramid
// that is made of it. Thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "view/opened_volume.h"

namespace lepus::view {

// Which file it is, as far as the disk tells without reading it.
struct FileIdentity {
  std::uint64_t device = 0, inode = 0;
  std::int64_t bytes = 0, modified_ns = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};
// Nothing where it is not there. Of "scan.h5:/data" and "v.zarr#2" that of the file or folder, of "%04d.tif" the
// folder.
std::optional<FileIdentity> identity_of(const std::filesystem::path& volume);

struct PyramidState {
  std::string state = "none", why;  // "none", "writing", "there"; why there is none
  double done = 0;
};

class ViewedVolume {
public:
  ViewedVolume(int id, const std::filesystem::path& path, std::string role);  // opens it: throws as open_volume does

  int id() const { return id_; }
  const std::string& role() const { return role_; }  // "volume", "labels"
  std::filesystem::path path() const;
  std::optional<FileIdentity> identity() const;

  // As it is now. Throws Refusal: 410 where the file vanished, 409 where it is being changed.
  std::shared_ptr<const OpenedVolume> get() const;

  // Looks at the disk; true where something is not as it was.
  bool look();
  // The same volume under another name: a run that was finished.
  void moved_to(const std::filesystem::path& path);

  PyramidState pyramid() const;
  void set_pyramid(PyramidState state);
  // Where the volume is still the one that the pyramid was made of.
  void use_pyramid(const std::filesystem::path& folder, const std::shared_ptr<const OpenedVolume>& made_of);

  nlohmann::json json() const;
  std::string gone() const;  // "", "vanished", "changed"

private:
  const int id_;
  const std::string role_;
  mutable std::mutex mutex_;
  std::filesystem::path path_;
  std::shared_ptr<const OpenedVolume> opened_;
  std::optional<FileIdentity> identity_, seen_;  // of what is open, and at the last look
  std::string gone_, why_;
  std::int64_t changed_ = 0;
  PyramidState pyramid_;
};

// {"0.1": .., "1": .., "50": .., "99": .., "99.9": ..}; null where no value is finite.
nlohmann::json percentiles_json(const ValueSample& sample);

}  // namespace lepus::view
