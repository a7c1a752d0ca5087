// SPDX-License-Identifier: Apache-2.0
#include "app/compute_options.h"

#include <regex>

#include "core/format.h"
#include <lepus/error.h>
#include <lepus/memory.h>

namespace lepus::app {

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
  static const std::regex numbers("[0-9]{1,3}(,[0-9]{1,3})*");
  if (text == "auto" || text == "all" || std::regex_match(text, numbers)) return;
  throw Error(ErrorKind::usage, {.what = format("'{}' does not name GPUs", text),
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
