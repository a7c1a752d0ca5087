// SPDX-License-Identifier: Apache-2.0
#include "harness.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "core/format.h"
#include "device/host/backprojector.h"

namespace lepus::parity {
namespace {

constexpr std::int64_t guard = 1024;        // bytes around every buffer
constexpr auto sentinel = std::byte{0xFF};  // four of them are a float that is not a number

bool long_form() { return std::getenv("LEPUS_PARITY_LONG"); }

bool runs_here(const Case& c, const Machine& machine) {
  return (!c.has || c.has(machine)) && !(c.takes_long && machine.kind() == "opencl" && !long_form());
}

// Those that the machine has: none where the table says that it lacks the operation, and only there.
std::vector<Case> cases_for(const Operation& operation, const Machine& machine) {
  std::vector<Case> all = operation.cases();
  std::erase_if(all, [&](const Case& c) { return !runs_here(c, machine); });
  EXPECT_EQ(all.empty(), std::ranges::count(operation.lacking, machine.kind()) > 0)
      << operation.name << " of " << machine.kind() << ": the table is wrong";
  return all;
}

// "" where all bits are the same.
std::string differing_bits(const std::vector<float>& got, const std::vector<float>& wanted) {
  std::size_t differ = 0, not_numbers = 0, first = 0;
  for (std::size_t i = got.size(); i-- > 0;) {
    if (std::memcmp(&got[i], &wanted[i], sizeof(float)) == 0) continue;
    ++differ;
    not_numbers += std::isnan(got[i]) ? 1 : 0;
    first = i;
  }
  if (differ == 0) return {};
  return format("{} of {} values differ, {} are not numbers; value {} is {} instead of {}", differ, got.size(),
                not_numbers, first, got[first], wanted[first]);
}

bool within(const Difference& d, const Difference& limit) { return d.rms <= limit.rms && d.largest <= limit.largest; }

}  // namespace

Machine::Machine(Devices devices, std::string target)
    : devices_(std::move(devices)),
      target_(std::move(target)),
      queue_(device().make_queue()),
      begin_(device().make_event(Timing::on)),
      end_(device().make_event(Timing::on)) {}

GuardedBytes::GuardedBytes(Machine& machine, std::span<const std::byte> bytes)
    : machine_(machine), bytes_(static_cast<std::int64_t>(bytes.size())) {
  std::vector<std::byte> all(bytes.size() + 2 * guard, sentinel);
  std::copy(bytes.begin(), bytes.end(), all.begin() + guard);
  block_ = machine.device().allocate(bytes_ + 2 * guard);
  machine.device().copy(block_.get(), all.data(), bytes_ + 2 * guard, machine.queue());
  machine.queue().wait();
}

std::byte* GuardedBytes::data() const { return block_.get() + guard; }

void GuardedBytes::download(std::span<std::byte> to) const {
  std::vector<std::byte> all(static_cast<std::size_t>(bytes_ + 2 * guard));
  machine_.device().copy(all.data(), block_.get(), bytes_ + 2 * guard, machine_.queue());
  machine_.queue().wait();
  const auto untouched = [](auto first) {
    return std::all_of(first, first + guard, [](std::byte b) { return b == sentinel; });
  };
  EXPECT_TRUE(untouched(all.begin()) && untouched(all.end() - guard)) << "written beside a buffer";
  std::copy(all.begin() + guard, all.end() - guard, to.begin());
}

std::vector<float> on_device(Machine& machine, const std::vector<float>& values, Planes shape,
                             const std::function<void(const Planes&)>& act) {
  const Guarded<float> memory(machine, values);
  shape.data = memory.data();
  machine.work([&] { act(shape); });
  return memory.values();
}

Difference difference(const std::vector<float>& got, const Truth& truth) {
  if (got.size() != truth.values.size() || got.empty()) return {INFINITY, INFINITY};
  double sum = 0, norm = 0, largest = 0, peak = 0;
  std::size_t compared = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double unit = truth.unit.empty() ? 1 : truth.unit[i];
    if (unit == 0) continue;
    const double d = std::abs(static_cast<double>(got[i]) - truth.values[i]) / unit;
    if (!(d <= largest)) largest = d;
    sum += d * d;
    norm += truth.values[i] * truth.values[i];
    peak = std::max(peak, std::abs(truth.values[i]));
    ++compared;
  }
  if (truth.unit.empty() && peak > 0) return {std::sqrt(sum / norm), largest / peak};
  return {std::sqrt(sum / static_cast<double>(std::max<std::size_t>(1, compared))), largest};
}

void check_against_truth(const Operation& operation, Machine& machine) {
  Difference worst;
  int tried = 0;
  for (const Case& c : cases_for(operation, machine)) {
    if (!c.truth) continue;
    machine.ran.clear();
    const Difference d = difference(c.run(machine, {}), c.truth());
    EXPECT_TRUE(within(d, operation.limit)) << operation.name << ", " << c.name << ", " << machine.kind() << " "
                                            << machine.target() << ": rms " << d.rms << ", largest " << d.largest;
    if (c.kernel) {
      EXPECT_NE(machine.ran.find(c.kernel(machine)), std::string::npos)
          << c.name << ": \"" << c.kernel(machine) << "\" was asked for, \"" << machine.ran << "\" ran";
    }
    if (!machine.target().empty()) {
      EXPECT_EQ(last_cpu_target(), machine.target()) << "another target ran than was asked for";
    }
    worst = {std::max(worst.rms, d.rms), std::max(worst.largest, d.largest)};
    ++tried;
  }
  if (tried > 0)
    std::printf("%s on %s %s, worst of %d cases: rms %.2e (limit %.1e), largest %.2e (limit %.1e)\n",
                operation.name.c_str(), machine.kind().c_str(), machine.target().c_str(), tried, worst.rms,
                operation.limit.rms, worst.largest, operation.limit.largest);
}

void check_cuts(const Operation& operation, Machine& machine) {
  for (const Case& c : cases_for(operation, machine)) {
    const int cuts = c.cuts_in_short && !long_form() ? std::min(c.cuts, c.cuts_in_short(machine)) : c.cuts;
    if (!c.truth || cuts == 0) continue;
    const std::vector<float> whole = c.run(machine, {});
    for (int cut = 1; cut <= cuts; ++cut) {
      const std::vector<float> parts = c.run(machine, {.cut = cut});
      ASSERT_EQ(parts.size(), whole.size()) << c.name;
      EXPECT_EQ(differing_bits(parts, whole), "")
          << operation.name << ", " << c.name << ", cut " << cut << ", " << machine.kind() << " " << machine.target();
    }
  }
}

void check_that_limit_sees_errors(const Operation& operation, Machine& machine) {
  const std::vector<Case> cases = cases_for(operation, machine);
  if (cases.empty()) return;
  const Case& c = cases.front();
  const Difference d = difference(c.run(machine, {.wrong = true}), c.truth());
  EXPECT_FALSE(within(d, operation.limit)) << operation.name << ", " << c.name << ": rms " << d.rms << ", largest "
                                           << d.largest << " of an input that is off";
}

void print_times(const Operation& operation, Machine& machine) {
  for (const Case& c : cases_for(operation, machine)) {
    double best = INFINITY;
    for (int run = 0; run < 4; ++run) {  // the first takes scratch memory, and compiles
      machine.seconds = 0;
      (void)c.run(machine, {});
      best = std::min(best, machine.seconds);
    }
    std::printf("%-22s %-46s %-9s %10.3f ms  %s\n", operation.name.c_str(), c.name.c_str(), machine.kind().c_str(),
                1e3 * best, machine.ran.c_str());
  }
}

double noise(std::int64_t place) {
  std::uint64_t p = static_cast<std::uint64_t>(place + 1) * 0x9e3779b97f4a7c15ULL;
  p = (p ^ (p >> 30)) * 0xbf58476d1ce4e5b9ULL;
  p = (p ^ (p >> 27)) * 0x94d049bb133111ebULL;
  return static_cast<double>((p ^ (p >> 31)) >> 11) * 0x1p-53;
}

}  // namespace lepus::parity
