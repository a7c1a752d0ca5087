// SPDX-License-Identifier: Apache-2.0
#include "device/files/device.h"

#include <utility>

#include "core/memory.h"
#include "device/files/file_memory.h"
#include "device/files/vector_kernels.h"
#include "device/host/device.h"
#include <lepus/error.h>

namespace lepus::files {
namespace {

[[noreturn]] void refuse_work(const char* what) {
  throw Error(ErrorKind::internal,
              {.what = what, .where = {}, .why = "memory in a file holds vectors alone", .hint = {}});
}

class FilesDevice final : public Device {
public:
  FilesDevice(const Setup& setup, ThreadPool& threads)
      : threads_(threads),
        bytes_(setup.bytes),
        host_(host::make_device("cpu", threads)),
        memory_(std::make_shared<FileMemory>(setup.folder, setup.bytes, setup.memory_bytes)),
        kernels_(make_vector_kernels(memory_, host_->vector_kernels(), setup.work_bytes)) {
    info_.kind = kind;
    info_.name = "a scratch file in " + setup.folder.string();
    info_.free_bytes = setup.bytes;
  }

  const DeviceInfo& info() const override { return info_; }
  std::int64_t free_bytes() const override { return bytes_; }
  std::int64_t memory_limit_bytes() const override { return bytes_; }
  std::unique_ptr<Queue> make_queue(QueueRank rank) override {
    return std::make_unique<host::HostQueue>(*this, rank == QueueRank::beside ? nullptr : &threads_);
  }
  std::unique_ptr<Event> make_event(Timing timing) override { return host_->make_event(timing); }

  Block allocate(std::int64_t bytes, Place place) override {
    return place == Place::host ? host_->allocate(bytes, place) : memory_->allocate(bytes);
  }
  bool copies_fast(const void*) const override { return true; }
  void copy(void* to, const void* from, std::int64_t bytes, Queue& queue) override {
    memory_->copy(to, from, bytes, host::threads_of(queue));
  }
  void clear(void* memory, std::int64_t bytes, Queue& queue) override {
    kernels_->fill(static_cast<float*>(memory), 0, bytes / static_cast<std::int64_t>(sizeof(float)), queue);
  }

  std::unique_ptr<Projector> make_projector(const ProjectorSetup&) override { refuse_work("a projector of files"); }
  std::unique_ptr<RowFilter> make_row_filter(const RowFilterSetup&) override { refuse_work("a row filter of files"); }
  BandKernels& band_kernels() override { refuse_work("corrections in files"); }
  VectorKernels& vector_kernels() override { return *kernels_; }

private:
  ThreadPool& threads_;
  std::int64_t bytes_;
  std::unique_ptr<Device> host_;
  std::shared_ptr<FileMemory> memory_;
  std::unique_ptr<VectorKernels> kernels_;
  DeviceInfo info_;
};

}  // namespace

std::unique_ptr<Device> make_device(const Setup& setup, ThreadPool& threads) {
  return std::make_unique<FilesDevice>(setup, threads);
}

}  // namespace lepus::files
