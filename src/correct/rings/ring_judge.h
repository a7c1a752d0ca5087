// SPDX-License-Identifier: Apache-2.0
// What taking stripes out did to sinograms, judged without the truth, in mean squares of the values. A slice's error is
// the sum of its views' errors (each view is a line of the slice's spectrum), so that what is won and what is lost can
// be set against each other:
// - won: stripes, which are what a column has in all views. Each quarter of the views has its own; how far they differ
//   says how much of their mean is not the detector's, but noise, or edges of the object on their way past. What an
//   object adds to the mean of all views is the same on both sides of the axis (each ray has its counterpart half a
//   turn later), and in rows far apart, like a tube's wall. A detector's stripes are neither: what of them mirrors
//   itself, or what rows have in common, is taken for the object's.
// - won: columns that are dead or fluctuate, as far as they come nearer to what their neighbours say.
// - lost: what changes from view to view in columns that are not broken. Stripes do not.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/memory.h"
#include "core/threads.h"
#include "project/planes.h"
#include "correct/replaced_share.h"
#include "project/ring_options.h"

namespace lepus::rings {

// Of a mask of find_broken_columns(): a run's first and last column are good neighbours that were marked along.
ReplacedPixels count_broken(const unsigned char* masks, std::int64_t planes, std::int64_t columns);

struct RingSample {
  Planes sinograms;
  bool rows_far_apart = false;        // so that they have no stripes in common but those of the object
  std::optional<double> axis_column;  // where the rotation axis is seen, to two columns or so; where it is known
};

struct RingVerdict {
  double won = 0, lost = 0;  // mean squares; won is negative where what was taken is rather the object's
  double left_db = 0;        // ring energy after / before
  double risen = 0;          // by how much ring energy rose where broken columns are bridged before and after
  double change = 0;         // rms of what was changed / rms of the values
  double disturbed = 0;      // the same of what was lost
};

class RingJudge {
public:
  // Looks for broken columns as combined does with these options.
  RingJudge(const RingSample& sample, const RingOptions& options, ThreadPool& threads);

  std::int64_t broken_columns() const;  // of all sinograms
  // Whether more columns than any detector has look broken: a scan without noise, whose columns differ by the object
  // alone. None is taken for broken then.
  bool broken_unclear() const { return broken_unclear_; }
  // Whether no method can win, so that none need be tried. One that at least halves the ring energy takes a share k of
  // the stripes of 1 - sqrt(1/2) or more; it wins k (2 - k) of them less 2 k of what is not the detector's, which is
  // nothing where that is 0.854 of them, and less where k is larger.
  bool nothing_to_win() const { return broken_columns() == 0 && doubt_ >= 0.854 * seen_; }
  double object_share() const;  // of the stripes' mean square that mirrors itself, or that rows have in common
  RingVerdict judge(const Planes& after, ThreadPool& threads) const;

private:
  // Per column: the mean of the quarters' stripes, and the variance of that mean; 0 in broken columns.
  struct Stripes {
    std::vector<double> mean, variance;
  };
  Stripes stripes_of(const Planes& bridged, std::int64_t plane) const;
  Planes bridged_copy(const Planes& sinograms, Buffer<float>& memory, ThreadPool& threads) const;
  double error_of_bridges() const;
  double in_common() const;
  double mirrored(double axis_column) const;

  Planes before_;
  double mean_square_ = 0;
  std::vector<unsigned char> broken_;  // [plane][column]
  bool broken_unclear_ = false;
  Buffer<float> memory_;
  Planes bridged_;           // before, with broken columns bridged
  double bridge_error_ = 0;  // mean square
  std::vector<Stripes> stripes_;
  // Mean squares: of the stripes, of what of them is not the detector's, and of that what looks like the object.
  double seen_ = 0, doubt_ = 0, object_ = 0;
  double energy_ = 0, energy_beside_ = 0;  // ring energies, the second with broken columns bridged
};

}  // namespace lepus::rings
