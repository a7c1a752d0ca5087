// SPDX-License-Identifier: Apache-2.0
// Where the chain of corrections computes: on the host's threads, or on a device. A band is taken in, worked on where
// the engine keeps it, and brought back.
#pragma once

#include <memory>
#include <string>

#include "core/threads.h"
#include "correct/correction.h"
#include "preprocess/normalise.h"

namespace lepus {

// What a correction leaves at or below it is clipped before the log.
inline constexpr float least_grey = 1e-30F;

class BandEngine {
public:
  virtual ~BandEngine() = default;
  // The band as the engine keeps it; the host's may be the same memory.
  virtual SinogramBand take(const SinogramBand& host) = 0;
  // Counts become grey levels or line integrals. normalisation null: the band holds line integrals already.
  virtual void normalise(const SinogramBand& kept, const Normalisation* normalisation, Stage to) = 0;
  virtual void take_log(const SinogramBand& kept) = 0;
  virtual void apply(Correction& correction, const SinogramBand& kept, RowBand wanted) = 0;
  // Rows of a kept band, [row][view][column], to host memory; done when it returns.
  virtual void bring_back(const SinogramBand& kept, RowBand rows, float* host) = 0;
  virtual ThreadPool& pool() = 0;
};

std::unique_ptr<BandEngine> host_engine(ThreadPool& pool);
// On the first of the devices ("0", "0,1", "all"). Throws Error(unsupported) in a build without CUDA.
std::unique_ptr<BandEngine> device_engine(const std::string& devices, ThreadPool& pool);

// Rows of a band, wherever it is kept.
SinogramBand part_of(const SinogramBand& band, RowBand rows);

}  // namespace lepus
