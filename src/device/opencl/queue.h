// SPDX-License-Identifier: Apache-2.0
// OpenCL's queues and events as device.h has them.
#pragma once

#include <memory>

#include "device/device.h"
#include "device/opencl/context.h"

namespace lepus::opencl {

class OpenclEvent final : public Event {
public:
  explicit OpenclEvent(std::shared_ptr<Context> context) : context_(std::move(context)) {}
  ~OpenclEvent() override;
  OpenclEvent(const OpenclEvent&) = delete;
  OpenclEvent& operator=(const OpenclEvent&) = delete;
  void mark(Queue& queue) override;
  void wait() const override;
  double seconds_since(const Event& earlier) const override;
  cl_event get() const { return event_; }  // null: never marked

private:
  std::shared_ptr<Context> context_;
  cl_event event_ = nullptr;
};

class OpenclQueue final : public Queue {
public:
  OpenclQueue(Device& device, std::shared_ptr<Context> context);
  ~OpenclQueue() override;
  void after(const Event& event) override;
  void wait() override;

  const Context& context() const { return *context_; }
  Context& context() { return *context_; }
  cl_command_queue get() const { return queue_; }

private:
  std::shared_ptr<Context> context_;
  cl_command_queue queue_ = nullptr;
};

OpenclQueue& opencl_queue(Queue& queue);  // throws Error(internal) for another device's

}  // namespace lepus::opencl
