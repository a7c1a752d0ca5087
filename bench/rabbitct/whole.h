// SPDX-License-Identifier: Apache-2.0
// All views in host memory to the volume in host memory in one go: on a GPU by the sweep of run/, which uploads
// only the rows that a slab needs and downloads finished slabs; on the host by a ViewStream.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/context.h"
#include "bench/rabbitct/run.h"
#include "run/sweep.h"

namespace lepus::rabbitct {

class WholeSweep {
public:
  WholeSweep(const Header& header, const std::vector<Matrix34>& matrices, const RunOptions& options,
             const Devices& devices, Context& context);
  ~WholeSweep();
  WholeSweep(const WholeSweep&) = delete;
  WholeSweep& operator=(const WholeSweep&) = delete;

  float* views();  // to be filled: views x rows x columns
  double run();    // returns the seconds it took; may be called again
  std::shared_ptr<float> volume() const;
  std::string device() const;
  std::string description() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lepus::rabbitct
