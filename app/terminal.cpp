// SPDX-License-Identifier: Apache-2.0
#include "app/terminal.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/format.h"

namespace lepus::app {

bool stderr_is_terminal() {
  static const bool answer = ::isatty(STDERR_FILENO) != 0;
  return answer;
}

int terminal_columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

bool terminal_speaks_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (const char* value = std::getenv(name); value != nullptr && *value != 0) {
      const std::string locale = value;
      return locale.find("UTF-8") != std::string::npos || locale.find("utf8") != std::string::npos;
    }
  return false;
}

std::string styled(const std::string& text, Style style) {
  const char* no_color = std::getenv("NO_COLOR");
  if (style == Style::plain || !stderr_is_terminal() || (no_color != nullptr && *no_color != 0)) return text;
  const char* code = style == Style::red ? "1;31" : style == Style::yellow ? "1;33" : "1";
  return format("\033[{}m{}\033[0m", code, text);
}

void write_stderr(const std::string& text) {
  const char* data = text.data();
  std::size_t left = text.size();
  while (left > 0) {
    const ssize_t written = ::write(STDERR_FILENO, data, left);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    data += written;
    left -= static_cast<std::size_t>(written);
  }
}

void reserve_standard_descriptors() {
  // open() takes the lowest free number, which is the closed one. Opened for the wrong direction, so that using it
  // fails as it would have: `lepus info x >&-` reports that it cannot write.
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(descriptor, F_GETFD) == -1 && errno == EBADF)
      if (::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) == -1) return;
}

std::string format_seconds(double seconds) {
  if (seconds < 60) return format("{:.1f} s", seconds);
  const auto whole = std::llround(seconds);
  if (whole < 3600) return format("{} min {:02} s", whole / 60, whole % 60);
  return format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

}  // namespace lepus::app
