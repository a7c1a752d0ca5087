// SPDX-License-Identifier: Apache-2.0
#include "preprocess/row_audit.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>

#include "core/format.h"
#include "core/io_threads.h"
#include "core/memory.h"
#include "io/pixels.h"
#include <lepus/error.h>

namespace lepus {
namespace {

double largest_value(PixelType type) {
  switch (type) {
    case PixelType::u8:
      return std::numeric_limits<std::uint8_t>::max();
    case PixelType::i8:
      return std::numeric_limits<std::int8_t>::max();
    case PixelType::u16:
      return std::numeric_limits<std::uint16_t>::max();
    case PixelType::i16:
      return std::numeric_limits<std::int16_t>::max();
    case PixelType::u32:
      return std::numeric_limits<std::uint32_t>::max();
    case PixelType::i32:
      return std::numeric_limits<std::int32_t>::max();
    case PixelType::f16:
    case PixelType::f32:
    case PixelType::f64:
      break;
  }
  return std::numeric_limits<double>::infinity();
}

bool is_whole(PixelType type) { return std::isfinite(largest_value(type)); }

// Values that are not finite become the mean of the nearest finite ones on both sides; a row without any becomes zero.
void fill_not_finite(float* row, std::int64_t columns) {
  for (std::int64_t i = 0; i < columns; ++i) {
    if (std::isfinite(row[i])) continue;
    std::int64_t right = i + 1;
    while (right < columns && !std::isfinite(row[right])) ++right;
    const bool has_left = i > 0, has_right = right < columns;  // everything left of i is finite by now
    row[i] = has_left && has_right ? 0.5F * (row[i - 1] + row[right])
             : has_left            ? row[i - 1]
             : has_right           ? row[right]
                                   : 0.0F;
  }
}

}  // namespace

double saturation_level_of(PixelType type, double given) { return given > 0 ? given : largest_value(type); }

std::string frames_checksum(const FrameSource& source) {
  const std::int64_t row_bytes = source.columns() * bytes_per_pixel(source.pixel_type());
  std::atomic<std::uint64_t> sum = 0;
  io_parallel(source.frames(), io_threads(), [&](std::int64_t frame) {
    Buffer<unsigned char> row(row_bytes);
    for (std::int64_t r = 0; r < source.rows(); ++r) {
      source.read_native(frame, r, r + 1, row.data());
      sum += row_checksum(frame, r, row.data(), row_bytes);
    }
  });
  return format("{:016x}", sum.load());
}

RowAudit::RowAudit(const FrameSource& source, const BadPixelLimits& limits)
    : source_(source),
      limits_(limits),
      seen_(static_cast<std::size_t>(source.frames() * source.rows())),
      bad_in_(static_cast<std::size_t>(source.frames())) {
  limits_.saturation_level = saturation_level_of(source.pixel_type(), limits_.saturation_level);
}

void RowAudit::watch_dark(const Normalisation& normalisation, const std::vector<std::int64_t>& bridged) {
  dark_ = std::make_unique<DarkCounter>(normalisation, bridged, source_.pixel_type(), source_.rows());
}

void RowAudit::record(std::int64_t frame, std::int64_t row0, std::int64_t row1, const void* native, float* values) {
  const std::shared_lock lock(recording_);
  const std::int64_t columns = source_.columns();
  for (std::int64_t row = row0; row < row1; ++row) {
    float* line = values + (row - row0) * columns;
    const BadPixels bad = bad_pixels_of(line);
    const bool first = first_time(frame, row, row_of(native, row - row0));
    if (bad.not_finite > 0) fill_not_finite(line, columns);
    if (first) record_bad(frame, bad.not_finite, bad.saturated);
  }
}

void RowAudit::record_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, const void* native) {
  const std::shared_lock lock(recording_);
  const PixelType type = source_.pixel_type();
  const auto saturation = static_cast<float>(limits_.saturation_level);
  std::vector<float> floats(static_cast<std::size_t>(is_whole(type) ? 0 : source_.columns()));
  for (std::int64_t row = row0; row < row1; ++row) {
    const unsigned char* const line = row_of(native, row - row0);
    if (!first_time(frame, row, line)) continue;
    if (is_whole(type)) {
      record_bad(frame, 0, count_at_least(type, line, source_.columns(), saturation));
    } else {
      convert_to_float(type, line, source_.columns(), floats.data());
      const BadPixels bad = bad_pixels_of(floats.data());
      record_bad(frame, bad.not_finite, bad.saturated);
    }
  }
}

const unsigned char* RowAudit::row_of(const void* native, std::int64_t row) const {
  return static_cast<const unsigned char*>(native) + row * source_.columns() * bytes_per_pixel(source_.pixel_type());
}

RowAudit::BadPixels RowAudit::bad_pixels_of(const float* row) const {
  const auto saturation = static_cast<float>(limits_.saturation_level);
  BadPixels bad;
  for (std::int64_t i = 0; i < source_.columns(); ++i) {
    bad.not_finite += !std::isfinite(row[i]);
    bad.saturated += std::isfinite(row[i]) && row[i] >= saturation;
  }
  return bad;
}

void RowAudit::record_bad(std::int64_t frame, std::int64_t not_finite, std::int64_t saturated) {
  if (not_finite + saturated == 0) return;
  not_finite_ += not_finite;
  saturated_ += saturated;
  refuse(frame, bad_in_[static_cast<std::size_t>(frame)] += not_finite + saturated);
}

bool RowAudit::first_time(std::int64_t frame, std::int64_t row, const void* bytes) {
  std::uint8_t before = not_yet;
  if (!seen_[static_cast<std::size_t>(frame * source_.rows() + row)].compare_exchange_strong(before, counted))
    return false;
  checksum_ += row_checksum(frame, row, bytes, source_.columns() * bytes_per_pixel(source_.pixel_type()));
  pixels_ += source_.columns();
  if (dark_) dark_->record(row, bytes);
  return true;
}

void RowAudit::refuse(std::int64_t frame, std::int64_t bad) const {
  const double limit = limits_.maximum_fraction * static_cast<double>(source_.rows() * source_.columns());
  if (static_cast<double>(bad) <= limit) return;
  throw Error(
      ErrorKind::input,
      {.what = "too many pixels of a frame are saturated or not a number",
       .where = format("{}, view {}", source_.name(frame), frame),
       .why = format("{} bad pixels or more, {:.3g} % of the frame are allowed", bad, 100 * limits_.maximum_fraction),
       .hint = "leave the view out, or raise frames.maximum_bad_fraction if the object does not cover those pixels"});
}

std::vector<AuditState::Rows> RowAudit::seen_in(std::int64_t frame) const {
  std::vector<AuditState::Rows> bands;
  for (std::int64_t row = 0; row < source_.rows(); ++row) {
    if (seen_[static_cast<std::size_t>(frame * source_.rows() + row)] != counted) continue;
    if (bands.empty() || bands.back().row1 != row) bands.push_back({frame, frame + 1, row, row});
    bands.back().row1 = row + 1;
  }
  return bands;
}

void RowAudit::count_only(std::int64_t frame, const std::vector<RowBand>& rows) {
  for (std::int64_t row = 0; row < source_.rows(); ++row) {
    const bool mine = std::ranges::any_of(rows, [&](const RowBand& r) { return r.first <= row && row < r.last; });
    std::uint8_t before = not_yet;
    if (!mine) seen_[static_cast<std::size_t>(frame * source_.rows() + row)].compare_exchange_strong(before, of_others);
  }
}

void RowAudit::counted_elsewhere(const AuditState& state) {
  for (const AuditState::Rows& rows : state.seen)
    for (std::int64_t frame = rows.frame0; frame < std::min(rows.frame1, source_.frames()); ++frame)
      for (std::int64_t row = rows.row0; row < std::min(rows.row1, source_.rows()); ++row)
        seen_[static_cast<std::size_t>(frame * source_.rows() + row)] = of_others;
}

void RowAudit::count_for_all() {
  for (auto& row : seen_) {
    std::uint8_t before = of_others;
    row.compare_exchange_strong(before, not_yet);
  }
  for (std::int64_t frame = 0; frame < source_.frames(); ++frame)
    refuse(frame, bad_in_[static_cast<std::size_t>(frame)]);
}

std::vector<RowBand> RowAudit::uncounted(std::int64_t frame, RowBand rows) const {
  std::vector<RowBand> bands;
  for (std::int64_t row = rows.first; row < rows.last; ++row) {
    if (seen_[static_cast<std::size_t>(frame * source_.rows() + row)] == counted) continue;
    if (bands.empty() || bands.back().last != row) bands.push_back({row, row});
    bands.back().last = row + 1;
  }
  return bands;
}

AuditState RowAudit::state() const {
  const std::unique_lock lock(recording_);
  AuditState state;
  state.checksum = checksum_;
  state.not_finite = not_finite_;
  state.saturated = saturated_;
  std::vector<AuditState::Rows> open;  // bands that the frames up to here have in common
  const auto close = [&] { state.seen.insert(state.seen.end(), open.begin(), open.end()); };
  for (std::int64_t frame = 0; frame < source_.frames(); ++frame) {
    std::vector<AuditState::Rows> bands = seen_in(frame);
    const bool same = std::equal(bands.begin(), bands.end(), open.begin(), open.end(),
                                 [](const auto& a, const auto& b) { return a.row0 == b.row0 && a.row1 == b.row1; });
    if (same) {
      for (AuditState::Rows& rows : open) rows.frame1 = frame + 1;
    } else {
      close();
      open = std::move(bands);
    }
    if (const std::int64_t bad = bad_in_[static_cast<std::size_t>(frame)]; bad > 0) state.bad_in[frame] = bad;
  }
  close();
  if (dark_) state.dark = dark_->counts();
  return state;
}

void RowAudit::go_on_from(const AuditState& state) {
  const auto check = [&](std::int64_t first, std::int64_t last, std::int64_t limit, const char* what) {
    if (first < 0 || last < first || last > limit)
      throw Error(ErrorKind::input, {.what = "the account of what was read is of another scan",
                                     .where = source_.name(0),
                                     .why = format("{} [{}, {}) of {}", what, first, last, limit),
                                     .hint = "begin anew"});
  };
  for (const AuditState::Rows& rows : state.seen) {
    check(rows.frame0, rows.frame1, source_.frames(), "frames");
    check(rows.row0, rows.row1, source_.rows(), "rows");
    for (std::int64_t frame = rows.frame0; frame < rows.frame1; ++frame)
      for (std::int64_t row = rows.row0; row < rows.row1; ++row)
        if (seen_[static_cast<std::size_t>(frame * source_.rows() + row)].exchange(counted) != counted)
          pixels_ += source_.columns();
  }
  for (const auto& [frame, bad] : state.bad_in) {
    check(frame, frame + 1, source_.frames(), "frame");
    refuse(frame, bad_in_[static_cast<std::size_t>(frame)] += bad);
  }
  checksum_ += state.checksum;
  not_finite_ += state.not_finite;
  saturated_ += state.saturated;
  if (dark_) dark_->add(state.dark);
}

std::string RowAudit::checksum() const { return format("{:016x}", checksum_.load()); }

}  // namespace lepus
