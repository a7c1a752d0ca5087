// SPDX-License-Identifier: Apache-2.0
// Several methods on one slab of a scan that was read.
#pragma once

#include "core/context.h"
#include "scan/scan.h"
#include <lepus/compare_methods.h>

namespace lepus {

// scan.method has the choices that those of them which know them share.
MethodComparison compare_methods(const Scan& scan, const std::filesystem::path& picture,
                                 const std::vector<std::string>& names, const ReconstructOptions& options,
                                 Context& context);

}  // namespace lepus
