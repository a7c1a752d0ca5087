// SPDX-License-Identifier: Apache-2.0
// The table of operations on the devices of one kind, which LEPUS_PARITY_DEVICE names: cpu (where it is not set),
// opencl, cuda. LEPUS_PARITY_TIME: the cases are timed, and larger ones with them. LEPUS_PARITY_TARGET: one SIMD target
// of the CPU alone; LEPUS_PARITY_UPDATES leaves out cases of more voxel updates (under qemu every one of them counts).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "device/host/backprojector.h"
#include "device/host/device.h"
#include "operations.h"
#include <lepus/error.h>

namespace lepus::parity {
namespace {

std::string tested_kind() {
  const char* const named = std::getenv("LEPUS_PARITY_DEVICE");
  return named ? named : "cpu";
}

ThreadPool& threads() {
  static ThreadPool pool(2);
  return pool;
}

std::vector<std::string> targets() {
  if (const char* const chosen = std::getenv("LEPUS_PARITY_TARGET")) return {chosen};
  return cpu_targets();
}

class Parity : public ::testing::TestWithParam<Operation> {
protected:
  void SetUp() override {
    setenv("POCL_CACHE_DIR", LEPUS_BINARY_DIR "/pocl_cache", 0);
    if (const std::string why = why_unusable(tested_kind()); !why.empty()) {
      std::printf("*** SKIPPED: no device %s can be used here (%s); nothing was tested ***\n", tested_kind().c_str(),
                  why.c_str());
      GTEST_SKIP() << why;
    }
  }

  // What the operation is tried on: a device of the kind; on the CPU one for every SIMD target where that can be
  // chosen.
  static std::vector<Machine*> machines() {
    static std::map<std::string, Machine> opened;
    const Operation& operation = GetParam();
    std::vector<Machine*> list;
    const auto add = [&](const std::string& key, const auto& open, const std::string& target) {
      if (!opened.contains(key)) opened.try_emplace(key, open(), target);
      list.push_back(&opened.at(key));
    };
    if (tested_kind() == "cpu" && operation.every_target)
      for (const std::string& target : targets())
        add(
            target,
            [&] {
              Devices one;
              one.push_back(host::make_device("cpu", threads(), target));
              return one;
            },
            target);
    else
      add(
          std::to_string(static_cast<int>(operation.precision)),
          [&] { return open_devices(compute_on(tested_kind(), "0", operation.precision), threads()); }, "");
    return list;
  }
};

TEST_P(Parity, agrees_with_double_precision) {
  std::set<std::string> ran;
  for (Machine* machine : machines()) {
    check_against_truth(GetParam(), *machine);
    if (timing()) print_times(GetParam(), *machine);
    if (!machine->target().empty()) ran.insert(last_cpu_target());
  }
  if (ran.empty()) return;
  // scripts/cross reads this line, to know that what it made qemu imitate is what ran.
  std::string line = "SIMD targets that ran:";
  for (const std::string& target : ran) line += " " + target;
  line += "; this machine has, the best first:";
  for (const std::string& target : cpu_targets()) line += " " + target;
  std::puts(line.c_str());
}

TEST_P(Parity, gives_the_same_bits_for_every_cut) {
  for (Machine* machine : machines()) check_cuts(GetParam(), *machine);
}

TEST_P(Parity, has_a_limit_that_sees_errors) {
  for (Machine* machine : machines()) check_that_limit_sees_errors(GetParam(), *machine);
}

TEST(Devices, say_when_a_block_is_too_large) {
  if (tested_kind() == "cpu" || !why_unusable(tested_kind()).empty()) return;  // the host lends more than it has
  const Devices devices = open_devices(compute_on(tested_kind()), threads());
  try {
    (void)devices.front()->allocate(std::int64_t{1} << 50);
    FAIL() << "a petabyte was allocated";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::memory) << error.what();
  }
  EXPECT_NE(devices.front()->allocate(1024), nullptr);  // the failure is forgotten
}

INSTANTIATE_TEST_SUITE_P(, Parity, ::testing::ValuesIn(operations()), [](const auto& tested) {
  std::string name = tested.param.name;
  std::ranges::replace(name, ' ', '_');
  return name;
});

}  // namespace
}  // namespace lepus::parity
