// SPDX-License-Identifier: Apache-2.0
// Space on the disk that a file has before it is written, so that a disk or a quota that is too small says so before
// hours of work.
#pragma once

#include <cstdint>

#include "core/output_file.h"

namespace lepus {

// Of a file in which nothing of these bytes is written yet: it reaches so far, and the disk has the space, where its
// file system can promise that; else they are a hole. Error(disk) where there is too little.
void reserve_space(PartialFile& file, std::int64_t offset, std::int64_t bytes);

}  // namespace lepus
