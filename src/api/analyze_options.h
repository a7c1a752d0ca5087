// SPDX-License-Identifier: Apache-2.0
// What a call of analyze asks for, as the analysis takes it, and what is recorded of it.
#pragma once

#include <string>

#include "analysis/analyze.h"
#include "core/journal.h"
#include <lepus/analyze.h>

namespace lepus {

// Without the volumes, surfaces and files, which are opened later. Throws Error(usage) where it cannot be done so.
analysis::AnalysisOptions analysis_options_of(const AnalyzeOptions& options);

// JSON for the volumes that come out: that of the volume, and this analysis.
std::string analysis_provenance(const VolumeReader& volume, const AnalyzeOptions& options);

// What must be the same for a run to go on with what an earlier one has finished.
JournalHeader analysis_journal_header(const AnalyzeOptions& options);

}  // namespace lepus
