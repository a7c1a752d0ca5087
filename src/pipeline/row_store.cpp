// SPDX-License-Identifier: Apache-2.0
#include "pipeline/row_store.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus {
namespace {

[[noreturn]] void scratch_failed(const std::filesystem::path& folder, const char* what) {
  throw Error(ErrorKind::disk,
              {.what = format("cannot {} the scratch file for corrected rows", what),
               .where = folder.string(),
               .why = std::strerror(errno),
               .hint = "allow more memory with --memory, or write the volume to a disk with more room"});
}

int make_scratch_file(const std::filesystem::path& folder, std::int64_t bytes) {
  std::string name = (folder / ".lepus-corrected-XXXXXX").string();
  const int file = mkstemp(name.data());
  if (file < 0) scratch_failed(folder, "make");
  unlink(name.c_str());  // nothing is left behind, however the program ends
  if (const int failure = posix_fallocate(file, 0, bytes); failure == ENOSPC) {
    close(file);
    errno = failure;
    scratch_failed(folder, "make room for");
  }
  return file;
}

// All bytes, or an error.
template <class Transfer>
void transfer_all(std::int64_t bytes, std::int64_t at, const std::filesystem::path& folder, const char* what,
                  const Transfer& transfer) {
  for (std::int64_t done = 0; done < bytes;) {
    const ssize_t n = transfer(done, static_cast<std::size_t>(bytes - done), static_cast<off_t>(at + done));
    if (n > 0)
      done += n;
    else if (n == 0 || errno != EINTR)
      scratch_failed(folder, what);
  }
}

constexpr std::int64_t value_bytes = sizeof(float);

}  // namespace

RowStore::RowStore(const RowStoreSize& size)
    : columns_(size.columns), rows_(size.rows), views_(size.views), folder_(size.folder.empty() ? "." : size.folder) {
  if (size.floats() * value_bytes <= size.host_bytes)
    memory_ = Buffer<float>(size.floats());
  else
    file_ = make_scratch_file(folder_, size.floats() * value_bytes);
}

RowStore::~RowStore() {
  if (file_ >= 0) close(file_);
}

void RowStore::put(const SinogramBand& kept, RowBand rows) {
  const Planes sinograms = kept.sinograms(rows);
  std::vector<float> part(static_cast<std::size_t>(in_memory() ? 0 : rows.size() * columns_));
  for (std::int64_t view = 0; view < views_; ++view) {
    float* to = in_memory() ? memory_.data() + offset(view, rows.first) : part.data();
    for (std::int64_t row = 0; row < rows.size(); ++row)
      std::copy_n(sinograms.row(row, view), columns_, to + row * columns_);
    if (in_memory()) continue;
    const char* bytes = reinterpret_cast<const char*>(part.data());
    transfer_all(rows.size() * columns_ * value_bytes, offset(view, rows.first) * value_bytes, folder_, "write",
                 [&](std::int64_t done, std::size_t n, off_t at) { return pwrite(file_, bytes + done, n, at); });
  }
}

void RowStore::get(std::int64_t view, RowBand rows, float* out) const {
  const std::int64_t from = offset(view, rows.first), values = rows.size() * columns_;
  if (in_memory()) {
    std::copy_n(memory_.data() + from, values, out);
    return;
  }
  char* bytes = reinterpret_cast<char*>(out);
  transfer_all(values * value_bytes, from * value_bytes, folder_, "read",
               [&](std::int64_t done, std::size_t n, off_t at) { return pread(file_, bytes + done, n, at); });
}

}  // namespace lepus
