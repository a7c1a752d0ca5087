// SPDX-License-Identifier: Apache-2.0
// Where the chain of corrections computes: on the host's threads, in place in the caller's floats; or on a device,
// which is sent recorded pixels, and where the band is brought back from or kept.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/threads.h"
#include "correct/correction.h"
#include "io/frames.h"
#include "run/row_store.h"
#include "preprocess/normalise.h"

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
};

class BandEngine {
public:
  virtual ~BandEngine() = default;
  // Counts become grey levels or line integrals. normalisation null: they are line integrals already.
  // On the host:
  virtual void normalise(const SinogramBand& band, const Normalisation* normalisation, Stage to);
  // On a device: `send` begins a band's way there, while those sent before are worked on; `take_sent` is the first that
  // has not been taken, in `room` where it is given and has the same rows; `drop_sent` forgets those that an error left
  // untaken. What lies in `host_memory` goes up fastest.
  virtual bool takes_recorded() const { return false; }
  virtual bool sends_from(const void* /*memory*/) const { return false; }  // as fast as from host_memory
  virtual std::shared_ptr<unsigned char> host_memory(std::int64_t bytes);
  virtual void send(RecordedBand&& band);
  virtual void drop_sent();
  virtual SinogramBand take_sent(const Normalisation* normalisation, Stage to, const SinogramBand* room);

  virtual void take_log(const SinogramBand& kept, const Normalisation* normalisation) = 0;
  virtual void apply(Correction& correction, const SinogramBand& kept, RowBand wanted) = 0;

  // Rows of a kept band, [row][view][column], to host memory; done when it returns.
  virtual void bring_back(const SinogramBand& kept, RowBand rows, float* host) = 0;
  // One row as it is at this point of the work; there when what `later` is given runs, in any order.
  virtual std::shared_ptr<const float> look_at(const SinogramBand& kept, std::int64_t row) = 0;
  virtual void later(std::function<void(ThreadPool&)> work) = 0;
  virtual void wait() = 0;    // all work is done
  virtual void finish() = 0;  // and what was to be done later

  // Where corrected rows wait: where the engine computes if there is room, else on the host.
  virtual std::unique_ptr<RowKeeper> make_store(const RowStoreSize& size) = 0;
  // Floats of the largest band that fits, and what whoever else computes there may take.
  virtual std::int64_t most_floats() const { return std::numeric_limits<std::int64_t>::max(); }
  virtual std::int64_t memory_for_others() const { return 0; }  // 0: this engine takes none there
  virtual ThreadPool& pool() = 0;
};

std::unique_ptr<BandEngine> host_engine(ThreadPool& pool);
// On a device with memory of its own, which outlives it, with at most half of memory_bytes there (0: of what is free).
std::unique_ptr<BandEngine> device_engine(Device& device, ThreadPool& pool, std::int64_t memory_bytes = 0);

// Rows of a band, wherever it is kept.
SinogramBand part_of(const SinogramBand& band, RowBand rows);

}  // namespace lepus
