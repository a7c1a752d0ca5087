// SPDX-License-Identifier: Apache-2.0
#include "app/resume_options.h"

#include "api/unfinished_run.h"

namespace lepus::app {

void ResumeOptions::describe(OptionTable& table) {
  table.flag("--resume", resume, "go on with the unfinished run of this output, or say that there is none")
      .otherwise("go on where there is one");
  table.flag("--restart", restart, "begin anew, and throw away what an unfinished run of this output has made");
}

void ResumeOptions::check() const { check_resume_or_restart(resume, restart); }

void ResumeOptions::require_unfinished(const std::filesystem::path& output) const {
  if (resume) require_unfinished_run(output);
}

}  // namespace lepus::app
