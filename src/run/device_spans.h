// SPDX-License-Identifier: Apache-2.0
// How long pieces of work took on a device: pairs of events around them, read when all is done.
#pragma once

#include <utility>
#include <vector>

#include "device/cuda/device_memory.h"

namespace lepus {

class DeviceSpans {
public:
  template <class Work>
  void around(cudaStream_t stream, const Work& work) {
    Span span;
    span.begin.record(stream);
    work();
    span.end.record(stream);
    spans_.push_back(std::move(span));
  }
  double seconds() const {
    double sum = 0;
    for (const Span& span : spans_) sum += 1e-3 * static_cast<double>(cuda::Event::milliseconds(span.begin, span.end));
    return sum;
  }

private:
  struct Span {
    cuda::Event begin{cuda::Event::Timing::on}, end{cuda::Event::Timing::on};
  };
  std::vector<Span> spans_;
};

}  // namespace lepus
