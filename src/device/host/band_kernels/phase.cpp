// SPDX-License-Identifier: Apache-2.0
#include "device/host/band_kernels/phase.h"

#include <algorithm>

#include <fftw3.h>

#include "core/fftw_planner.h"
#include "core/format.h"
#include "core/memory.h"
#include <lepus/error.h>

namespace lepus {
namespace {

std::int64_t whole_lines(std::int64_t floats) { return (floats + 15) / 16 * 16; }

}  // namespace

struct PhaseTransform::Plans {
  fftwf_plan there = nullptr, back = nullptr;
  ~Plans() {
    const auto lock = lock_fftw_planner();
    if (there) fftwf_destroy_plan(there);
    if (back) fftwf_destroy_plan(back);
  }
};

PhaseTransform::PhaseTransform(const PhasePlan& plan) : plan_(plan), plans_(std::make_unique<Plans>()) {
  const PhaseFilter& f = plan.filter;
  const std::int64_t reals = whole_lines(f.height * f.width);
  Buffer<float> scratch(reals + whole_lines(2 * f.height * (f.width / 2 + 1)));
  auto* spectrum = reinterpret_cast<fftwf_complex*>(scratch.data() + reals);
  const int height = static_cast<int>(f.height), width = static_cast<int>(f.width);
  // FFTW_ESTIMATE chooses by rules, FFTW_MEASURE by the clock: only the former gives the same bits in every run.
  const auto lock = lock_fftw_planner_with_room(std::max(height, width));
  plans_->there = fftwf_plan_dft_r2c_2d(height, width, scratch.data(), spectrum, FFTW_ESTIMATE);
  plans_->back = fftwf_plan_dft_c2r_2d(height, width, spectrum, scratch.data(), FFTW_ESTIMATE);
  if (!plans_->there || !plans_->back)
    throw Error(ErrorKind::internal, {.what = format("FFTW made no plan for {} x {} pixels", width, height),
                                      .where = "phase",
                                      .why = {},
                                      .hint = {}});
}

PhaseTransform::~PhaseTransform() = default;

std::int64_t phase_scratch_floats(const PhasePlan& plan, std::int64_t band_rows) {
  const PhaseFilter& f = plan.filter;
  return whole_lines(band_rows * f.width) + whole_lines(f.height * f.width) +
         whole_lines(2 * f.height * (f.width / 2 + 1));
}

void PhaseTransform::filter_tile(float* reals, float* spectrum) const {
  const PhaseFilter& f = plan_.filter;
  const std::int64_t half = f.width / 2 + 1;
  fftwf_execute_dft_r2c(plans_->there, reals, reinterpret_cast<fftwf_complex*>(spectrum));
  auto* values = reinterpret_cast<Complex32*>(spectrum);
  for (std::int64_t k1 = 0; k1 <= f.height / 2; ++k1) {
    Complex32* first = values + k1 * half;
    Complex32* second = values + (k1 == 0 ? 0 : f.height - k1) * half;
    const Complex32 w1 = plan_.row_twiddles[static_cast<std::size_t>(k1)];
    const Complex32* w2 = plan_.column_twiddles.data();
    for (std::int64_t k2 = 0; k2 < half; ++k2) {
      Complex32 a = first[k2], b = second[k2];
      filter_pair(f, k1, k2, w1, w2[k2], a, b);
      second[k2] = b;
      first[k2] = a;
    }
  }
  fftwf_execute_dft_c2r(plans_->back, reinterpret_cast<fftwf_complex*>(spectrum), reals);
}

void PhaseTransform::apply(const SinogramBand& band, RowBand wanted, ThreadPool& threads) const {
  if (wanted.size() <= 0 || band.views < 1) return;
  const PhaseTiles& tiles = plan_.tiles;
  const std::int64_t width = plan_.filter.width, height = plan_.filter.height, rows = band.rows.size();
  const std::int64_t per_thread = phase_scratch_floats(plan_, rows), even = (width + 1) / 2;
  Buffer<float> scratch(per_thread * threads.size());
  const Planes frames = band.frames();
  const RowBand numbers = plan_.tiles_of(wanted);
  threads.parallel_for(0, band.views, 1, [&](std::int64_t begin, std::int64_t end, int worker) {
    float* frame = scratch.data() + worker * per_thread;  // tiles overlap: all read from a copy
    float* reals = frame + whole_lines(rows * width);
    float* spectrum = reals + whole_lines(height * width);
    for (std::int64_t view = begin; view < end; ++view) {
      for (std::int64_t y = 0; y < rows; ++y)
        std::copy(frames.row(view, y), frames.row(view, y) + width, frame + y * width);
      for (std::int64_t tile = numbers.first; tile < numbers.last; ++tile) {
        for (std::int64_t y = 0; y < height; ++y) {
          const float* from = frame + (tiles.row(tile, y) - band.rows.first) * width;
          float* to = reals + shuffled(y, height) * width;
          for (std::int64_t k = 0; k < even; ++k) to[k] = from[2 * k];
          for (std::int64_t k = 0; k < width / 2; ++k) to[width - 1 - k] = from[2 * k + 1];
        }
        filter_tile(reals, spectrum);
        const std::int64_t first = std::max(wanted.first, tile * tiles.inner);
        const std::int64_t last = std::min(wanted.last, (tile + 1) * tiles.inner);
        for (std::int64_t row = first; row < last; ++row) {
          const float* from = reals + shuffled(row - tile * tiles.inner + tiles.halo, height) * width;
          float* to = frames.row(view, row - band.rows.first);
          for (std::int64_t k = 0; k < even; ++k) to[2 * k] = from[k];
          for (std::int64_t k = 0; k < width / 2; ++k) to[2 * k + 1] = from[width - 1 - k];
        }
      }
    }
  });
}

}  // namespace lepus
