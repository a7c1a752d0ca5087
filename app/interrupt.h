// SPDX-License-Identifier: Apache-2.0
// Ctrl-C: the first one asks the command to stop, which removes its partial files on the way out; a second one gives it
// one more second for that and then ends the process; a third one ends it at once.
#pragma once

#include "core/context.h"

namespace lepus::app {

// SIGINT, SIGTERM and SIGHUP (a connection that was lost; not under nohup) cancel the flag, which must live as long as
// the process. SIGPIPE and SIGXFSZ are ignored, so that a closed pipe and a file that reaches a limit are failed writes
// and not a sudden death in the middle of a volume.
void install_signal_handlers(CancelFlag& flag);

}  // namespace lepus::app
