// SPDX-License-Identifier: Apache-2.0
#include "run/row_store.h"

#include <algorithm>
#include <vector>

namespace lepus {

RowStore::RowStore(const RowStoreSize& size) : size_(size) {
  const std::int64_t bytes = size.floats() * float_bytes;
  const ScratchFile::Words words{"corrected rows",
                                 "allow more memory with --memory, or write the volume to a disk with more space"};
  std::error_code code;
  const bool was_kept = !size.kept.empty() && std::filesystem::exists(size.kept, code);
  if (bytes <= size.host_bytes && !was_kept)
    memory_ = Buffer<float>(size.floats());
  else if (!size.kept.empty())
    file_.emplace(ScratchFile::Kept{size.kept}, bytes, words);
  else if (size.output.empty())
    file_.emplace(std::filesystem::path(), bytes, words);
  else
    file_.emplace(size.output, "rows", bytes, words);
}

void RowStore::put(const SinogramBand& kept, RowBand rows) {
  const Planes sinograms = kept.sinograms(rows);
  std::vector<float> part(static_cast<std::size_t>(in_memory() ? 0 : rows.size() * size_.columns));
  for (std::int64_t view = 0; view < size_.views; ++view) {
    float* to = in_memory() ? memory_.data() + size_.offset(view, rows.first) : part.data();
    for (std::int64_t row = 0; row < rows.size(); ++row)
      std::copy_n(sinograms.row(row, view), size_.columns, to + row * size_.columns);
    if (in_memory()) continue;
    file_->write(size_.offset(view, rows.first) * float_bytes, part.data(), rows.size() * size_.columns * float_bytes);
  }
}

void RowStore::get(std::int64_t view, RowBand rows, float* out) const {
  const std::int64_t from = size_.offset(view, rows.first), values = rows.size() * size_.columns;
  if (in_memory()) {
    std::copy_n(memory_.data() + from, values, out);
    return;
  }
  file_->read(from * float_bytes, out, values * float_bytes);
}

}  // namespace lepus
