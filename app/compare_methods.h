// SPDX-License-Identifier: Apache-2.0
// lepus reconstruct --compare-methods: several methods on one slab of a scan, as a picture and a table.
#pragma once

#include <string>
#include <vector>

#include "app/command.h"
#include "scan/scan.h"
#include <lepus/reconstruct.h>

namespace lepus::app {

// names: "fdk", "sirt", ...; scan.method has the choices that those of them which know them share.
int compare_methods(const std::vector<std::string>& names, const Scan& scan, const std::string& picture,
                    const ReconstructOptions& options, Session& session);

}  // namespace lepus::app
