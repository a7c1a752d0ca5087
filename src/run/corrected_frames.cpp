// SPDX-License-Identifier: Apache-2.0
#include "run/corrected_frames.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <utility>

#include "core/format.h"

namespace lepus {
namespace {

// Every band opens every file: few high ones. Of frames in memory, low ones: the first is there sooner.
constexpr std::int64_t usual_band_rows = 128, band_rows_in_memory = 32;
// Bands that are looked at for the reports.
constexpr std::int64_t looks = 4;

using Look = CorrectionChain::Look;

// As many rows at a time as the memory holds.
std::int64_t rows_at_a_time(const CorrectionChain& chain, const FrameSource& frames, std::int64_t bytes,
                            const BandEngine& engine, int threads) {
  const std::int64_t row = frames.columns() * frames.frames();
  std::int64_t band = std::min(frames.in_memory(0, 0) ? band_rows_in_memory : usual_band_rows, frames.rows());
  while (band > 1 && (chain.band_bytes(band, threads) > bytes || band * row > engine.maximum_floats()))
    band = (band + 1) / 2;
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
      engine_(pool_, options.device, options.device_bytes),
      size_{recorded.columns(), recorded.rows(),
            recorded.frames(),  options.memory_bytes / 2,
            options.scratch,    options.kept && chain.files().empty() ? options.kept->file() : std::filesystem::path()},
      store_(engine_.make_store(size_)),
      kept_(size_.kept.empty() ? nullptr : options.kept),
      band_rows_(rows_at_a_time(chain, recorded, options.memory_bytes / 4, engine_, pool_.size())),
      band_bytes_(chain.band_bytes(band_rows_, pool_.size())),
      done_(static_cast<std::size_t>((recorded.rows() + band_rows_ - 1) / band_rows_)) {
  // Bands as an earlier run had them are found again as a whole.
  if (const std::int64_t earlier = kept_ ? kept_->band_rows() : 0; earlier > 0 && earlier < band_rows_) {
    band_rows_ = earlier;
    done_.assign(static_cast<std::size_t>((recorded.rows() + band_rows_ - 1) / band_rows_), false);
  }
  expect({0, recorded.rows()});
  for (const auto& [step, file] : chain.files())
    files_[step] =
        create_volume(file, sinogram_grid(recorded), {.force = options.force, .unit = "", .provenance_room = 0});
  if (files_.empty()) return;
  chain.write_with([this](std::size_t step, RowBand rows, const Planes& sinograms) {
    files_.at(step)->write(rows.first, rows.last, sinograms.data);
  });
}

void CorrectedFrames::expect(RowBand rows) {
  // Of a few slices only the rows that they see are corrected, not a band as high as a volume wants it. Files get all
  // rows, and cards bands of a size that they are fast with.
  const bool few = rows.size() > 0 && rows.size() < band_rows_;
  if (few && files_.empty() && engine_.on_host() && std::ranges::none_of(done_, std::identity())) {
    band_rows_ = rows.size();
    done_.assign(static_cast<std::size_t>((recorded_.rows() + band_rows_ - 1) / band_rows_), false);
  }
  looked_at_.clear();
  for (std::int64_t i = 0; i < looks && rows.size() > 0; ++i)
    looked_at_.insert((rows.first + rows.size() * (2 * i + 1) / (2 * looks)) / band_rows_);
}

Look CorrectedFrames::look_for(std::int64_t band) const { return looked_at_.erase(band) > 0 ? Look::yes : Look::no; }

RowBand CorrectedFrames::rows_of(std::int64_t band) const {
  return {band * band_rows_, std::min((band + 1) * band_rows_, recorded_.rows())};
}

RowBand CorrectedFrames::rows_read_for(RowBand rows) const {
  if (rows.size() == 0) return {};
  return chain_.rows_needed({rows_of(rows.first / band_rows_).first, rows_of((rows.last - 1) / band_rows_).last});
}

// One is read and one goes up while one is worked on; the host reads a band when it takes it.
void CorrectedFrames::correct(const std::vector<std::int64_t>& bands) const {
  engine_.drop_sent();
  std::future<RecordedBand> reading;
  const auto read = [&](std::size_t i) {
    reading = std::async(std::launch::async, [this, rows = rows_of(bands[i])] {
      return chain_.read_recorded(rows, &audit_, engine_, pool_);
    });
  };
  read(0);
  for (std::size_t i = 0; i <= bands.size(); ++i) {
    if (i < bands.size()) {
      RecordedBand band = reading.get();
      if (i + 1 < bands.size()) read(i + 1);
      engine_.send(std::move(band));
    }
    if (i == 0) continue;
    const RowBand rows = rows_of(bands[i - 1]);
    store_->put(chain_.correct_sent(rows, engine_, look_for(bands[i - 1]), &audit_, store_->place_for(rows)), rows);
  }
}

bool CorrectedFrames::is_done(std::int64_t band) const {
  const std::scoped_lock lock(done_mutex_);
  return done_[static_cast<std::size_t>(band)];
}

void CorrectedFrames::set_done(std::int64_t band) const {
  const std::scoped_lock lock(done_mutex_);
  done_[static_cast<std::size_t>(band)] = true;
}

// What is to be noted of bands that are kept.
std::vector<JournalRecord> CorrectedFrames::make_missing(RowBand rows) const {
  const std::scoped_lock lock(mutex_);
  // Files take their rows in order.
  const std::int64_t first = files_.empty() ? rows.first / band_rows_ : 0;
  std::vector<std::int64_t> wanted;
  for (std::int64_t band = first; band * band_rows_ < rows.last; ++band) {
    if (is_done(band)) continue;
    if (kept_ && kept_->has(rows_of(band), *store_, size_, pool_))
      set_done(band);
    else
      wanted.push_back(band);
  }
  if (wanted.empty()) return {};
  const auto start = std::chrono::steady_clock::now();
  correct(wanted);
  engine_.wait();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  seconds_ += seconds;
  std::vector<JournalRecord> records;
  for (const std::int64_t band : wanted) {
    set_done(band);
    if (!kept_) continue;
    if (auto record = kept_->keep(rows_of(band), *store_, size_, seconds / static_cast<double>(wanted.size()), pool_))
      records.push_back(std::move(*record));
  }
  return records;
}

void CorrectedFrames::ensure(RowBand rows) const {
  for (const JournalRecord& record : make_missing(rows)) kept_->note(record);
}

const SinogramBand* CorrectedFrames::on_device(RowBand needed, const DeviceInfo& device) const {
  if (!store_->on_device(device)) return nullptr;
  ensure(needed);
  return store_->on_device(device);
}

void CorrectedFrames::read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const {
  ensure({row0, row1});
  store_->get(frame, {row0, row1}, static_cast<float*>(out));
}

void CorrectedFrames::forget() {
  const std::scoped_lock lock(done_mutex_);
  done_.assign(done_.size(), false);
}

void CorrectedFrames::finish() {
  if (!files_.empty()) ensure({0, rows()});
  for (auto& [step, file] : files_) file->finish("");
  engine_.finish();
}

std::vector<RowBand> CorrectedFrames::corrected_bands() const {
  const std::scoped_lock lock(done_mutex_);
  std::vector<RowBand> bands;
  for (std::size_t band = 0; band < done_.size(); ++band)
    if (done_[band]) bands.push_back(rows_of(static_cast<std::int64_t>(band)));
  return bands;
}

std::int64_t CorrectedFrames::memory_bytes() const { return store_->memory_bytes() + band_bytes_; }

std::string CorrectedFrames::description() const {
  const std::int64_t taken = kept_ ? kept_->rows_taken() : 0;
  return format("{} rows of all views at a time, kept {}{}", band_rows_, store_->place(),
                taken > 0 ? format("; {} rows that an earlier run had corrected were taken", taken) : "");
}

}  // namespace lepus
