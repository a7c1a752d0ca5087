// SPDX-License-Identifier: Apache-2.0
#include "app/interrupt.h"

#include <atomic>
#include <csignal>
#include <cstring>
#include <unistd.h>

#include "app/command.h"

namespace lepus::app {
namespace {

CancelFlag* cancel_flag = nullptr;
std::atomic<int> requests{0};
std::atomic<bool> stopped{false};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "a signal handler may only touch lock-free atomics");

// Only calls that POSIX allows in a handler: write, alarm, _exit, and stores to lock-free atomics.
void say(const char* text) {
  if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

int exit_code_now() { return stopped ? exit_stopped : exit_interrupted; }

void on_request(int signal) {
  switch (requests.fetch_add(1)) {
    case 0:
      stopped = signal == SIGTERM;
      cancel_flag->cancel();
      break;
    case 1:
      say("\nlepus: stopping and tidying up; once more ends at once\n");
      ::alarm(1);
      break;
    default:
      ::_exit(exit_code_now());
  }
}

void on_alarm(int) { ::_exit(exit_code_now()); }

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;  // a read or write in the library goes on; the loop around it checks the flag
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

bool was_stopped() { return stopped; }

void install_signal_handlers(CancelFlag& flag) {
  cancel_flag = &flag;
  handle(SIGINT, on_request);
  handle(SIGTERM, on_request);
  struct sigaction before {};
  if (::sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) handle(SIGHUP, on_request);  // nohup
  handle(SIGALRM, on_alarm);
  handle(SIGPIPE, SIG_IGN);
  handle(SIGXFSZ, SIG_IGN);
}

}  // namespace lepus::app
