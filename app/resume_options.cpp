// SPDX-License-Identifier: Apache-2.0
#include "app/resume_options.h"

namespace lepus::app {

void ResumeOptions::describe(OptionTable& table) {
  table.flag("--resume", resume, "go on with the unfinished run of this output, or say that there is none")
      .otherwise("go on where there is one");
  table.flag("--restart", restart, "begin anew, and throw away what an unfinished run of this output has made");
}

}  // namespace lepus::app
