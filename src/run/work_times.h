// SPDX-License-Identifier: Apache-2.0
// How long pieces of work took on a device: pairs of events around them, read when all is done.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "device/device.h"

namespace lepus {

class WorkTimes {
public:
  template <class Work>
  void around(Queue& queue, const Work& work) {
    Span span{queue.device().make_event(Timing::on), queue.device().make_event(Timing::on)};
    span.begin->mark(queue);
    work();
    span.end->mark(queue);
    spans_.push_back(std::move(span));
  }
  double seconds() const {
    double sum = 0;
    for (const Span& span : spans_) sum += span.end->seconds_since(*span.begin);
    return sum;
  }

private:
  struct Span {
    std::unique_ptr<Event> begin, end;
  };
  std::vector<Span> spans_;
};

}  // namespace lepus
