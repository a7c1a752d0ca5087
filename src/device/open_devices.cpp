// SPDX-License-Identifier: Apache-2.0
// The kinds of machines that this build knows, and the one place where "auto", "0,1" and "all" are decided.
#include <algorithm>
#include <charconv>
#include <numeric>

#include "core/check_numbers.h"
#include "core/format.h"
#include "core/memory.h"
#include "core/text.h"
#include "device/check_compute.h"
#include "device/device.h"
#include "device/host/device.h"
#include <lepus/error.h>
#ifdef LEPUS_HAVE_CUDA
#include "device/cuda/device.h"
#include "device/cuda/devices.h"
#endif
#ifdef LEPUS_HAVE_OPENCL
#include "device/opencl/device.h"
#endif

namespace lepus {
namespace {

struct Kind {
  std::string name, spoken;
  bool host;                 // one device, however many GPUs a command line names
  bool automatic;            // "auto" takes it where it can be used
  std::string not_in_build;  // why this build lacks it; empty where it has it
  int (*count)();
  std::string (*why_unusable)();
  std::unique_ptr<Device> (*open)(int number, const Compute& compute, ThreadPool& threads);
};

int one() { return 1; }
std::string nothing_against_it() { return {}; }

#ifdef LEPUS_HAVE_CUDA
const Kind cuda_kind{"cuda",
                     "CUDA",
                     false,
                     true,
                     "",
                     cuda::device_count,
                     cuda::why_unusable,
                     [](int number, const Compute& compute, ThreadPool&) {
                       return cuda::make_device(number, compute.precision, compute.device_memory_bytes);
                     }};
#else
const Kind cuda_kind{"cuda", "CUDA", false, true, "this build of lepus has no CUDA", nullptr, nullptr, nullptr};
#endif

// Asked for by name only: where it is the best there is, as on GPUs of other vendors, people know it.
#ifdef LEPUS_HAVE_OPENCL
const Kind opencl_kind{"opencl",
                       "OpenCL",
                       false,
                       false,
                       "",
                       opencl::device_count,
                       opencl::why_unusable,
                       [](int number, const Compute& compute, ThreadPool&) {
                         return opencl::make_device(number, compute.precision, compute.device_memory_bytes);
                       }};
#else
const Kind opencl_kind{"opencl", "OpenCL", false,  false, "this build of lepus has no OpenCL",
                       nullptr,  nullptr,  nullptr};
#endif

// In the order in which "auto" tries them.
const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      cuda_kind,
      opencl_kind,
      {"cpu", "CPU", true, true, "", one, nothing_against_it,
       [](int, const Compute&, ThreadPool& threads) { return host::make_device("cpu", threads); }},
      {"reference", "reference", true, false, "", one, nothing_against_it,
       [](int, const Compute&, ThreadPool& threads) { return host::make_device("reference", threads); }}};
  return all;
}

std::string why_unusable(const Kind& kind) {
  return kind.not_in_build.empty() ? kind.why_unusable() : kind.not_in_build;
}

const Kind& automatic_kind() {
  return *std::ranges::find_if(kinds(), [](const Kind& kind) { return kind.automatic && why_unusable(kind).empty(); });
}

const Kind& kind_named(const std::string& name) {
  if (name == "auto") return automatic_kind();
  const auto found = std::ranges::find(kinds(), name, &Kind::name);
  if (found != kinds().end()) return *found;
  std::vector<std::string> names;
  for (const Kind& kind : kinds()) names.push_back(kind.name);
  std::string known;
  for (const std::string& one_name : names) known += (known.empty() ? "" : ", ") + one_name;
  const std::string nearest = nearest_name(name, names);
  throw Error(ErrorKind::usage, {.what = format("unknown backend '{}'", name),
                                 .where = {},
                                 .why = "there are " + known,
                                 .hint = nearest.empty() ? "use cpu" : format("did you mean '{}'?", nearest)});
}

// "0", "0,1"; none of "all".
std::vector<int> named_numbers(const std::string& text) {
  std::vector<int> list;
  if (text == "all") return list;
  const char *at = text.data(), *end = at + text.size();
  while (true) {
    int number = -1;
    const auto [rest, failure] = std::from_chars(at, end, number);
    if (failure != std::errc() || number < 0 || (rest != end && *rest != ','))
      throw Error(ErrorKind::usage, {.what = format("'{}' does not name devices", text),
                                     .where = "--device",
                                     .why = {},
                                     .hint = "write a number, several with commas between them, or all"});
    list.push_back(number);
    if (rest == end) return list;
    at = rest + 1;
  }
}

std::vector<int> numbers_of(const std::string& text, const Kind& kind) {
  if (text != "all") return named_numbers(text);
  std::vector<int> all(static_cast<std::size_t>(std::max(1, kind.count())));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

void check_compute(const Compute& compute) {
  kind_named(compute.backend);
  named_numbers(compute.devices);
  check_named(compute.precision, Precision::half, "Precision");
  check_memory_limit(compute.device_memory_bytes, "option --device-memory");
  check_memory_limit(compute.memory_bytes, "option --memory");
  check_threads(compute.threads);
}

std::vector<DeviceInfo> list_devices() {
  std::vector<DeviceInfo> all;
  ThreadPool one_thread(1);
  for (const Kind& kind : kinds()) {
    const std::string why_not = why_unusable(kind);
    const int count = kind.not_in_build.empty() ? kind.count() : 0;
    if (count == 0)
      all.push_back({.kind = kind.name, .number = 0, .name = {}, .why_not = why_not, .free_bytes = 0, .host = false});
    for (int number = 0; number < count; ++number) try {
        all.push_back(kind.open(number, {}, one_thread)->info());
      } catch (const Error& error) {
        all.push_back({.kind = kind.name,
                       .number = number,
                       .name = {},
                       .why_not = error.parts().why,
                       .free_bytes = 0,
                       .host = false});
      }
  }
  return all;
}

int device_count(const std::string& backend) {
  const Kind& kind = kind_named(backend);
  return kind.not_in_build.empty() && !kind.host ? std::max(1, kind.count()) : 1;
}

std::string why_unusable(const std::string& kind) { return why_unusable(kind_named(kind)); }

std::string why_the_host_computes(const Compute& compute) {
  if (compute.backend != "auto" || automatic_kind().name != "cpu") return {};
  std::string reasons;
  for (const Kind& kind : kinds())
    if (kind.automatic && kind.not_in_build.empty())
      if (const std::string why = why_unusable(kind); !why.empty()) reasons += (reasons.empty() ? "" : "; ") + why;
  return reasons;
}

Devices open_devices(const Compute& compute, ThreadPool& threads) {
  check_compute(compute);
  const Kind& kind = kind_named(compute.backend);
  if (!kind.not_in_build.empty())
    throw Error(ErrorKind::unsupported, {.what = format("no {} device can be used", kind.spoken),
                                         .where = "backend " + kind.name,
                                         .why = kind.not_in_build,
                                         .hint = "use --backend cpu, or build lepus where nvcc 13 is installed"});
  Devices devices;
  for (const int number : kind.host ? std::vector<int>{0} : numbers_of(compute.devices, kind))
    devices.push_back(kind.open(number, compute, threads));
  return devices;
}

std::int64_t host_memory_limit(const Compute& compute) {
  return compute.memory_bytes > 0 ? compute.memory_bytes : available_memory_bytes() * 6 / 10;
}

}  // namespace lepus
