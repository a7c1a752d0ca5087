// SPDX-License-Identifier: Apache-2.0
// Volumes with a header of text, before the voxels or in a file of its own beside them (MetaImage, NRRD). The
// provenance is known at the end only: a header before the voxels is made with room for it.
#pragma once

#include "io/stack.h"

namespace lepus {

class HeadedStack : public PlainStack {
public:
  void finish(const std::string& provenance) final;

protected:
  // detached_ending: ".mhd", of names whose voxels lie in a ".raw" beside them.
  HeadedStack(const StackTarget& target, const std::string& detached_ending, std::int64_t room);
  // The header: `start`, room for the provenance, `end`.
  void begin(std::string start, std::string end);
  bool detached() const { return header_ != nullptr; }

private:
  virtual std::string provenance_text(const std::string& provenance) const = 0;
  virtual bool can_fill(std::int64_t bytes) const = 0;
  virtual std::string filler(std::int64_t bytes) const = 0;  // exactly so many bytes, which mean nothing
  bool holds(std::int64_t offset, const std::string& text) const;

  std::unique_ptr<PartialFile> header_;  // where it is a file of its own
  std::int64_t room_;
  std::string start_, end_;
};

}  // namespace lepus
