// SPDX-License-Identifier: Apache-2.0
// Every operation of a device held against double precision, through the interface that the sweep uses
// (device/device.h): one table of operations (operations.cpp), each with its cases and one limit. Buffers lie between
// values that must not be read (NaN) or written; comparisons are written so that NaN fails. Memory of a GPU, and of any
// OpenCL device, cannot be touched by the host, so that what comes back was computed there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/band_kernels.h"
#include "device/device.h"

namespace lepus::parity {

// A device with a queue.
class Machine {
public:
  explicit Machine(Devices devices, std::string target = {});

  Device& device() const { return *devices_.front(); }
  const Devices& devices() const { return devices_; }
  Queue& queue() const { return *queue_; }
  BandKernels& kernels() const { return device().band_kernels(); }
  const std::string& kind() const { return device().info().kind; }
  const std::string& target() const { return target_; }  // SIMD target that was asked for; "": the best
  bool is_host() const { return device().info().host; }

  // Runs what is measured, and waits for it.
  template <class Work>
  void work(const Work& given) {
    begin_->mark(*queue_);
    given();
    end_->mark(*queue_);
    end_->wait();
    queue_->wait();
    seconds += end_->seconds_since(*begin_);
  }
  double seconds = 0;  // of all work so far
  std::string ran;     // the kernel that ran last, in its own words; where it has any

private:
  Devices devices_;
  std::string target_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Event> begin_, end_;
};

// Bytes in a device's memory between sentinels.
class GuardedBytes {
public:
  GuardedBytes(Machine& machine, std::span<const std::byte> bytes);
  std::byte* data() const;
  void download(std::span<std::byte> to) const;  // fails the test where something was written beside them

private:
  Machine& machine_;
  Block block_;
  std::int64_t bytes_;
};

template <class T>
class Guarded {
public:
  Guarded(Machine& machine, const std::vector<T>& values)
      : memory_(machine, std::as_bytes(std::span(values))), count_(values.size()) {}
  T* data() const { return reinterpret_cast<T*>(memory_.data()); }
  std::vector<T> values() const {
    std::vector<T> all(count_);
    memory_.download(std::as_writable_bytes(std::span(all)));
    return all;
  }

private:
  GuardedBytes memory_;
  std::size_t count_;
};

// `values`, which lie as `shape` says, in the device's memory while `act` works on them, and what they are then.
std::vector<float> on_device(Machine& machine, const std::vector<float>& values, Planes shape,
                             const std::function<void(const Planes&)>& act);

// What must come out. unit: what the error of each value is counted in, 0 where it is not compared; empty: the root
// mean square of the values for rms, the largest of them for the largest error.
struct Truth {
  std::vector<double> values, unit;

  void add(double value, double in_units_of) {
    values.push_back(value);
    unit.push_back(in_units_of);
  }
};
inline constexpr double exactly = 1e-30;  // the unit of what must not differ at all

struct Difference {
  double rms = 0, largest = 0;
};
Difference difference(const std::vector<float>& got, const Truth& truth);

struct Way {
  int cut = 0;         // 0: at once; 1, 2, ...: in pieces, which must give the same bits
  bool wrong = false;  // with an input that is off by a little: must fail the limit
};

struct Case {
  std::string name;
  std::function<Truth()> truth;  // none: only timed
  std::function<std::vector<float>(Machine&, const Way&)> run;
  int cuts = 0;
  // What takes long runs with LEPUS_PARITY_LONG only: the case, where a CPU imitates a GPU, or cuts after the first few
  // of a machine.
  bool takes_long = false;
  std::function<int(const Machine&)> cuts_in_short = {};   // none: all
  std::function<bool(const Machine&)> has;                 // none: every device has it
  std::function<std::string(const Machine&)> kernel = {};  // part of what the kernel must say of itself
};

struct Operation {
  std::string name;
  Precision precision = Precision::exact;
  Difference limit;
  std::vector<std::string> lacking;  // kinds of devices that do not have it
  std::function<std::vector<Case>()> cases;
  bool every_target = false;  // compiled for every SIMD target, of which one can be chosen
};
const std::vector<Operation>& operations();
inline void PrintTo(const Operation& operation, std::ostream* out) { *out << operation.name; }

// Runs the operation's cases on a machine, with all that the table asks for.
void check_against_truth(const Operation& operation, Machine& machine);
void check_cuts(const Operation& operation, Machine& machine);
void check_that_limit_sees_errors(const Operation& operation, Machine& machine);
void print_times(const Operation& operation, Machine& machine);

// A number in [0, 1) that depends on its place only.
double noise(std::int64_t place);

}  // namespace lepus::parity
