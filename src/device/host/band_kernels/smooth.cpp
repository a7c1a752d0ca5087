// SPDX-License-Identifier: Apache-2.0
// Box and Gaussian on the CPU, one axis at a time. The Gaussian is a sum over its mask. The box costs three additions a
// pixel whatever its radius: the line is cut into blocks of the mask's length, counted from pixel 0 of the whole
// picture, and every mask is the end of one block and the beginning of the next (van Herk, 1992, for sums): no sum is
// older than the mask, so nothing cancels and nothing depends on where the part at hand begins.
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "core/memory.h"
#include "device/host/band_kernels/host_passes.h"
#include "device/host/band_kernels/row_kernels.h"

namespace lepus::filters {
namespace {

std::vector<double> mask_weights(const Pass& pass, std::int64_t reach) {
  std::vector<double> weights;
  double sum = 0;
  for (std::int64_t k = -reach; k <= reach; ++k) {
    const auto distance = static_cast<double>(k);
    weights.push_back(pass.kind == FilterKind::box ? 1
                                                   : std::exp(-0.5 * distance * distance / (pass.sigma * pass.sigma)));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

// Of the mask about pixel i of n, the weight that lies inside; 1 unless the border is partial.
double weight_inside(const Pass& pass, const std::vector<double>& weights, std::int64_t i, std::int64_t n) {
  const auto reach = static_cast<std::int64_t>(weights.size() / 2);
  if (pass.border != FilterBorder::partial || full_mask(i, n, reach)) return 1;
  double sum = 0;
  for (std::int64_t k = std::max(-reach, -i); k <= std::min(reach, n - 1 - i); ++k)
    sum += weights[static_cast<std::size_t>(k + reach)];
  return sum;
}

std::int64_t place_in_block(std::int64_t i, std::int64_t block) { return ((i % block) + block) % block; }

struct AlongRows {
  Buffer<float> line, ends;
  std::vector<const float*> taps;
};

// Sums of `mask` neighbours of a line of n + mask - 1 floats.
void box_line(const float* line, std::int64_t n, std::int64_t mask, float* ends, float* out) {
  for (std::int64_t first = 0; first < n; first += mask) {
    float end = 0;
    for (std::int64_t i = std::min(first + mask, n + mask - 1) - 1; i >= first; --i) ends[i] = end += line[i];
  }
  float beginning = 0;
  for (std::int64_t x = 0, place = 0; x < n; ++x) {
    beginning = place == 0 ? 0 : beginning + line[x + mask - 1];
    out[x] = ends[x] + beginning;
    place = place + 1 == mask ? 0 : place + 1;
  }
}

void smooth_rows(const Pass& pass, const Stack& original, const Stack& from, const Stack& to, ThreadPool& threads) {
  const std::int64_t width = from.part.width, r = pass.reach_u, mask = 2 * r + 1, rows = pass.rows.size();
  const std::vector<double> exact = mask_weights(pass, r);
  const std::vector<float> weights(exact.begin(), exact.end());
  std::vector<float> scale(static_cast<std::size_t>(width));
  for (std::int64_t x = 0; x < width; ++x)
    scale[static_cast<std::size_t>(x)] =
        static_cast<float>((pass.kind == FilterKind::box ? exact[0] : 1) / weight_inside(pass, exact, x, width));
  const bool scaled = pass.kind == FilterKind::box || pass.border == FilterBorder::partial;
  std::vector<AlongRows> scratch(static_cast<std::size_t>(threads.size()));
  threads.parallel_for(0, rows * pass.planes.size(), 16, [&](std::int64_t begin, std::int64_t end, int worker) {
    AlongRows& mine = scratch[static_cast<std::size_t>(worker)];
    if (mine.line.size() == 0) {
      mine.line = Buffer<float>(width + 2 * r + slack);
      mine.ends = Buffer<float>(width + 2 * r + slack);
      for (std::int64_t k = 0; k < mask; ++k) mine.taps.push_back(mine.line.data() + k);
    }
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t z = pass.planes.first + i / rows, y = pass.rows.first + i % rows;
      float* out = to.row(z, y);
      gather_row(pass, from, z, y, -r, width + r, 0, mine.line.data());
      if (pass.kind == FilterKind::box)
        box_line(mine.line.data(), width, mask, mine.ends.data(), out);
      else
        row_kernels().weighted_sum(mine.taps.data(), weights.data(), mask, out, width);
      if (scaled)
        for (std::int64_t x = 0; x < width; ++x) out[x] *= scale[static_cast<std::size_t>(x)];
      put_back(pass, original, to, z, y, 0, width);
    }
  });
}

// A line of rows, along v or along z, of which the mask sees `reach` on either side.
struct Line {
  const Pass& pass;
  const Stack& from;
  bool along_v;
  std::int64_t other;  // the plane, along v; the row, along z

  std::int64_t length() const { return along_v ? from.rows : from.planes; }
  const float* at(std::int64_t i, std::int64_t x) const {  // nullptr where there is none
    const std::int64_t found = border_index(pass.border, i, length());
    if (found < 0) return nullptr;
    return (along_v ? from.row(other, found) : from.row(found, other)) + x;
  }
};

void gaussian_across(const Line& line, const std::vector<double>& weights, std::int64_t i, std::int64_t x,
                     std::int64_t n, float* out) {
  const auto reach = static_cast<std::int64_t>(weights.size() / 2);
  const double inside = weight_inside(line.pass, weights, i, line.length());
  std::vector<const float*> rows;
  std::vector<float> used;
  for (std::int64_t k = -reach; k <= reach; ++k)
    if (const float* row = line.at(i + k, x)) {
      rows.push_back(row);
      used.push_back(static_cast<float>(weights[static_cast<std::size_t>(k + reach)] / inside));
    }
  row_kernels().weighted_sum(rows.data(), used.data(), static_cast<std::int64_t>(rows.size()), out, n);
}

void add_row(const float* row, std::int64_t n, float* sums) {
  if (row)
    for (std::int64_t x = 0; x < n; ++x) sums[x] += row[x];
}

// Columns [x, x + n) of rows [wanted) of a line; ends holds mask + 1 rows of n.
void box_across(const Line& line, const std::vector<double>& weights, RowBand wanted, std::int64_t x, std::int64_t n,
                float* ends, const std::function<float*(std::int64_t)>& out) {
  const auto mask = static_cast<std::int64_t>(weights.size()), reach = mask / 2;
  float* beginning = ends + mask * n;
  for (std::int64_t i = wanted.first; i < wanted.last; ++i) {
    const std::int64_t first = i - reach, place = place_in_block(first, mask);
    if (i == wanted.first || place == 0) {
      for (std::int64_t k = mask - 1; k >= place; --k) {
        float* end = ends + k * n;
        if (k == mask - 1)
          std::fill_n(end, n, 0.0f);
        else
          std::copy_n(end + n, n, end);
        add_row(line.at(first - place + k, x), n, end);
      }
      std::fill_n(beginning, n, 0.0f);
      for (std::int64_t k = mask; k < mask + place; ++k) add_row(line.at(first - place + k, x), n, beginning);
    } else {
      add_row(line.at(i + reach, x), n, beginning);
    }
    const auto scale = static_cast<float>(weights[0] / weight_inside(line.pass, weights, i, line.length()));
    const float* end = ends + place * n;
    float* to = out(i);
    for (std::int64_t j = 0; j < n; ++j) to[j] = scale * (end[j] + beginning[j]);
  }
}

// Columns are worked on in blocks whose rows stay in the cache.
constexpr std::int64_t columns_at_once = 256;

void smooth_across(const Pass& pass, const Stack& original, const Stack& from, const Stack& to, ThreadPool& threads) {
  const bool along_v = pass.reach_v > 0;
  const std::int64_t width = from.part.width, reach = along_v ? pass.reach_v : pass.reach_z;
  const RowBand wanted = along_v ? pass.rows : pass.planes, others = along_v ? pass.planes : pass.rows;
  const std::vector<double> weights = mask_weights(pass, reach);
  const std::int64_t blocks = (width + columns_at_once - 1) / columns_at_once;
  std::vector<Buffer<float>> scratch(static_cast<std::size_t>(threads.size()));
  threads.parallel_for(0, others.size() * blocks, 1, [&](std::int64_t begin, std::int64_t end, int worker) {
    Buffer<float>& ends = scratch[static_cast<std::size_t>(worker)];
    if (ends.size() == 0) ends = Buffer<float>((2 * reach + 2) * columns_at_once);
    for (std::int64_t task = begin; task < end; ++task) {
      const Line line{pass, from, along_v, others.first + task / blocks};
      const std::int64_t x = task % blocks * columns_at_once, n = std::min(columns_at_once, width - x);
      const auto out = [&](std::int64_t i) { return (along_v ? to.row(line.other, i) : to.row(i, line.other)) + x; };
      if (pass.kind == FilterKind::box)
        box_across(line, weights, wanted, x, n, ends.data(), out);
      else
        for (std::int64_t i = wanted.first; i < wanted.last; ++i) gaussian_across(line, weights, i, x, n, out(i));
      for (std::int64_t i = wanted.first; i < wanted.last; ++i)
        put_back(pass, original, to, along_v ? line.other : i, along_v ? i : line.other, x, x + n);
    }
  });
}

}  // namespace

void smooth_on_host(const Pass& pass, const Stack& original, const Stack& from, const Stack& to, ThreadPool& threads) {
  if (pass.reach_u > 0)
    smooth_rows(pass, original, from, to, threads);
  else
    smooth_across(pass, original, from, to, threads);
}

}  // namespace lepus::filters
