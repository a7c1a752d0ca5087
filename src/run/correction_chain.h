// SPDX-License-Identifier: Apache-2.0
// The corrections of a scan in the order of its file, with the log where it belongs between them: bands of recorded
// rows of all views go in, line integrals come out, [row][view][column].
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/context.h"
#include "core/kept_results.h"
#include "correct/correction.h"
#include "io/frames.h"
#include "run/band_engine.h"
#include "preprocess/normalise.h"
#include "preprocess/row_audit.h"
#include "scan/scan.h"

namespace lepus {

// Which side of the log each correction is on. Throws Error(input) where one that needs grey levels comes after one
// that needs line integrals, with the order that would work.
std::vector<Stage> place_corrections(const std::vector<CorrectionSpec>& specs);

// Throws what making the corrections would throw before one of them looks at the frames, flats or darks.
void check_corrections(const Scan& scan);

// What a correction did, on the middle row of each band that was looked at.
struct CorrectionReport {
  std::string kind, found;
  Stage stage = Stage::grey_levels;
  double rms_change = 0;                     // of the values
  double rings_before = 0, rings_after = 0;  // rms of what stays the same in all views of line integrals
  bool seen = false;                         // whether this process corrected rows that these figures are of
};

class CorrectionChain {
public:
  // Makes the corrections; some look at the scan first. normalisation: null where frames hold line integrals.
  // flats: a first correction, of grey levels, where flats were taken at several times. kept: rows that were looked at
  // are taken from there, or left there; null: neither.
  CorrectionChain(const Scan& scan, const FrameSource& frames, const Normalisation* normalisation, Context& context,
                  std::unique_ptr<Correction> flats = nullptr, KeptResults* kept = nullptr);
  ~CorrectionChain();

  bool empty() const { return steps_.empty(); }
  bool needs_all_views() const;  // where a correction of it does
  // Recorded rows that `wanted` are made from.
  RowBand rows_needed(RowBand wanted) const;
  // Host memory for a band of so many rows anywhere, beside what the caller holds.
  std::int64_t band_bytes(std::int64_t rows, int threads) const;

  // Whether what it does to the band is measured for the reports: that takes longer than some corrections.
  enum class Look { no, yes };
  // The rows that `wanted` are made from, for the engine to be sent (audit may be null); and what becomes of the band
  // that was sent first, where the engine keeps it: in `place` if it can. Nobody else uses the engine meanwhile. The
  // audit says which rows have pixels that are not above the dark: what becomes of some of them is looked at always.
  RecordedBand read_recorded(RowBand wanted, RowAudit* audit, BandEngine& engine, ThreadPool& readers) const;
  SinogramBand correct_sent(RowBand wanted, BandEngine& engine, Look look, const RowAudit* audit,
                            const SinogramBand* place = nullptr);
  // Both at once on the host: [row][view][column].
  Buffer<float> corrected(RowBand wanted, ThreadPool& threads);
  // When the engine has finished:
  std::vector<CorrectionReport> reports() const;
  // The share of all values that are as few as one count, which the log is taken of, where the share `recorded` of the
  // pixels is not above the dark. None: no row that tells was looked at.
  std::optional<double> share_at_lowest(double recorded) const;
  // What the corrections said of the scan when they were made; and, when the engine has finished, what they did that a
  // person should look at. judge_replaced() throws Error(input) where one replaced more pixels so far, in the rows it
  // has seen, than it may (correct/replaced_share.h).
  const std::vector<std::string>& warnings_of_making() const { return warnings_of_making_; }
  std::vector<std::string> warnings_of_work() const;
  void judge_replaced() const;

  // Where the steps that ask for it write what they leave: called with the step's file, once for each, rows ascending.
  using Writer = std::function<void(std::size_t step, RowBand rows, const Planes& sinograms)>;
  void write_with(Writer writer) { writer_ = std::move(writer); }
  std::vector<std::pair<std::size_t, std::filesystem::path>> files() const;

private:
  struct Step;

  std::vector<RowBand> rows_of_steps(RowBand wanted, std::size_t steps) const;
  RecordedBand read_rows(RowBand rows, RowAudit* audit, BandEngine& engine, ThreadPool& readers) const;
  Buffer<float> rows_after(std::size_t steps, Stage leave_as, RowBand wanted, ThreadPool& threads);
  Stage first_stage(std::size_t steps, Stage leave_as) const;
  using SeenRow = std::shared_ptr<const float>;
  // Pixels of a row in all views that were not above the dark; and values of it that the log takes one count for and
  // that stay about as high. It stands for other rows of its band that have some of them.
  struct AtLowest {
    std::int64_t row = 0, recorded = 0, stands_for = 1, left = 0;
    SeenRow logged = nullptr;
  };
  static std::vector<AtLowest> rows_to_count(RowBand rows, Look look, const RowAudit* audit);
  void work_on(const SinogramBand& kept, RowBand wanted, std::size_t steps, Stage leave_as, BandEngine& engine,
               Look look, std::vector<AtLowest> counted);
  std::vector<float> lowest_grey(std::int64_t row) const;  // what the log is taken of at least, of every column
  void compare(Step& step, std::int64_t row, const SeenRow& before, const SeenRow& after, BandEngine& engine) const;
  void count_lowest(AtLowest at, const SeenRow& lines, BandEngine& engine);

  const FrameSource& frames_;
  const Normalisation* normalisation_;
  std::int64_t columns_, rows_, views_;
  std::vector<std::unique_ptr<Step>> steps_;
  std::deque<AtLowest> at_lowest_;  // of each row that was looked at; elements stay where they are
  std::vector<std::string> warnings_of_making_;
  Writer writer_;
};

}  // namespace lepus
