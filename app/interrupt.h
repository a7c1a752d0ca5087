// SPDX-License-Identifier: Apache-2.0
// Ctrl-C: the first one asks the command to stop, which tidies up on the way out: what it can go on with is kept, other
// partial files are removed. A second one gives it one more second for that and then ends the process; a third one ends
// it at once. SIGTERM does the same, with an exit code of its own by which a job script knows that it may requeue
// itself.
#pragma once

#include <lepus/progress.h>

namespace lepus::app {

// SIGINT, SIGTERM and SIGHUP (a connection that was lost; not under nohup) cancel the flag, which must live as long as
// the process. SIGPIPE and SIGXFSZ are ignored, so that a closed pipe and a file that reaches a limit are failed writes
// and not a sudden death in the middle of a volume.
void install_signal_handlers(CancelFlag& flag);

// Whether the first request to stop was a SIGTERM.
bool was_stopped();

}  // namespace lepus::app
