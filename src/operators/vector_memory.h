// SPDX-License-Identifier: Apache-2.0
// Memory for the vectors of a method that a device does not hold: some of them lie on the device, the others in memory
// of the host that its kernels reach, more slowly. Whole sets of line integrals, which a step uses once, lie on the
// host; the parts of them that a step works on lie on the device, and as many volumes as there is room for.
#pragma once

#include <cstdint>
#include <memory>

#include "device/device.h"

namespace lepus {

struct VectorSizes {
  std::int64_t volume_bytes = 0;
  std::int64_t part_bytes = 0;  // of the line integrals of the largest subset
};

class VectorMemory {
public:
  // The device outlives it, and takes at most `device_bytes` for these and for the operator.
  VectorMemory(Device& device, std::int64_t device_bytes, const VectorSizes& sizes);

  Block allocate(std::int64_t bytes);
  bool on_device(const void* memory) const;                        // memory that was allocated here
  std::int64_t operator_bytes() const { return operator_bytes_; }  // what is left for the operator
  std::int64_t volumes_on_device() const;                          // that there is room for

private:
  struct Places;
  Device& device_;
  VectorSizes sizes_;
  std::int64_t operator_bytes_;
  std::shared_ptr<Places> places_;
};

}  // namespace lepus
