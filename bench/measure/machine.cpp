// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <thread>

#include <sys/utsname.h>
#include <unistd.h>

#include "device/host/backprojector.h"
#include "core/format.h"
#include "bench/measure/clock.h"
#include "bench/measure/gpu.h"
#include "bench/measure/report.h"

namespace lepus::measure {
namespace {

std::string system_name() {
  utsname name{};
  std::string text = uname(&name) == 0 ? format("{} {} {}", name.sysname, name.release, name.machine) : std::string();
  std::ifstream file("/etc/os-release");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("PRETTY_NAME=\"") && line.size() > 14)
      text.insert(0, line.substr(13, line.size() - 14) + ", ");
  return text;
}

}  // namespace

Machine this_machine(int threads, int device) {
  Machine machine;
  machine.cpu = describe_cpu();
  // It ends with the machine's threads; here the number of those that measured stands for itself.
  if (const auto comma = machine.cpu.rfind(", "); machine.cpu.ends_with("threads") || machine.cpu.ends_with("thread"))
    machine.cpu.resize(comma);
  machine.threads = threads > 0 ? threads : static_cast<int>(std::thread::hardware_concurrency());
  machine.system = system_name();
  machine.memory_bytes = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  machine.clock_hz = measured_clock_hz();
  if (why_no_gpu(device).empty()) {
    const GpuDescription gpu = describe_gpu(device);
    machine.gpu = gpu.name;
    machine.driver = gpu.driver;
    machine.gpu_memory_bytes = gpu.memory_bytes;
  }
  return machine;
}

}  // namespace lepus::measure
