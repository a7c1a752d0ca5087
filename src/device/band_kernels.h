// SPDX-License-Identifier: Apache-2.0
// What the corrections are made of: operations on a band of rows of all views, or on a stack of sinograms or pictures,
// in the device's memory, given to one of its queues. The rules and options are those of src/project; the result of a
// row does not depend on how the detector is cut into bands. host/ and cuda/ have all of them; a device that lacks one
// says so, and the band is worked on by the host (correct/apply_correction.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "io/frames.h"
#include "project/beam_formulas.h"
#include "project/bridge.h"
#include "project/filter_options.h"
#include "project/flat_formulas.h"
#include "project/hot_rules.h"
#include "project/phase_plan.h"
#include "project/planes.h"
#include "project/ring_options.h"
#include "project/zinger_rules.h"

namespace lepus {

class Queue;

enum class BandOperation {
  stage,
  hot_pixels,
  zingers,
  bridge,
  filter,
  transpose,
  rings,
  scale,
  lag,
  hardening,
  flats,
  phase
};

// What recorded values become; line_to_grey, as_it_is: they are line integrals already.
enum class BandStage { counts_to_grey, counts_to_line, line_to_grey, as_it_is };

// The rest as preprocess/normalise.h; whole detectors in the device's memory, null where there is none.
struct BandStaging {
  BandStage to = BandStage::as_it_is;
  const float* dark = nullptr;
  const float* log_i0 = nullptr;
  float log_i0_everywhere = 0, clip = 1;
  // The views of the band that recorded rows are of; 0: all.
  std::int64_t first_view = 0, views = 0;
};

// Flats of a scan in the device's memory: each of `pixels` pixels.
struct FlatsOfViews {
  const float* mean = nullptr;   // what grey levels were made with
  const float* flats = nullptr;  // one after the other
  std::int64_t pixels = 0;
  const FlatShare* shares = nullptr;  // of every view
};

// What transforms of one queue need is kept from band to band.
class PhaseKernel {
public:
  virtual ~PhaseKernel() = default;
  virtual void apply(const SinogramBand& band, RowBand wanted, Queue& queue) = 0;  // always the same queue
};

// This class itself has none.
class BandKernels {
public:
  virtual ~BandKernels() = default;
  virtual bool has(BandOperation) const { return false; }

  // Recorded rows of all views, or of those that staging says, [view][row][column] of any type but f64, become the
  // band.
  virtual void to_stage(PixelType type, const void* recorded, const SinogramBand& band, const BandStaging& staging,
                        Queue& queue);
  // p = -ln max(g, lowest); lowest is what staging.clip counts of the pixel make, or lowest_of_lines where the frames
  // were line integrals.
  virtual void logarithm(const SinogramBand& band, const BandStaging& staging, float lowest_of_lines, Queue& queue);

  // Stacks of sinograms, in place. counts: of replaced pixels, one for each sinogram, in Place::host memory; there when
  // the queue has been waited for.
  virtual void hot_pixels(const pixels::HotRules& rules, int iterations, const Planes& sinograms, std::int64_t* counts,
                          Queue& queue);
  virtual void zingers(const pixels::ZingerRules& rules, const Planes& sinograms, std::int64_t* counts, Queue& queue);
  // Runs first, then lines; rows are counted from the first of `sinograms`. The lists lie in host memory and have been
  // read at return.
  virtual void bridge(std::span<const pixels::PixelRun> runs, std::span<const pixels::RowLine> lines,
                      const Planes& sinograms, Queue& queue);
  virtual void remove_rings(const Planes& sinograms, const RingOptions& options, Queue& queue);
  // Values of view v (row v of every sinogram) times factors[v], in the device's memory.
  virtual void scale_views(const Planes& sinograms, const float* factors, Queue& queue);
  virtual void remove_lag(const Planes& sinograms, const LagModel& model, LagStart start, Queue& queue);
  virtual void linearise(const Planes& sinograms, const HardeningCurve& curve, Queue& queue);
  // sinograms: from detector row first_row on.
  virtual void interpolate_flats(const Planes& sinograms, std::int64_t first_row, const FlatsOfViews& flats,
                                 Queue& queue);
  // The plan outlives the kernel.
  virtual std::unique_ptr<PhaseKernel> make_phase(const PhasePlan& plan, std::int64_t views);

  // Stacks of pictures; in and out must not overlap. Transposed ones are packed.
  virtual void filter(const Planes& in, const Planes& out, const FilterOptions& options, const FilterCut& cut,
                      Queue& queue);
  virtual void transpose(const Planes& in, const Planes& out, Queue& queue);
};

}  // namespace lepus
