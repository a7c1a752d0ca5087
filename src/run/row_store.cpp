// SPDX-License-Identifier: Apache-2.0
#include "run/row_store.h"

#include <algorithm>
#include <vector>

namespace lepus {

RowStore::RowStore(const RowStoreSize& size) : columns_(size.columns), rows_(size.rows), views_(size.views) {
  const std::int64_t bytes = size.floats() * float_bytes;
  const ScratchFile::Words words{"corrected rows",
                                 "allow more memory with --memory, or write the volume to a disk with more space"};
  if (bytes <= size.host_bytes)
    memory_ = Buffer<float>(size.floats());
  else if (size.output.empty())
    file_.emplace(std::filesystem::path(), bytes, words);
  else
    file_.emplace(size.output, "rows", bytes, words);
}

void RowStore::put(const SinogramBand& kept, RowBand rows) {
  const Planes sinograms = kept.sinograms(rows);
  std::vector<float> part(static_cast<std::size_t>(in_memory() ? 0 : rows.size() * columns_));
  for (std::int64_t view = 0; view < views_; ++view) {
    float* to = in_memory() ? memory_.data() + offset(view, rows.first) : part.data();
    for (std::int64_t row = 0; row < rows.size(); ++row)
      std::copy_n(sinograms.row(row, view), columns_, to + row * columns_);
    if (in_memory()) continue;
    file_->write(offset(view, rows.first) * float_bytes, part.data(), rows.size() * columns_ * float_bytes);
  }
}

void RowStore::get(std::int64_t view, RowBand rows, float* out) const {
  const std::int64_t from = offset(view, rows.first), values = rows.size() * columns_;
  if (in_memory()) {
    std::copy_n(memory_.data() + from, values, out);
    return;
  }
  file_->read(from * float_bytes, out, values * float_bytes);
}

}  // namespace lepus
