// SPDX-License-Identifier: Apache-2.0
// The table of blobs that lepus analyze wrote (CSV), as the page gets it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace lepus::view {

class BlobTable {
public:
  explicit BlobTable(const std::filesystem::path& csv);  // throws Error(input)

  std::size_t rows() const { return rows_; }
  const std::string& json() const { return json_; }  // {"columns": [..], "rows": [[..] ..]}

private:
  std::size_t rows_ = 0;
  std::string json_;
};

}  // namespace lepus::view
