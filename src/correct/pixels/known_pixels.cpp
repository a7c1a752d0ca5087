// SPDX-License-Identifier: Apache-2.0
// The corrections that know their pixels before they see a frame: "dead-pixels" from the flats, "defect-map" from a
// file. Both bridge them in every view.
#include <utility>

#include "core/format.h"
#include "correct/pixels/bridge.h"
#include "correct/pixels/defect_map.h"
#include "correct/pixels/pixels.h"

namespace lepus {
namespace {

using pixels::BadPixels;

class KnownPixels final : public Correction {
public:
  KnownPixels(BadPixels bad, std::string what) : bad_(std::move(bad)), what_(std::move(what)) {}

  RowBand rows_needed(RowBand wanted, std::int64_t) const override { return bad_.rows_needed(wanted); }
  bool needs_all_views() const override { return false; }

  BandOperation operation() const override { return BandOperation::bridge; }
  void apply(const SinogramBand& band, RowBand wanted, Queue& queue) override { bad_.bridge(band, wanted, queue); }

  std::string summary() const override {
    return format("{} {} pixel{} replaced in every view", bad_.count(), what_, bad_.count() == 1 ? "" : "s");
  }

private:
  BadPixels bad_;
  std::string what_;
};

std::unique_ptr<Correction> known_pixels(const ReplacementRule& rule, const ScanFacts& facts,
                                         std::vector<std::int64_t> list, const char* what) {
  BadPixels bad(facts.columns, facts.rows, std::move(list));
  if (facts.rows > 0 && bad.all_rows_bad())
    refuse(rule.correction, "no pixel of the detector is good",
           format("all {} rows are {} from end to end", facts.rows, what), "check the flats or the map");
  const std::string warning = judge_replaced(rule, {bad.count(), facts.columns * facts.rows}, "pixels");
  if (!warning.empty()) warn(facts, warning);
  return std::make_unique<KnownPixels>(std::move(bad), what);
}

}  // namespace

std::unique_ptr<Correction> make_dead_pixels(const DeadPixelOptions& options, const ScanFacts& facts,
                                             std::vector<std::int64_t> list) {
  return known_pixels({.correction = "dead-pixels",
                       .maximum_share = options.maximum_share,
                       .what_to_do = "lower threshold, or check the flats and darks"},
                      facts, std::move(list), "dead");
}

std::unique_ptr<Correction> make_defect_map(const DefectMapOptions& options, const ScanFacts& facts) {
  const std::vector<std::int64_t> all = pixels::read_defect_map(options.file, options.columns, options.rows);
  std::vector<std::int64_t> selected;
  for (const std::int64_t pixel : all) {
    const std::int64_t from_first = pixel / options.columns - options.first_row;
    if (from_first < 0 || from_first % options.row_step != 0 || from_first / options.row_step >= facts.rows) continue;
    selected.push_back(from_first / options.row_step * facts.columns + pixel % options.columns);
  }
  return known_pixels({.correction = "defect-map",
                       .maximum_share = options.maximum_share,
                       .found = false,
                       .what_to_do = "check the map: all that is not zero in it is bad"},
                      facts, std::move(selected), "defective");
}

}  // namespace lepus
