// SPDX-License-Identifier: Apache-2.0
#include "app/compute_options.h"

#include <algorithm>

#include "core/format.h"
#include <lepus/error.h>
#include <lepus/memory.h>
#include <lepus/text.h>

namespace lepus::app {
namespace {

// Of at most three digits each, with commas between them.
bool are_numbers(const std::string& text) {
  std::size_t first = 0;
  while (true) {
    const std::size_t past = std::min(text.find_first_not_of("0123456789", first), text.size());
    if (past == first || past > first + 3) return false;
    if (past == text.size()) return true;
    if (text[past] != ',') return false;
    first = past + 1;
  }
}

}  // namespace

void ComputeOptions::describe(OptionTable& table) {
  table
      .value("--backend", "NAME", backend,
             "what computes: auto (a GPU where there is one, else the CPU), cpu, cuda, or reference (plain double "
             "precision, slow)")
      .one_of({"auto", "cpu", "cuda", "opencl", "reference"});
  table.value(
      "--device", "LIST", device,
      "which GPUs: a number, several with commas between them, all, or auto (the first one; of several processes on a "
      "node each the next)");
  table
      .value(
          "--precision", "NAME", precision,
          "of a GPU: exact (fp32), fast (fp32 values, the texture unit interpolates) or half (fp16 values, the same)")
      .one_of({"exact", "fast", "half"});
  table.value("--device-memory", "SIZE", device_memory, "limit for each GPU, for example 8GiB")
      .otherwise("90 % of what is free");
}

void check_device_list(const std::string& text) {
  if (text == "auto" || text == "all" || are_numbers(text)) return;
  throw Error(ErrorKind::usage, {.what = format("'{}' does not name GPUs", shown(text)),
                                 .where = "option --device",
                                 .why = "they are counted from 0",
                                 .hint = "write a number, several with commas between them, all or auto"});
}

Compute ComputeOptions::compute(const Ranks* ranks) const {
  check_device_list(device);
  Compute compute;
  compute.backend = backend;
  if (device != "auto")
    compute.devices = device;
  else if (ranks && ranks->node_size() > 1)
    compute.devices = std::to_string(ranks->node_rank() % device_count(backend));
  compute.precision = precision == "exact" ? Precision::exact : precision == "fast" ? Precision::fast : Precision::half;
  if (!device_memory.empty()) compute.device_memory_bytes = parse_bytes(device_memory);
  return compute;
}

}  // namespace lepus::app
