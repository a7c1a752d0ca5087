// SPDX-License-Identifier: Apache-2.0
// The tables of docs/accuracy.md as Markdown.
#pragma once

#include <string>

#include "core/threads.h"

namespace lepus::accuracy {

struct Tables {
  std::string markdown;
  int missed = 0;  // rows that miss a bar
};

// Measures everything; takes some minutes.
Tables make_tables(ThreadPool& threads);

}  // namespace lepus::accuracy
