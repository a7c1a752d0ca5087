// SPDX-License-Identifier: Apache-2.0
#include "iterative/kept_pieces.h"

#include <algorithm>
#include <exception>
#include <numeric>

#include "ranks/agree.h"

namespace lepus {
namespace {

constexpr std::int64_t piece_values = 1 << 22;
constexpr int every_rank = -1, piece_tag = 1;

}  // namespace

KeptPieces::KeptPieces(Method& method) : method_(method), ranks_(method.ranks()) {
  for (const auto& [name, vector] : method.kept_vectors()) {
    std::vector<std::int64_t>& sizes = sizes_[name];
    if (!vector->shared_out())
      sizes.push_back(vector->size());
    else
      for (const double size : numbers_of_all(*ranks_, static_cast<double>(vector->size())))
        sizes.push_back(static_cast<std::int64_t>(size));
  }
}

std::int64_t KeptPieces::size(const std::string& name) const {
  const std::vector<std::int64_t>& sizes = sizes_.at(name);
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
}

std::vector<std::int64_t> KeptPieces::counts() const {
  std::vector<std::int64_t> counts;
  for (const auto& [name, sizes] : sizes_)
    for (const std::int64_t size : sizes)
      for (std::int64_t at = 0; at < size; at += piece_values) counts.push_back(std::min(piece_values, size - at));
  return counts;
}

void KeptPieces::each(const std::function<void(float*, std::int64_t, int)>& body) {
  for (const auto& [name, vector] : method_.kept_vectors()) {
    const std::vector<std::int64_t>& sizes = sizes_.at(name);
    for (int part = 0; part < static_cast<int>(sizes.size()); ++part) {
      const std::int64_t size = sizes[static_cast<std::size_t>(part)];
      const bool here = !vector->shared_out() || part == ranks_->rank();
      for (std::int64_t at = 0; at < size; at += piece_values) {
        const std::int64_t count = std::min(piece_values, size - at);
        piece_.resize(static_cast<std::size_t>(count));
        body(here ? vector->data() + at : nullptr, count, vector->shared_out() ? part : every_rank);
      }
    }
  }
}

void KeptPieces::collect(const std::function<void(const float*, std::int64_t)>& take) {
  std::exception_ptr failure;
  each([&](const float* values, std::int64_t count, int owner) {
    if (!first() && owner != ranks_->rank()) return;
    if (values)
      method_.download(piece_.data(), values, count);
    else
      ranks_->receive(owner, piece_tag, piece_.data(), count);
    if (!first()) {
      ranks_->send(0, piece_tag, piece_.data(), count);
    } else if (!failure) {
      try {
        take(piece_.data(), count);
      } catch (...) {
        failure = std::current_exception();
      }
    }
  });
  if (failure) std::rethrow_exception(failure);
}

void KeptPieces::distribute(const std::function<void(float*, std::int64_t)>& give) {
  each([&](float* values, std::int64_t count, int owner) {
    if (!first() && !values) return;
    if (first())
      give(piece_.data(), count);
    else
      ranks_->receive(0, piece_tag, piece_.data(), count);
    if (values) method_.upload(values, piece_.data(), count);
    if (!first() || !ranks_) return;
    for (int rank = 1; rank < ranks_->size(); ++rank)
      if (owner == every_rank || owner == rank) ranks_->send(rank, piece_tag, piece_.data(), count);
  });
}

}  // namespace lepus
