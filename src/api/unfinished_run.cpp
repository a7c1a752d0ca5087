// SPDX-License-Identifier: Apache-2.0
#include "api/unfinished_run.h"

#include "core/output_folder.h"
#include "core/output_lock.h"
#include "io/volume_journals.h"
#include <lepus/error.h>

namespace lepus {

void check_resume_or_restart(bool resume, bool restart) {
  if (resume && restart)
    throw Error(ErrorKind::usage, {.what = "--resume and --restart contradict each other",
                                   .where = {},
                                   .why = {},
                                   .hint = "leave both out to go on where there is an unfinished run"});
}

void require_unfinished_run(const std::filesystem::path& output) {
  std::error_code failure;
  const std::filesystem::path before = volume_before_steps(output);
  const bool journal = !journals_of(output).empty();
  const bool of_output =
      unfinished_exists(output) || std::filesystem::is_directory(unfinished_name(folder_target(output)), failure);
  const bool of_steps =
      !journals_of(before).empty() && (unfinished_exists(before) || std::filesystem::exists(before, failure));
  if ((journal && of_output) || of_steps) return;
  throw Error(ErrorKind::usage,
              {.what = "there is no unfinished run of this output",
               .where = output.string(),
               .why = journal ? "its journal is there, but not what it was writing" : "no journal is beside it",
               .hint = "leave --resume out"});
}

}  // namespace lepus
