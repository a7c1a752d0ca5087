// SPDX-License-Identifier: Apache-2.0
// A look at an output's lock (core/output_lock.h) without taking it.
#pragma once

#include <filesystem>
#include <string>

namespace lepus {

// Who writes this output now: "process 4711 on tooth since 2026-11-16 03:12:05 UTC: lepus post a.mha -o v.mha"; ""
// where nobody does.
std::string output_holder(const std::filesystem::path& target);

}  // namespace lepus
