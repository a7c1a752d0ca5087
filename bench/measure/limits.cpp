// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/limits.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/format.h"
#include "core/memory.h"
#include "core/scratch_folder.h"
#include "bench/measure/clock.h"
#include "bench/measure/files.h"
#include "bench/measure/limits_parts.h"

namespace lepus::measure {
namespace {

constexpr std::int64_t mebibyte = 1 << 20;

void measure_copy(Limits& limits, bool quick, ThreadPool& threads) {
  // Beyond the last cache, but never more than an eighth of what is free.
  const std::int64_t bytes =
      std::max(mebibyte, std::min((quick ? 64 : 512) * mebibyte, available_memory_bytes() / 8) / mebibyte * mebibyte);
  Buffer<std::uint64_t> from(bytes / 8), to(bytes / 8);
  fill_pattern(from, threads);
  std::memset(to.data(), 0, static_cast<std::size_t>(bytes));
  auto* target = reinterpret_cast<unsigned char*>(to.data());
  const auto* source = reinterpret_cast<const unsigned char*>(from.data());
  double best = 0;
  // memcpy writes past the caches when a piece is long; which is better differs between machines.
  for (const std::int64_t piece : {mebibyte, (bytes + threads.size() - 1) / threads.size()}) {
    const double taken = best_seconds(quick ? 3 : 5, [&] {
      threads.parallel_for(0, bytes, piece, [&](std::int64_t first, std::int64_t last, int) {
        std::memcpy(target + first, source + first, static_cast<std::size_t>(last - first));
      });
    });
    best = best == 0 ? taken : std::min(best, taken);
  }
  const double error = differing_bytes(source, target, bytes, threads);
  limits.figures.push_back(
      machine_figure("memory copy", best, 2e-9 * static_cast<double>(bytes), "GB/s", error, "bytes that differ"));
  limits.figures.back().note = format("{}, {} at a time", thread_text(threads.size()), format_bytes(bytes));
  limits.copy_gb_s = limits.figures.back().rate();
}

void measure_disk(Limits& limits, const std::filesystem::path& folder, bool quick, Context& context) {
  const ScratchFolder scratch(folder, context.progress);
  ThreadPool& threads = context.threads;
  const std::int64_t bytes = (quick ? 32 : 256) * mebibyte;
  PlainFiles files({.files = 1, .file_bytes = bytes, .piece_bytes = 8 * mebibyte}, scratch.path(), threads);
  constexpr int repeats = 3;
  const double write = best_seconds(repeats, [&] { files.write(); }),
               read = best_seconds(repeats, [&] { files.read(); });
  double wrong = files.take_wrong_bytes();
  const double read_by_all = best_seconds(repeats, [&] { files.read_by_all(); });
  wrong += files.take_wrong_bytes();
  const auto add = [&](const std::string& name, double taken, int thread_count) {
    limits.figures.push_back(
        machine_figure(name, taken, 1e-9 * static_cast<double>(bytes), "GB/s", wrong, "bytes that differ"));
    limits.figures.back().note =
        format("{}, one file of {}, through the system's cache", thread_text(thread_count), format_bytes(bytes));
  };
  add("file write", write, 1);
  add("file read", read, 1);
  add("file read, all threads", read_by_all, threads.size());
}

}  // namespace

void fill_pattern(Buffer<std::uint64_t>& buffer, ThreadPool& threads) {
  threads.parallel_for(0, buffer.size(), mebibyte, [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t i = first; i < last; ++i) buffer[i] = (static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15ULL;
  });
}

double differing_bytes(const void* a, const void* b, std::int64_t bytes, ThreadPool& threads) {
  std::atomic<std::int64_t> differing{0};
  const auto* x = static_cast<const unsigned char*>(a);
  const auto* y = static_cast<const unsigned char*>(b);
  threads.parallel_for(0, bytes, mebibyte, [&](std::int64_t first, std::int64_t last, int) {
    if (std::memcmp(x + first, y + first, static_cast<std::size_t>(last - first)) == 0) return;
    for (std::int64_t i = first; i < last; ++i) differing += x[i] != y[i];
  });
  return static_cast<double>(differing);
}

std::string thread_text(int threads) { return threads == 1 ? "one thread" : format("{} threads", threads); }

Figure machine_figure(const std::string& name, double taken, double work, const std::string& unit, double error,
                      const std::string& error_of) {
  Figure f;
  f.group = "machine";
  f.name = name;
  f.seconds = taken;
  f.work = work;
  f.unit = unit;
  f.error = error;
  f.error_of = error_of;
  return f;
}

Limits measure_limits(const LimitOptions& options, Context& context) {
  Limits limits;
  measure_copy(limits, options.quick, context.threads);
  context.cancel.check();
  measure_multiply_adds(limits, options.quick, context.threads);
  context.cancel.check();
  if (!options.folder.empty()) measure_disk(limits, options.folder, options.quick, context);
  context.cancel.check();
  if (options.device >= 0) measure_gpu_limits(limits, options.device, options.quick);
  return limits;
}

}  // namespace lepus::measure
