// SPDX-License-Identifier: Apache-2.0
// Keeps account of what was read: a checksum of every input pixel that does not depend on the order of reading, and how
// many pixels are not numbers, saturated or at the dark. A row that is read again (streamed views) counts once.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

#include "core/row_checksum.h"
#include "geometry/row_band.h"
#include "io/frames.h"
#include "preprocess/dark_counter.h"

namespace lepus {

// `given`, or where it is 0 the largest value of the type; infinite for floating ones.
double saturation_level_of(PixelType type, double given);

// The checksum of all rows of a source, as 16 hexadecimal digits.
std::string frames_checksum(const FrameSource& source);

struct BadPixelLimits {
  double maximum_fraction = 0.01;  // of a frame's pixels
  double saturation_level = 0;     // counts at or above it are saturated; 0: the largest value of an integer pixel type
};

// How far the account is: enough for another process to go on with it, counting no row twice.
struct AuditState {
  struct Rows {  // rows [row0, row1) of every frame of [frame0, frame1)
    std::int64_t frame0 = 0, frame1 = 0, row0 = 0, row1 = 0;
    friend bool operator==(const Rows&, const Rows&) = default;
  };
  std::vector<Rows> seen;
  std::uint64_t checksum = 0;  // of these rows
  std::int64_t not_finite = 0, saturated = 0;
  std::map<std::int64_t, std::int64_t> bad_in;  // bad pixels of frames that have any
  DarkCounter::Counts dark;
  friend bool operator==(const AuditState&, const AuditState&) = default;
};

class RowAudit {
public:
  RowAudit(const FrameSource& source, const BadPixelLimits& limits);

  // From now on pixels that are not above their dark are counted; those in `bridged` (ascending) are left out, because
  // nothing is made of them.
  void watch_dark(const Normalisation& normalisation, const std::vector<std::int64_t>& bridged);

  // Rows [row0, row1) of a frame as they were read, and as floats, which may be the same memory. Replaces values that
  // are not finite by the mean of their finite neighbours in the row. Throws Error(input) naming the frame when too
  // many of its pixels are bad. Thread-safe.
  void record(std::int64_t frame, std::int64_t row0, std::int64_t row1, const void* native, float* values);

  // The same where whoever takes the rows replaces what is not finite: they stay as they were read.
  void record_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, const void* native);

  // What a device found in a frame of the caller's memory, whose bytes nobody else looks at.
  void record_bad(std::int64_t frame, std::int64_t not_finite, std::int64_t saturated);

  // Of this frame only these rows count here; other processes count the others, whoever reads them. At the beginning.
  void count_only(std::int64_t frame, const std::vector<RowBand>& rows);
  // Rows that another process has counted already.
  void counted_elsewhere(const AuditState& state);
  // From now on every row counts here, but those that were added (go_on_from). Error(input) where a frame then has too
  // many bad pixels.
  void count_for_all();
  std::vector<RowBand> uncounted(std::int64_t frame, RowBand rows) const;

  double saturation_level() const { return limits_.saturation_level; }
  std::string checksum() const;
  std::int64_t not_finite() const { return not_finite_; }
  std::int64_t saturated() const { return saturated_; }
  std::int64_t pixels() const { return pixels_; }
  DarkPixels at_dark() const { return dark_ ? dark_->found() : DarkPixels{}; }

  // state: at any time; rows that are being recorded are in it as a whole or not at all. go_on_from: at the beginning,
  // after watch_dark; Error(input) where it is of another scan, or a frame of it has too many bad pixels.
  AuditState state() const;
  void go_on_from(const AuditState& state);

private:
  struct BadPixels {
    std::int64_t not_finite = 0, saturated = 0;
  };
  BadPixels bad_pixels_of(const float* row) const;
  const unsigned char* row_of(const void* native, std::int64_t row) const;
  bool first_time(std::int64_t frame, std::int64_t row, const void* bytes);
  void refuse(std::int64_t frame, std::int64_t bad) const;
  std::vector<AuditState::Rows> seen_in(std::int64_t frame) const;

  const FrameSource& source_;
  BadPixelLimits limits_;
  mutable std::shared_mutex recording_;  // shared by those that record
  std::unique_ptr<DarkCounter> dark_;
  enum Seen : std::uint8_t { not_yet, counted, of_others };
  std::vector<std::atomic<std::uint8_t>> seen_;    // frame * rows + row
  std::vector<std::atomic<std::int64_t>> bad_in_;  // per frame
  std::atomic<std::uint64_t> checksum_{0};
  std::atomic<std::int64_t> not_finite_{0}, saturated_{0}, pixels_{0};
};

}  // namespace lepus
