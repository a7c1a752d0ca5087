// SPDX-License-Identifier: Apache-2.0
#include "app/compute_options.h"

#include <regex>

#include "core/format.h"
#include "core/memory.h"
#include <lepus/error.h>

namespace lepus::app {

void ComputeOptions::describe(OptionTable& table) {
  table
      .value("--backend", "NAME", backend,
             "what computes: auto (a GPU where there is one, else the CPU), cpu, cuda, or reference (plain double "
             "precision, slow)")
      .one_of({"auto", "cpu", "cuda", "opencl", "reference"});
  table.value("--device", "LIST", device, "which GPUs: a number, several with commas between them, or all");
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
  if (text == "all" || std::regex_match(text, numbers)) return;
  throw Error(ErrorKind::usage, {.what = format("'{}' does not name GPUs", text),
                                 .where = "option --device",
                                 .why = "they are counted from 0",
                                 .hint = "write a number, several with commas between them, or all"});
}

Compute ComputeOptions::compute() const {
  check_device_list(device);
  Compute compute;
  compute.backend = backend;
  compute.devices = device;
  compute.precision = precision == "exact" ? Precision::exact : precision == "fast" ? Precision::fast : Precision::half;
  if (!device_memory.empty()) compute.device_memory_bytes = parse_bytes(device_memory);
  return compute;
}

}  // namespace lepus::app
