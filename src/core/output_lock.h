// SPDX-License-Identifier: Apache-2.0
// One run at a time writes an output, or several that have agreed to share it: a lock on a small file beside it,
// ".v.mha.lepus-lock", that says who holds it.
// flock, because the system gives it back however a run ends, kill -9 included, and because Linux carries it to the
// server of an NFS or SMB disk, so that runs on two machines see each other (fcntl's record locks go there too, but a
// process loses them when any of its threads closes the file). Where a file system knows no locks the run goes on
// without: partial files have names of their own, so that no voxel is mixed, and the last step still finds the other's
// output.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace lepus {

// "link" -> what it points to, which need not exist; other names stay as they are.
std::filesystem::path followed(const std::filesystem::path& target);

// "v.mha", "rows" -> "v.mha.rows-4711-0a1b2c3d": beside the output, of this process alone. Whoever takes the lock of
// the output after this process was killed removes it.
std::filesystem::path name_of_this_run(const std::filesystem::path& target, const std::string& what);
// "v.mha.partial-4711-0a1b2c3d"
std::filesystem::path partial_name(const std::filesystem::path& target);
// "v.mha.unfinished": what outlives the process that made it, so that another one can go on with it.
std::filesystem::path unfinished_name(const std::filesystem::path& target);

// Of a file, or of all files in a folder and below.
std::int64_t bytes_below(const std::filesystem::path& path);

// Whether the file's name still leads to what is open.
bool is_same_file(int descriptor, const std::filesystem::path& file);

// Who holds the lock of `target` now, for people; "" where nobody does.
std::string holder_of_output(const std::filesystem::path& target);

// Removes the lock that a run left that was killed, and what it had begun under names of its own; not one that is held.
void remove_dead_lock(const std::filesystem::path& target);

enum class Sharing {
  alone,
  with_others  // several processes hold it at a time, and none that wants it alone
};

class OutputLock {
public:
  enum class Folder { must_exist, is_made };

  OutputLock() = default;  // of nothing
  // Throws Error(disk) that names the holder. A lock that this process holds is shared, so that an output can be
  // reserved before the work and written after it. A folder that was made goes with the lock where it stayed empty.
  explicit OutputLock(const std::filesystem::path& target, Folder folder = Folder::must_exist,
                      Sharing sharing = Sharing::alone);

  // What people should know of it, or "": partial files of runs that were killed, which taking it removed, whose they
  // were and how large; or that it holds nobody back, for the file system knows no locks.
  const std::string& warning() const;
  bool is_held() const;  // and not only wanted

  // Waits until no other process holds a shared lock, which this one then holds alone. False: some still do.
  [[nodiscard]] bool wait_alone(std::chrono::milliseconds longest);

private:
  struct Held;
  std::shared_ptr<Held> held_;
};

}  // namespace lepus
