// SPDX-License-Identifier: Apache-2.0
// Where the chain of corrections computes: a device that is sent recorded pixels, works on them in its memory, and
// keeps the band or lets it be downloaded. The host is one: nothing is copied there, and work is done when a call
// returns.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <vector>

#include "core/threads.h"
#include "correct/correction.h"
#include "io/frames.h"
#include "preprocess/normalise.h"
#include "run/reused_memory.h"
#include "run/row_store.h"

namespace lepus {

// What a correction leaves below one count is clipped there before the log. Where frames hold line integrals nobody
// knows what a count is, and this stands for it: -ln of it is 21, more than any detector sees through.
inline constexpr float lowest_grey_of_lines = 1e-9F;

// Rows of all views as they were recorded.
struct RecordedBand {
  SinogramBand shape;  // without data
  PixelType type = PixelType::f32;
  std::vector<const void*> views;         // where each view's rows begin, one row after the other
  std::shared_ptr<unsigned char> memory;  // that they were read into; null: they lie where the frames do
  // On the host, instead: reads a view when its turn comes, so that some are in memory at a time. Thread-safe.
  std::function<void(std::int64_t view, unsigned char* to)> read;
};

class BandEngine {
public:
  // device null: the host, on the threads of `pool`. On a device with memory of its own, which outlives the engine, at
  // most half of memory_bytes is taken (0: of what is free).
  explicit BandEngine(ThreadPool& pool, Device* device = nullptr, std::int64_t memory_bytes = 0);
  ~BandEngine();
  BandEngine(const BandEngine&) = delete;
  BandEngine& operator=(const BandEngine&) = delete;

  bool on_host() const { return device_.info().host; }

  // `send` begins a band's way there, while those sent before are worked on; `take_sent` is the first that has not been
  // taken, in `place` where it is given and has the same rows; `drop_sent` forgets those that an error left untaken.
  // What lies in `host_memory` goes up fastest.
  std::shared_ptr<unsigned char> host_memory(std::int64_t bytes);
  bool sends_from(const void* memory) const { return device_.copies_fast(memory); }  // as fast as from host_memory
  void send(RecordedBand&& band);
  void drop_sent() { taken_ = sent_; }
  // Counts become grey levels or line integrals. normalisation null: they are line integrals already.
  SinogramBand take_sent(const Normalisation* normalisation, Stage to, const SinogramBand* place);

  void take_log(const SinogramBand& kept, const Normalisation* normalisation);
  void apply(Correction& correction, const SinogramBand& kept, RowBand wanted);

  // Rows of a kept band, [row][view][column], to host memory; done when it returns.
  void download(const SinogramBand& kept, RowBand rows, float* host);
  // One row as it is at this point of the work; there when what `later` is given runs, in any order.
  std::shared_ptr<const float> look_at(const SinogramBand& kept, std::int64_t row);
  void later(std::function<void(ThreadPool&)> work);
  void wait() { work_->wait(); }  // all work is done
  void finish();                  // and what was to be done later

  // Where corrected rows wait: where the engine computes if they fit there, else on the host.
  std::unique_ptr<RowKeeper> make_store(const RowStoreSize& size);
  // Floats of the largest band that fits, and what whoever else computes there may take.
  std::int64_t maximum_floats() const;
  std::int64_t memory_for_others() const;  // 0: this engine takes none there

private:
  struct Upload {  // one of two on the way up
    GrowingBlock pixels;
    RecordedBand band;
    std::unique_ptr<Event> arrived, used;
  };

  void read_and_stage(const RecordedBand& band, const SinogramBand& kept, BandStaging staging);
  BandStaging staging_for(const Normalisation* normalisation, Stage to);
  const float* on_device(const Buffer<float>& map, Block& memory);

  ThreadPool& pool_;
  std::unique_ptr<ThreadPool> helpers_;  // a device works while `pool` reads
  Devices host_;                         // for what the device has no kernel for
  Device& device_;
  bool limited_;
  std::int64_t memory_bytes_;
  std::unique_ptr<Queue> helper_, up_, work_;
  std::shared_ptr<HostMemoryPool> host_memory_;
  std::array<Upload, 2> uploads_;
  std::int64_t sent_ = 0, taken_ = 0;
  GrowingBlock kept_, some_views_;
  const Normalisation* held_ = nullptr;  // whose maps these are
  Block dark_memory_, log_i0_memory_;
  const float *dark_ = nullptr, *log_i0_ = nullptr;
  std::deque<std::future<void>> looks_;
};

// How many views of a band the host reads at a time, each of so many bytes.
std::int64_t views_read_together(std::int64_t view_bytes, int threads);

// Rows of a band, wherever it is kept.
SinogramBand part_of(const SinogramBand& band, RowBand rows);

}  // namespace lepus
