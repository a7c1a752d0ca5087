// SPDX-License-Identifier: Apache-2.0
#include "app/resume_options.h"

#include "io/volume_journals.h"
#include <lepus/error.h>

namespace lepus::app {

void ResumeOptions::describe(OptionTable& table) {
  table.flag("--resume", resume, "go on with the unfinished run of this output, or say that there is none")
      .otherwise("go on where there is one");
  table.flag("--restart", restart, "begin anew, and throw away what an unfinished run of this output has made");
}

void ResumeOptions::check() const {
  if (resume && restart)
    throw Error(ErrorKind::usage, {.what = "--resume and --restart contradict each other",
                                   .where = {},
                                   .why = {},
                                   .hint = "leave both out to go on where there is an unfinished run"});
}

void ResumeOptions::require_journal(const std::filesystem::path& output) const {
  if (resume && journals_of(output).empty() && journals_of(volume_before_steps(output)).empty())
    throw Error(ErrorKind::usage, {.what = "there is no unfinished run of this output",
                                   .where = output.string(),
                                   .why = "no journal is beside it",
                                   .hint = "leave --resume out"});
}

}  // namespace lepus::app
