// SPDX-License-Identifier: Apache-2.0
#include "pipeline/corrected_frames.h"

#include <algorithm>
#include <chrono>

#include "core/format.h"

namespace lepus {
namespace {

// Every band opens every file: few high ones.
constexpr std::int64_t usual_band_rows = 128;

// As many rows at a time as the memory holds.
std::int64_t rows_at_a_time(const CorrectionChain& chain, std::int64_t rows, std::int64_t bytes, int threads) {
  std::int64_t band = std::min(usual_band_rows, rows);
  while (band > 1 && chain.band_bytes(band, threads) > bytes) band = (band + 1) / 2;
  return band;
}

// Sinograms as a volume file: x are columns, y views, z detector rows.
VolumeGrid sinogram_grid(const FrameSource& frames) {
  VolumeGrid grid;
  grid.nx = frames.columns();
  grid.ny = frames.frames();
  grid.nz = frames.rows();
  grid.step_mm = {1, 1, 1};
  return grid;
}

}  // namespace

CorrectedFrames::CorrectedFrames(const FrameSource& recorded, CorrectionChain& chain, RowAudit& audit,
                                 const CorrectedFramesOptions& options, const CancelFlag& cancel)
    : recorded_(recorded),
      chain_(chain),
      audit_(audit),
      pool_(options.threads, &cancel),
      engine_(options.devices.empty() ? host_engine(pool_) : device_engine(options.devices, pool_)),
      store_(recorded.columns(), recorded.rows(), recorded.frames(), options.memory_bytes / 2, options.scratch),
      band_rows_(rows_at_a_time(chain, recorded.rows(), options.memory_bytes / 4, pool_.size())),
      band_bytes_(chain.band_bytes(band_rows_, pool_.size())),
      done_(static_cast<std::size_t>((recorded.rows() + band_rows_ - 1) / band_rows_)) {
  for (const auto& [step, file] : chain.files())
    files_[step] =
        create_volume(file, sinogram_grid(recorded), {.force = options.force, .unit = "", .provenance_room = 0});
  if (files_.empty()) return;
  chain.write_with([this](std::size_t step, RowBand rows, const Planes& sinograms) {
    files_.at(step)->write(rows.first, rows.last, sinograms.data);
  });
}

RowBand CorrectedFrames::rows_of(std::int64_t band) const {
  return {band * band_rows_, std::min((band + 1) * band_rows_, recorded_.rows())};
}

void CorrectedFrames::correct(std::int64_t band) const {
  if (done_[static_cast<std::size_t>(band)]) return;
  const auto start = std::chrono::steady_clock::now();
  const RowBand rows = rows_of(band);
  const ChainBand made = chain_.bring(rows, &audit_, *engine_);
  store_.put(rows, made.wanted(rows));
  done_[static_cast<std::size_t>(band)] = true;
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void CorrectedFrames::ensure(RowBand rows) const {
  const std::lock_guard lock(mutex_);
  // Files take their rows in order.
  const std::int64_t first = files_.empty() ? rows.first / band_rows_ : 0;
  for (std::int64_t band = first; band * band_rows_ < rows.last; ++band) correct(band);
}

void CorrectedFrames::read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const {
  ensure({row0, row1});
  store_.get(frame, {row0, row1}, static_cast<float*>(out));
}

void CorrectedFrames::finish() {
  if (files_.empty()) return;
  ensure({0, rows()});
  for (auto& [step, file] : files_) file->finish("");
}

std::int64_t CorrectedFrames::memory_bytes() const { return store_.memory_bytes() + band_bytes_; }

std::string CorrectedFrames::description() const {
  return format("{} rows of all views at a time, kept {}", band_rows_,
                store_.in_memory() ? "in memory" : "in a scratch file");
}

}  // namespace lepus
