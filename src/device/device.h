// SPDX-License-Identifier: Apache-2.0
// A machine that computes: the host itself, a GPU. Everything above this folder is written once, against this
// interface; host/, cuda/ and opencl/ implement it in files of the same names.
//
// Memory is named by plain addresses. Those of a device's own memory mean something to that device alone: whoever holds
// one may add to it and hand it to the device, and nothing else. Work is given to queues; on a device with
// processors of its own calls return before the work is done, on the host when it is.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <lepus/compute.h>

namespace lepus {

class BandKernels;
class Device;
using Devices = std::vector<std::unique_ptr<Device>>;
class Projector;
class Queue;
class RayProjector;
class RowFilter;
class SurfaceTracer;
class ThreadPool;
class VectorKernels;
class VolumeKernels;
struct ProjectorSetup;
struct RayProjectorSetup;
struct RowFilterSetup;
struct SurfaceTracerSetup;

// Memory that is given back with its last owner.
using Block = std::shared_ptr<std::byte>;

enum class Place {
  device,  // where it computes
  host,    // memory of the host that the device copies from and to fastest
};

// A point in a queue's work.
class Event {
public:
  virtual ~Event() = default;
  virtual void mark(Queue& queue) = 0;  // reached when what the queue was given so far is done
  virtual void wait() const = 0;        // blocks the caller until it is reached; an event that was never marked is
  virtual double seconds_since(const Event& earlier) const = 0;  // of timed events, both reached
};

// A number that no other device or queue of this process has or had. Addresses are used again: what is kept for one of
// them must not be found by another that was made where it lay.
class Numbered {
public:
  std::uint64_t id() const { return id_; }

private:
  static inline std::atomic<std::uint64_t> made_ = 0;
  const std::uint64_t id_ = ++made_;
};

// Work in order. One thread at a time gives work to a queue.
class Queue : public Numbered {
public:
  explicit Queue(Device& device) : device_(device) {}
  virtual ~Queue() = default;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  Device& device() const { return device_; }
  virtual void after(const Event& event) = 0;  // work given from now on starts when the event is reached
  virtual void wait() = 0;                     // blocks the caller until all work is done

  // Memory of the device for the steps of a piece of work, not initialised, aligned to 256 bytes. It is given back when
  // the enclosing ScratchScope ends, and used again by the next: asking a driver for memory may make a whole card wait.
  // Work of this queue that still uses it is safe, because whoever gets it next works in the same queue.
  template <class T>
  T* scratch(std::int64_t count) {
    return reinterpret_cast<T*>(scratch_bytes(count * static_cast<std::int64_t>(sizeof(T))));
  }

private:
  friend class ScratchScope;
  std::byte* scratch_bytes(std::int64_t bytes);

  struct Piece {
    Block memory;
    std::int64_t bytes = 0;
  };
  Device& device_;
  std::vector<Piece> pieces_;  // the first used_ of them are taken
  std::size_t used_ = 0;
};

class ScratchScope {
public:
  explicit ScratchScope(Queue& queue) : queue_(queue), used_(queue.used_) {}
  ~ScratchScope() { queue_.used_ = used_; }
  ScratchScope(const ScratchScope&) = delete;
  ScratchScope& operator=(const ScratchScope&) = delete;

private:
  Queue& queue_;
  std::size_t used_;
};

enum class QueueRank {
  usual,
  first,   // its work goes before what waits in other queues
  beside,  // it is used while other queues are: on the host its work runs on the caller's thread alone
};
enum class Timing { off, on };  // of events; without it they cost less

class Device : public Numbered {
public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;  // free_bytes: when it was opened
  virtual std::int64_t free_bytes() const = 0;
  // What may be taken of its memory: the limit it was given, or 90 % of what is free.
  virtual std::int64_t memory_limit_bytes() const = 0;

  virtual std::unique_ptr<Queue> make_queue(QueueRank rank = QueueRank::usual) = 0;
  virtual std::unique_ptr<Event> make_event(Timing timing = Timing::off) = 0;

  // Not initialised. Throws Error(memory).
  virtual Block allocate(std::int64_t bytes, Place place = Place::device) = 0;
  virtual bool copies_fast(const void* host_memory) const = 0;  // as fast as from Place::host
  // Whether its kernels may be given memory of Place::host, which they read and write at the speed of copies.
  virtual bool reaches_host_memory() const { return false; }
  // Between any two places; on the host nothing is copied where both are the same. Host memory that is not Place::host
  // has been read, or written, when it returns.
  virtual void copy(void* to, const void* from, std::int64_t bytes, Queue& queue) = 0;
  // views[i], `bytes` long each, go one after the other to `to`; in groups that lie evenly spaced in host memory.
  virtual void copy_views(const std::vector<const void*>& views, std::int64_t bytes, std::byte* to,
                          std::int64_t /*group*/, Queue& queue) {
    for (std::size_t i = 0; i < views.size(); ++i)
      copy(to + static_cast<std::int64_t>(i) * bytes, views[i], bytes, queue);
  }
  // `rows` rows of `bytes`, whose starts lie to_stride and from_stride bytes apart.
  virtual void copy_rows(void* to, std::int64_t to_stride, const void* from, std::int64_t from_stride,
                         std::int64_t bytes, std::int64_t rows, Queue& queue) {
    for (std::int64_t row = 0; row < rows; ++row)
      copy(static_cast<std::byte*>(to) + row * to_stride, static_cast<const std::byte*>(from) + row * from_stride,
           bytes, queue);
  }
  virtual void clear(void* memory, std::int64_t bytes, Queue& queue) = 0;  // all bytes zero

  // Whether bands of rows can be corrected in its memory and filtered from there (RowFilter::take). Where not, the host
  // corrects them, and resamples rows as they are read.
  virtual bool corrects_bands() const { return false; }
  virtual std::unique_ptr<Projector> make_projector(const ProjectorSetup& setup) = 0;
  virtual std::unique_ptr<RowFilter> make_row_filter(const RowFilterSetup& setup) = 0;
  virtual BandKernels& band_kernels() = 0;  // what the corrections are made of
  // A scan's operator and its transpose, and what iterative methods do beside them. A device that lacks them throws
  // Error(unsupported).
  virtual std::unique_ptr<RayProjector> make_ray_projector(const RayProjectorSetup& setup);
  virtual VectorKernels& vector_kernels();
  virtual VolumeKernels* volume_kernels() { return nullptr; }  // null: it has none, and the host does that work
  virtual std::unique_ptr<SurfaceTracer> make_surface_tracer(const SurfaceTracerSetup& setup);  // likewise
};

// What a test or a benchmark asks for.
inline Compute compute_on(std::string backend, std::string devices = "0", Precision precision = Precision::half,
                          std::int64_t device_memory_bytes = 0) {
  Compute compute;
  compute.backend = std::move(backend);
  compute.devices = std::move(devices);
  compute.precision = precision;
  compute.device_memory_bytes = device_memory_bytes;
  return compute;
}

// The devices that Compute names, one worker each; "auto" and "all" are decided here and nowhere else. The host's
// kernels run on `threads`. Throws Error(usage) for a name that is not known, with the nearest one; Error(unsupported)
// where what is asked for cannot be used, with the reason.
Devices open_devices(const Compute& compute, ThreadPool& threads);

// Why no device of a kind can be used here, for people; empty where one can.
std::string why_unusable(const std::string& kind);

// Where "auto" had to take the host although this build knows GPUs: why none can be used, for people. Else empty.
std::string why_the_host_computes(const Compute& compute);

// Of the whole process: what Compute allows, or 60 % of what is free.
std::int64_t host_memory_limit(const Compute& compute);

}  // namespace lepus
