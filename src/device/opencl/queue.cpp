// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/queue.h"

#include <lepus/error.h>

namespace lepus::opencl {
namespace {

[[noreturn]] void refuse_other_device(const char* what) {
  throw Error(ErrorKind::internal,
              {.what = std::string(what) + " of another device", .where = "OpenCL", .why = {}, .hint = {}});
}

const OpenclEvent& opencl_event(const Event& event) {
  if (const auto* own = dynamic_cast<const OpenclEvent*>(&event)) return *own;
  refuse_other_device("an event");
}

}  // namespace

OpenclQueue& opencl_queue(Queue& queue) {
  if (auto* own = dynamic_cast<OpenclQueue*>(&queue)) return *own;
  refuse_other_device("a queue");
}

OpenclEvent::~OpenclEvent() {
  if (event_ != nullptr) context_->cl().ReleaseEvent(event_);
}

void OpenclEvent::mark(Queue& queue) {
  OpenclQueue& own = opencl_queue(queue);
  cl_event reached = nullptr;
  context_->check(context_->cl().EnqueueMarkerWithWaitList(own.get(), 0, nullptr, &reached), "mark a point of a queue");
  if (event_ != nullptr) context_->cl().ReleaseEvent(event_);
  event_ = reached;
  context_->check(context_->cl().Flush(own.get()), "start the work of a queue");  // others may wait for it
}

void OpenclEvent::wait() const {
  if (event_ != nullptr) context_->check(context_->cl().WaitForEvents(1, &event_), "wait for the device");
}

double OpenclEvent::seconds_since(const Event& earlier) const {
  const auto nanoseconds = [&](const OpenclEvent& event) {
    cl_ulong at = 0;
    if (event.event_ == nullptr) refuse_other_device("an event that was never marked, or one");
    event.wait();
    context_->check(
        context_->cl().GetEventProfilingInfo(event.event_, CL_PROFILING_COMMAND_END, sizeof at, &at, nullptr),
        "ask when a point of a queue was reached");
    return at;
  };
  return 1e-9 * (static_cast<double>(nanoseconds(*this)) - static_cast<double>(nanoseconds(opencl_event(earlier))));
}

OpenclQueue::OpenclQueue(Device& device, std::shared_ptr<Context> context)
    : Queue(device), context_(std::move(context)) {
  cl_int status = CL_SUCCESS;
  queue_ =
      context_->cl().CreateCommandQueue(context_->get(), context_->device().id, CL_QUEUE_PROFILING_ENABLE, &status);
  context_->check(status, "make a queue");
}

OpenclQueue::~OpenclQueue() {
  (void)context_->cl().Finish(queue_);
  (void)context_->cl().ReleaseCommandQueue(queue_);
}

void OpenclQueue::after(const Event& event) {
  const cl_event reached = opencl_event(event).get();
  if (reached == nullptr) return;
  context_->check(context_->cl().EnqueueBarrierWithWaitList(queue_, 1, &reached, nullptr), "wait for another queue");
}

void OpenclQueue::wait() { context_->check(context_->cl().Finish(queue_), "wait for the device"); }

}  // namespace lepus::opencl
