// SPDX-License-Identifier: Apache-2.0
// OpenCL's queues and events as device.h has them.
#pragma once

#include <memory>
#include <vector>

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
  OpenclQueue(const OpenclQueue&) = delete;
  OpenclQueue& operator=(const OpenclQueue&) = delete;
  Device& device() const override { return device_; }
  void after(const Event& event) override;
  void wait() override;

  const Context& context() const { return *context_; }
  Context& context() { return *context_; }
  cl_command_queue get() const { return queue_; }

private:
  void* scratch_bytes(std::int64_t bytes) override;
  std::size_t scratch_level() const override { return taken_.size(); }
  void release_scratch(std::size_t level) override { taken_.resize(level); }

  Device& device_;
  std::shared_ptr<Context> context_;
  cl_command_queue queue_ = nullptr;
  // Scratch: blocks are kept, and those after the first `taken` bytes of each are free. A queue runs in order, so that
  // who takes a piece next also comes after who had it.
  struct Taken {
    std::size_t block;
    std::int64_t end;
  };
  struct ScratchBlock {
    Block memory;
    std::int64_t bytes;
  };
  std::vector<ScratchBlock> blocks_;
  std::vector<Taken> taken_;
};

OpenclQueue& opencl_queue(Queue& queue);  // throws Error(internal) for another device's

}  // namespace lepus::opencl
