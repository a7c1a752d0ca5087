// SPDX-License-Identifier: Apache-2.0
#include "correct/rings/ring_judge.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "device/host/band_kernels/rings.h"
#include "correct/rings/ring_energy.h"

namespace lepus::rings {
namespace {

constexpr std::int64_t quarters = 4;

double square(double value) { return value * value; }

// Sums over the columns of a sinogram.
struct Tally {
  double taken = 0, along = 0;      // per column
  double changed = 0, varying = 0;  // per value
  double off = 0, nearer = 0;       // broken columns: squared distance from their bridges, and what it fell by
};

}  // namespace

ReplacedPixels count_broken(const unsigned char* masks, std::int64_t planes, std::int64_t columns) {
  ReplacedPixels count{0, planes * columns};
  for (std::int64_t plane = 0; plane < planes; ++plane)
    for (std::int64_t x = 0; x < columns; ++x) {
      const unsigned char* mask = masks + plane * columns;
      const bool inside = (x == 0 || mask[x - 1]) && (x + 1 == columns || mask[x + 1]);
      if (mask[x] && inside) ++count.pixels;
    }
  return count;
}

RingJudge::RingJudge(const RingSample& sample, const RingOptions& options, ThreadPool& threads)
    : before_(sample.sinograms), broken_(static_cast<std::size_t>(before_.count * before_.width)) {
  const Planes& before = before_;
  for (std::int64_t plane = 0; plane < before.count; ++plane)
    for (std::int64_t y = 0; y < before.height; ++y)
      for (std::int64_t x = 0; x < before.width; ++x)
        mean_square_ += square(static_cast<double>(before.row(plane, y)[x]));
  mean_square_ /= static_cast<double>(before.count * before.height * before.width);
  mean_square_ = std::max(mean_square_, std::numeric_limits<double>::min());
  find_broken_columns(before, options, broken_.data(), threads);
  broken_unclear_ = share_of(count_broken(broken_.data(), before.count, before.width)) > usual_maximum_share;
  if (broken_unclear_) std::fill(broken_.begin(), broken_.end(), static_cast<unsigned char>(0));
  bridged_ = bridged_copy(before, memory_, threads);
  if (broken_columns() > 0) bridge_error_ = error_of_bridges();
  energy_ = ring_energy(before, threads).total();
  energy_beside_ = broken_columns() > 0 ? ring_energy(bridged_, threads).total() : energy_;
  stripes_.resize(static_cast<std::size_t>(before.count));
  threads.parallel_for(0, before.count, 1, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t plane = begin; plane < end; ++plane)
      stripes_[static_cast<std::size_t>(plane)] = stripes_of(bridged_, plane);
  });
  const auto columns = static_cast<double>(before.count * before.width);
  for (const Stripes& stripes : stripes_)
    for (std::size_t x = 0; x < stripes.mean.size(); ++x) {
      seen_ += square(stripes.mean[x]) / columns;
      doubt_ += stripes.variance[x] / columns;
    }
  if (sample.rows_far_apart) object_ = in_common();
  if (sample.axis_column) object_ = std::max(object_, mirrored(*sample.axis_column));
  object_ = std::min(object_, seen_);
  doubt_ += object_;
}

// How far good columns are from the line between those two columns away: a broken one is marked with its neighbours.
double RingJudge::error_of_bridges() const {
  double sum = 0;
  std::int64_t values = 0;
  for (std::int64_t plane = 0; plane < before_.count; ++plane)
    for (std::int64_t x = 2; x + 2 < before_.width; ++x) {
      const unsigned char* broken = broken_.data() + plane * before_.width + x;
      if (std::any_of(broken - 2, broken + 3, [](unsigned char mark) { return mark != 0; })) continue;
      for (std::int64_t y = 0; y < before_.height; ++y) {
        const float* at = before_.row(plane, y) + x;
        sum += square(static_cast<double>(at[0]) - 0.5 * (static_cast<double>(at[-2]) + static_cast<double>(at[2])));
      }
      values += before_.height;
    }
  return values > 0 ? sum / static_cast<double>(values) : 0;
}

std::int64_t RingJudge::broken_columns() const {
  return count_broken(broken_.data(), before_.count, before_.width).pixels;
}

double RingJudge::object_share() const { return seen_ > 0 ? object_ / seen_ : 0; }

// The mean over all pairs of rows of the product of their stripes.
double RingJudge::in_common() const {
  const auto rows = static_cast<double>(before_.count);
  if (before_.count < 2) return 0;
  double products = 0;
  for (std::int64_t x = 0; x < before_.width; ++x) {
    double sum = 0, squares = 0;
    for (const Stripes& stripes : stripes_) {
      sum += stripes.mean[static_cast<std::size_t>(x)];
      squares += square(stripes.mean[static_cast<std::size_t>(x)]);
    }
    products += (sum * sum - squares) / (rows * (rows - 1));
  }
  return std::max(0.0, products / static_cast<double>(before_.width));
}

// The mean product of the stripes on both sides of the axis, at the place within two columns where it is largest. What
// is near the axis would be compared with itself.
double RingJudge::mirrored(double axis_column) const {
  const std::int64_t n = before_.width, near = 2;
  const std::int64_t nominal = std::llround(2 * std::clamp(axis_column, 0.0, static_cast<double>(n - 1)));
  double largest = 0;
  for (std::int64_t sum = nominal - 4; sum <= nominal + 4; ++sum) {  // of two columns that mirror each other
    double products = 0;
    for (const Stripes& stripes : stripes_)
      for (std::int64_t x = std::max<std::int64_t>(0, sum - n + 1); 2 * x <= sum - near; ++x)
        products += 2 * stripes.mean[static_cast<std::size_t>(x)] * stripes.mean[static_cast<std::size_t>(sum - x)];
    largest = std::max(largest, products);
  }
  return largest / static_cast<double>(before_.count * n);
}

Planes RingJudge::bridged_copy(const Planes& sinograms, Buffer<float>& memory, ThreadPool& threads) const {
  const std::int64_t size = sinograms.width * sinograms.height;
  memory = Buffer<float>(sinograms.count * size);
  const Planes copy{memory.data(), sinograms.width, sinograms.height, sinograms.width, sinograms.count, size};
  for (std::int64_t plane = 0; plane < copy.count; ++plane)
    for (std::int64_t y = 0; y < copy.height; ++y) std::copy_n(sinograms.row(plane, y), copy.width, copy.row(plane, y));
  bridge_columns(copy, broken_.data(), threads);
  return copy;
}

RingJudge::Stripes RingJudge::stripes_of(const Planes& bridged, std::int64_t plane) const {
  const auto columns = static_cast<std::size_t>(bridged.width);
  std::vector<double> sum(columns), squares(columns);
  for (std::int64_t quarter = 0; quarter < quarters; ++quarter) {
    const std::int64_t first = quarter * bridged.height / quarters;
    Planes part = bridged;
    part.data = bridged.row(plane, first);
    part.height = (quarter + 1) * bridged.height / quarters - first;
    part.count = 1;
    const std::vector<double> own = column_stripes(part, 0, ring_energy_radius(part.width));
    for (std::size_t x = 0; x < columns; ++x) {
      sum[x] += own[x];
      squares[x] += square(own[x]);
    }
  }
  Stripes stripes{std::vector<double>(columns), std::vector<double>(columns)};
  for (std::size_t x = 0; x < columns; ++x) {
    if (broken_[static_cast<std::size_t>(plane) * columns + x]) continue;
    stripes.mean[x] = sum[x] / quarters;
    stripes.variance[x] = std::max(0.0, squares[x] - sum[x] * stripes.mean[x]) / (quarters * (quarters - 1));
  }
  return stripes;
}

RingVerdict RingJudge::judge(const Planes& after, ThreadPool& threads) const {
  Buffer<float> memory;
  const Planes bridged = bridged_copy(after, memory, threads);
  std::vector<Tally> each(static_cast<std::size_t>(after.count));
  const auto width = static_cast<std::size_t>(after.width);
  threads.parallel_for(0, after.count, 1, [&](std::int64_t begin, std::int64_t end, int) {
    std::vector<double> change(width), squares(width), off(width), still_off(width);
    for (std::int64_t plane = begin; plane < end; ++plane) {
      Tally& tally = each[static_cast<std::size_t>(plane)];
      const Stripes& was = stripes_[static_cast<std::size_t>(plane)];
      const Stripes is = stripes_of(bridged, plane);
      for (std::vector<double>* list : {&change, &squares, &off, &still_off})
        std::fill(list->begin(), list->end(), 0.0);
      for (std::int64_t y = 0; y < after.height; ++y) {
        const float *old = before_.row(plane, y), *now = after.row(plane, y), *bridge = bridged_.row(plane, y);
        for (std::size_t x = 0; x < width; ++x) {
          const double d = static_cast<double>(now[x]) - static_cast<double>(old[x]);
          change[x] += d;
          squares[x] += square(d);
          off[x] += square(static_cast<double>(old[x]) - static_cast<double>(bridge[x]));
          still_off[x] += square(static_cast<double>(now[x]) - static_cast<double>(bridge[x]));
        }
      }
      for (std::size_t x = 0; x < width; ++x) {
        const double took = was.mean[x] - is.mean[x];
        tally.taken += took * (2 * was.mean[x] - took);  // what the square of the stripe fell by
        tally.along += took * was.mean[x];
        tally.changed += squares[x];
        if (broken_[static_cast<std::size_t>(plane) * width + x]) {
          tally.off += off[x];
          tally.nearer += off[x] - still_off[x];
        } else {
          tally.varying += squares[x] - square(change[x]) / static_cast<double>(after.height);
        }
      }
    }
  });
  Tally tally;
  for (const Tally& one : each) {
    tally.taken += one.taken;
    tally.along += one.along;
    tally.changed += one.changed;
    tally.varying += one.varying;
    tally.off += one.off;
    tally.nearer += one.nearer;
  }
  const double columns = static_cast<double>(after.count) * static_cast<double>(after.width);
  const double values = columns * static_cast<double>(after.height);
  RingVerdict verdict;
  // With r the detector's stripe and o what is not its own, r + o is seen and a share k of both is taken: the error
  // goes from r^2 to (1 - k)^2 r^2 + k^2 o^2, which is less by k (2 - k) (r + o)^2 - 2 k o^2.
  const double share = seen_ > 0 ? tally.along / columns / seen_ : 0;
  verdict.won = tally.taken / columns - 2 * share * doubt_;
  // A bridge errs, too: with e its error, the broken column is off by (its own error)^2 + e^2, and so as above.
  const double bridged_share = tally.off > 0 ? tally.nearer / tally.off : 0;
  const auto marked = static_cast<double>(std::count(broken_.begin(), broken_.end(), 1));
  verdict.won += tally.nearer / values - 2 * bridged_share * bridge_error_ * marked / columns;
  verdict.lost = std::max(0.0, tally.varying) / values;
  const double energy = ring_energy(after, threads).total();
  verdict.left_db = decibels(energy, energy_);
  verdict.risen = (broken_columns() > 0 ? ring_energy(bridged, threads).total() : energy) - energy_beside_;
  verdict.change = std::sqrt(tally.changed / values / mean_square_);
  verdict.disturbed = std::sqrt(verdict.lost / mean_square_);
  return verdict;
}

}  // namespace lepus::rings
