// SPDX-License-Identifier: Apache-2.0
// The lock file's text, for each holder: "lepus", the token that ends the names of the run's own files, "shares" where
// it does, and in a line of its own who it is, for people. A file that is there and not locked was left by runs that
// were killed.
#include "core/output_lock.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string_view>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/format.h"
#include "core/memory.h"
#include "core/text.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

// Names have at most 255 bytes, and something is added to them.
std::string shortened_name(const std::string& name) {
  constexpr std::size_t longest = 180;
  return name.size() <= longest ? name : format("{}-{:x}", name.substr(0, longest), std::hash<std::string>{}(name));
}

// "4711-0a1b2c3d": the number alone would be that of another run on another machine.
std::string run_token() {
  static std::mutex mutex;
  static std::string token;
  static ::pid_t owner = 0;
  const std::scoped_lock lock(mutex);
  if (owner != ::getpid()) {  // a fork is another run
    owner = ::getpid();
    token = format("{}-{:08x}", owner, std::random_device{}());
  }
  return token;
}

bool is_token(const std::string& text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string::npos || dash == 0 || text.size() != dash + 9) return false;
  return text.find_first_not_of("0123456789") == dash &&
         text.find_first_not_of("0123456789abcdef", dash + 1) == std::string::npos;
}

std::string command_line() {
  constexpr std::size_t longest = 200;
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string words((std::istreambuf_iterator<char>(file)), {});
  while (!words.empty() && words.back() == '\0') words.pop_back();
  std::replace_if(
      words.begin(), words.end(), [](unsigned char c) { return c < ' '; }, ' ');
  return words.size() > longest ? words.substr(0, longest) + "..." : words;
}

// "process 4711 on tooth since 2026-11-16 03:12:05 UTC: lepus post a.mha -o v.mha"
std::string this_run() {
  char host[256] = "";
  if (::gethostname(host, sizeof host - 1) != 0) std::strcpy(host, "?");
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  char since[32] = "";
  std::strftime(since, sizeof since, "%Y-%m-%d %H:%M:%S UTC", ::gmtime_r(&now, &utc));
  const std::string command = command_line();
  return format("process {} on {} since {}{}", ::getpid(), host, since, command.empty() ? "" : ": " + command);
}

struct Record {
  std::string token, who;
  bool shares = false;
};

constexpr std::string_view shares_word = " shares";

std::vector<Record> read_records(int descriptor) {
  std::string text(std::size_t{1} << 16, '\0');
  const ssize_t bytes = ::pread(descriptor, text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, bytes)));
  std::vector<Record> records;
  for (std::size_t at = 0; text.compare(at, 6, "lepus ") == 0;) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos) break;
    Record record;
    record.token = text.substr(at + 6, end - at - 6);
    record.shares = record.token.ends_with(shares_word);
    if (record.shares) record.token.resize(record.token.size() - shares_word.size());
    if (!is_token(record.token)) break;
    const std::size_t next = text.find('\n', end + 1);
    record.who = text.substr(end + 1, next - end - 1);
    records.push_back(std::move(record));
    if (next == std::string::npos) break;
    at = next + 1;
  }
  return records;
}

// Holders that come at the same time each add theirs. What is lost where it fails is the name in another run's message.
void add_record(int descriptor, Sharing sharing) {
  const std::string text = format("lepus {}{}\n{}\n", run_token(),
                                  sharing == Sharing::with_others ? shares_word : std::string_view(), this_run());
  if (::fcntl(descriptor, F_SETFL, O_APPEND) != 0 || ::write(descriptor, text.data(), text.size()) < 0) return;
}

[[noreturn]] void refuse_target(const fs::path& target, std::string what, std::string why, std::string hint) {
  throw Error(ErrorKind::disk,
              {.what = std::move(what), .where = target.string(), .why = std::move(why), .hint = std::move(hint)});
}

constexpr int no_locks = -1, no_folder = -2;
constexpr std::chrono::milliseconds longest_pause(20);  // between two attempts

struct Taken {
  int descriptor;       // of the locked file, or one of these
  std::string warning;  // see OutputLock::warning
};

// 0, or why not. Whoever shares it first holds it alone for a moment, and so knows that all others are dead.
int try_lock(int descriptor, Sharing sharing, bool& first) {
  first = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  if (first) return 0;
  if (errno != EWOULDBLOCK || sharing == Sharing::alone) return errno;
  return ::flock(descriptor, LOCK_SH | LOCK_NB) == 0 ? 0 : errno;
}

// Nothing can be made of what killed runs had begun under names of their own.
std::string remove_left_behind(const fs::path& folder, const std::vector<Record>& dead) {
  if (dead.empty()) return {};
  const auto is_left = [&](const fs::path& path) {
    return std::any_of(dead.begin(), dead.end(), [name = path.filename().string()](const Record& record) {
      return name.ends_with("-" + record.token);
    });
  };
  std::int64_t bytes = 0, count = 0;
  std::error_code code;
  std::vector<fs::path> left;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code))
    if (is_left(entry->path())) left.push_back(entry->path());
  for (const fs::path& path : left) {
    bytes += bytes_below(path);
    if (fs::remove_all(path, code) > 0 && !code) ++count;
  }
  if (count == 0) return {};
  return format("removed {} ({}), which a run that was ended left behind: {}",
                count == 1 ? left.front().string() : format("{} files", count), format_bytes(bytes), dead.back().who);
}

// Of a lock that nobody else holds. This run is named before those that are gone are forgotten: others can tell whom
// they wait for, and what is not removed by now still has a name where this run is killed, too.
std::string take_over(int descriptor, const fs::path& folder, Sharing sharing) {
  std::vector<Record> dead = read_records(descriptor);
  // This run's own, where it lost the lock between holding it alone and sharing it.
  std::erase_if(dead, [own = run_token()](const Record& record) { return record.token == own; });
  if (!dead.empty()) add_record(descriptor, sharing);
  std::string removed = remove_left_behind(folder, dead);
  if (::ftruncate(descriptor, 0) == 0) add_record(descriptor, sharing);
  return removed;
}

// How long to wait for the holders. Those that share it hold it alone for a moment when they come and when they go, and
// whoever came first has not written its name yet: on a busy disk that takes seconds. Others end when they end.
std::chrono::milliseconds patience(const std::vector<Record>& holders, Sharing sharing) {
  const bool soon = holders.empty() || (sharing == Sharing::with_others && holders.back().shares);
  return std::chrono::milliseconds(soon ? 60'000 : 100);
}

Taken take_lock(const fs::path& file, const fs::path& target, Sharing sharing) {
  Taken taken{no_locks, {}};
  const auto began = std::chrono::steady_clock::now();
  for (std::chrono::milliseconds pause(1);; pause = std::min(2 * pause, longest_pause)) {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor < 0 && errno == ENOENT) return {no_folder, {}};
    if (descriptor < 0)
      refuse_target(target, "cannot write", std::strerror(errno),
                    hint_for_errno(errno, "check the permissions of its folder"));
    bool first = false;
    const int code = try_lock(descriptor, sharing, first);
    if (code == 0 && !is_same_file(descriptor, file)) {
      ::close(descriptor);  // its holder removed it after we opened it: take the one that is there now
      continue;
    }
    if (code == 0) {
      taken.descriptor = descriptor;
      if (!first) {
        add_record(descriptor, sharing);
      } else if (std::string removed = take_over(descriptor, file.parent_path(), sharing); !removed.empty()) {
        taken.warning = std::move(removed);
      }
      // What was held alone is nobody's for an instant before it is shared.
      if (!first || sharing == Sharing::alone || ::flock(descriptor, LOCK_SH | LOCK_NB) == 0) return taken;
    } else if (code != EWOULDBLOCK) {
      ::unlink(file.c_str());
      ::close(descriptor);
      return {no_locks, {}};
    }
    const std::vector<Record> holders = read_records(descriptor);
    ::close(descriptor);
    if (std::chrono::steady_clock::now() - began > patience(holders, sharing))
      refuse_target(target, "another run is writing this",
                    holders.empty() ? "who it is cannot be read" : holders.back().who,
                    "wait until it has ended, or choose another name");
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace

struct OutputLock::Held {
  fs::path file, made;
  int descriptor = -1;
  Sharing sharing = Sharing::alone;
  ::pid_t owner = ::getpid();
  std::string warning;

  Held() = default;
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    if (descriptor >= 0) {
      // Before it is unlocked: nobody else's file can be meant. The last one that shared it removes it.
      const bool alone = sharing == Sharing::alone || ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
      if (alone && owner == ::getpid() && is_same_file(descriptor, file)) ::unlink(file.c_str());
      ::close(descriptor);
    }
    if (!made.empty() && owner == ::getpid()) ::rmdir(made.c_str());
  }
};

bool is_same_file(int descriptor, const fs::path& file) {
  struct stat here {
  }, there{};
  return ::fstat(descriptor, &here) == 0 && ::stat(file.c_str(), &there) == 0 && here.st_ino == there.st_ino &&
         here.st_dev == there.st_dev;
}

fs::path followed(const fs::path& target) {
  fs::path path = target;
  std::error_code code;
  for (int links = 0; links < 40 && fs::is_symlink(path, code); ++links) {
    const fs::path to = fs::read_symlink(path, code);
    if (code) break;
    path = to.is_absolute() ? to : path.parent_path() / to;
  }
  return path;
}

std::int64_t bytes_below(const fs::path& path) {
  std::error_code code;
  if (!fs::is_directory(fs::symlink_status(path, code)))
    return fs::is_regular_file(path, code) ? static_cast<std::int64_t>(fs::file_size(path, code)) : 0;
  std::int64_t bytes = 0;
  for (fs::recursive_directory_iterator entry(path, code), end; !code && entry != end; entry.increment(code))
    if (entry->is_regular_file(code)) bytes += static_cast<std::int64_t>(entry->file_size(code));
  return bytes;
}

fs::path name_of_this_run(const fs::path& target, const std::string& what) {
  return target.parent_path() / format("{}.{}-{}", shortened_name(target.filename().string()), what, run_token());
}

fs::path partial_name(const fs::path& target) { return name_of_this_run(target, "partial"); }

fs::path unfinished_name(const fs::path& target) {
  return target.parent_path() / (shortened_name(target.filename().string()) + ".unfinished");
}

namespace {

// ".v.mha.lepus-lock" in the folder of what `target` leads to, which need not exist.
fs::path lock_name(const fs::path& real) { return "." + shortened_name(real.filename().string()) + ".lepus-lock"; }

}  // namespace

std::string holder_of_output(const fs::path& target) {
  const fs::path real = fs::absolute(followed(target));
  const int descriptor = ::open((real.parent_path() / lock_name(real)).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return {};
  std::string who;
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    const std::vector<Record> holders = read_records(descriptor);
    who = holders.empty() ? "another run" : holders.back().who;
  }
  ::close(descriptor);  // and so gives it back where nobody had it
  return who;
}

void remove_dead_lock(const fs::path& target) {
  const fs::path real = fs::absolute(followed(target));
  std::error_code code;
  if (!fs::exists(real.parent_path() / lock_name(real), code) || !holder_of_output(target).empty()) return;
  try {
    const OutputLock taken_over(target);
  } catch (const Error&) {  // somebody came between
  }
}

OutputLock::OutputLock(const fs::path& target, Folder folder, Sharing sharing) {
  static std::mutex mutex;
  static std::map<fs::path, std::weak_ptr<Held>> held_here;
  static std::set<fs::path> without_locks;  // folders of which that was said

  const fs::path real = fs::absolute(followed(target)), parent = real.parent_path();
  const fs::path name = lock_name(real);
  const std::scoped_lock lock(mutex);
  std::erase_if(held_here, [](const auto& entry) { return entry.second.expired(); });
  auto held = std::make_shared<Held>();
  // Another run may remove the folder that it made just when this one has seen it: then it is made again.
  const int attempts = folder == Folder::is_made ? 100 : 1;
  held->descriptor = no_folder;
  held->sharing = sharing;
  Taken taken{no_folder, {}};
  for (int attempt = 0; attempt < attempts && held->descriptor == no_folder; ++attempt) {
    std::error_code code;
    if (folder == Folder::is_made && fs::create_directories(parent, code)) held->made = parent;
    if (code)
      refuse_target(parent, "cannot make the folder", code.message(), "check the permissions of the folder above");
    const fs::path place = fs::canonical(parent, code);
    if (code || !fs::is_directory(place, code)) continue;
    held->file = place / name;
    if (const auto known = held_here.find(held->file); known != held_here.end()) {
      held_ = known->second.lock();
      if (held_ && held_->owner == ::getpid()) return;
    }
    taken = take_lock(held->file, target, sharing);
    held->descriptor = taken.descriptor;
  }
  if (held->descriptor == no_folder)
    refuse_target(target, "cannot write", format("there is no folder {}", parent.string()), "make the folder first");
  held->warning = std::move(taken.warning);
  if (held->descriptor == no_locks && without_locks.insert(held->file.parent_path()).second)
    held->warning = format("{}: this file system knows no locks: another run with the same output would not be noticed",
                           held->file.parent_path().string());
  held_ = std::move(held);
  held_here[held_->file] = held_;
}

const std::string& OutputLock::warning() const {
  static const std::string nothing;
  return held_ ? held_->warning : nothing;
}

bool OutputLock::is_held() const { return held_ && held_->descriptor >= 0; }

bool OutputLock::wait_alone(std::chrono::milliseconds longest) {
  if (!held_ || held_->descriptor < 0 || held_->sharing == Sharing::alone) return true;
  const auto end = std::chrono::steady_clock::now() + longest;
  while (::flock(held_->descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (std::chrono::steady_clock::now() >= end) {
      ::flock(held_->descriptor, LOCK_SH);  // the system gave the shared one back for the attempt
      return false;
    }
    std::this_thread::sleep_for(longest_pause);
  }
  held_->sharing = Sharing::alone;
  if (::ftruncate(held_->descriptor, 0) == 0) add_record(held_->descriptor, Sharing::alone);
  return true;
}

}  // namespace lepus
