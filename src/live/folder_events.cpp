// SPDX-License-Identifier: Apache-2.0
#include "live/folder_events.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#if __has_include(<sys/inotify.h>)
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>
#define LEPUS_HAVE_INOTIFY 1
#endif

namespace lepus {

bool FolderEvents::being_written(const std::string& file_name) {
  take_events();
  return written_.contains(file_name);
}

bool FolderEvents::closed(const std::string& file_name) {
  take_events();
  return closed_.contains(file_name);
}

#ifdef LEPUS_HAVE_INOTIFY

FolderEvents::~FolderEvents() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void FolderEvents::watch(const std::filesystem::path& folder) {
  if (watch_ >= 0) return;
  if (descriptor_ < 0) descriptor_ = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (descriptor_ < 0) return;
  watch_ = ::inotify_add_watch(descriptor_, folder.empty() ? "." : folder.c_str(),
                               IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE);
}

void FolderEvents::wait(double seconds) {
  if (watch_ < 0) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    return;
  }
  pollfd waiting{descriptor_, POLLIN, 0};
  (void)::poll(&waiting, 1, std::max(1, static_cast<int>(1e3 * seconds)));
  take_events();
}

void FolderEvents::take_events() {
  if (descriptor_ < 0) return;
  alignas(inotify_event) std::array<char, 16384> buffer;
  for (;;) {
    const ssize_t bytes = ::read(descriptor_, buffer.data(), buffer.size());
    if (bytes <= 0) return;
    for (const char* at = buffer.data(); at < buffer.data() + bytes;) {
      const auto* event = reinterpret_cast<const inotify_event*>(at);
      at += sizeof(inotify_event) + event->len;
      if (event->mask & IN_Q_OVERFLOW) {  // something was lost: only looking helps
        written_.clear();
        closed_.clear();
      }
      if (event->mask & IN_IGNORED) watch_ = -1;  // the folder is gone, and may come again
      if (event->len == 0) continue;
      const std::string name = event->name;
      if (event->mask & IN_MODIFY) {
        written_.insert(name);
        closed_.erase(name);
      }
      if (event->mask & (IN_CLOSE_WRITE | IN_MOVED_TO)) {
        written_.erase(name);
        closed_.insert(name);
      }
    }
  }
}

#else

FolderEvents::~FolderEvents() = default;
void FolderEvents::watch(const std::filesystem::path&) {}
void FolderEvents::wait(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }
void FolderEvents::take_events() {}

#endif

}  // namespace lepus
