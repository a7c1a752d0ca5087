// SPDX-License-Identifier: Apache-2.0
#include "run/band_engine.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "device/host/device.h"
#include "project/grey_levels.h"
#include <lepus/error.h>

namespace lepus {
namespace {

class HostEngine final : public BandEngine {
public:
  explicit HostEngine(ThreadPool& pool) : pool_(pool), host_(host::make_device("cpu", pool)) {}

  void normalise(const SinogramBand& kept, const Normalisation* normalisation, Stage to) override {
    for_rows(kept, [&](std::int64_t row, float* values) {
      std::vector<float> factors(static_cast<std::size_t>(kept.columns));
      if (normalisation && to == Stage::grey_levels) normalisation->grey_factors(row, factors.data());
      for (std::int64_t view = 0; view < kept.views; ++view, values += kept.columns) {
        if (normalisation && to == Stage::grey_levels)
          normalisation->apply_grey(row, factors.data(), values);
        else if (normalisation)
          normalisation->apply(row, row + 1, values);
        else if (to == Stage::grey_levels)
          for (std::int64_t i = 0; i < kept.columns; ++i) values[i] = grey_of_line(values[i]);
      }
    });
  }

  void take_log(const SinogramBand& kept, const Normalisation* normalisation) override {
    for_rows(kept, [&](std::int64_t row, float* values) {
      std::vector<float> lowest(static_cast<std::size_t>(kept.columns), lowest_grey_of_lines);
      if (normalisation) normalisation->lowest_grey(row, lowest.data());
      for (std::int64_t view = 0; view < kept.views; ++view, values += kept.columns)
        for (std::int64_t i = 0; i < kept.columns; ++i)
          values[i] = line_of_grey(values[i], lowest[static_cast<std::size_t>(i)]);
    });
  }

  void apply(Correction& correction, const SinogramBand& kept, RowBand wanted) override {
    const ScratchScope scope(*queue_);
    correction.apply(kept, wanted, *queue_);
  }

  void bring_back(const SinogramBand& kept, RowBand rows, float* host) override {
    const SinogramBand part = part_of(kept, rows);
    if (part.data != host) std::copy_n(part.data, part.floats(), host);
  }

  std::shared_ptr<const float> look_at(const SinogramBand& kept, std::int64_t row) override {
    auto seen = std::make_shared<Buffer<float>>(kept.views * kept.columns);
    bring_back(kept, {row, row + 1}, seen->data());
    return {seen, seen->data()};
  }
  void later(std::function<void(ThreadPool&)> work) override { work(pool_); }
  void wait() override {}
  void finish() override {}

  std::unique_ptr<RowKeeper> make_store(const RowStoreSize& size) override { return std::make_unique<RowStore>(size); }
  ThreadPool& pool() override { return pool_; }

private:
  // Calls work(recorded row, its values in all views).
  template <class RowWork>
  void for_rows(const SinogramBand& band, const RowWork& work) {
    pool_.parallel_for(0, band.rows.size(), 1, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i) work(band.rows.first + i, band.data + i * band.views * band.columns);
    });
  }

  ThreadPool& pool_;
  std::unique_ptr<Device> host_;
  std::unique_ptr<Queue> queue_ = host_->make_queue();
};

[[noreturn]] void refuse_way_in() {
  throw Error(ErrorKind::internal, {.what = "bands come into this engine the other way",
                                    .where = {},
                                    .why = "the host works on floats, a device is sent recorded pixels",
                                    .hint = {}});
}

}  // namespace

void BandEngine::normalise(const SinogramBand&, const Normalisation*, Stage) { refuse_way_in(); }
std::shared_ptr<unsigned char> BandEngine::host_memory(std::int64_t) { refuse_way_in(); }
void BandEngine::send(RecordedBand&&) { refuse_way_in(); }
void BandEngine::drop_sent() { refuse_way_in(); }
SinogramBand BandEngine::take_sent(const Normalisation*, Stage, const SinogramBand*) { refuse_way_in(); }

SinogramBand part_of(const SinogramBand& band, RowBand rows) {
  return {band.data + (rows.first - band.rows.first) * band.views * band.columns, band.columns, band.views, rows,
          band.detector_rows};
}

std::unique_ptr<BandEngine> host_engine(ThreadPool& pool) { return std::make_unique<HostEngine>(pool); }

}  // namespace lepus
