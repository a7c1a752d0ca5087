// SPDX-License-Identifier: Apache-2.0
#include "post/sweep.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <future>
#include <utility>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus::post {
namespace {

constexpr std::int64_t good_slab_floats = std::int64_t{1} << 24;  // 64 MiB: long reads, small buffers
constexpr auto float_size = static_cast<std::int64_t>(sizeof(float));

// Buffers of one size that go round.
class BufferRing {
public:
  BufferRing(int buffers, std::int64_t floats) {
    for (int i = 0; i < buffers; ++i) free_.emplace_back(floats);
  }
  Buffer<float> take() {
    Buffer<float> buffer = std::move(free_.back());
    free_.pop_back();
    return buffer;
  }
  void give(Buffer<float> buffer) { free_.push_back(std::move(buffer)); }

private:
  std::vector<Buffer<float>> free_;
};

}  // namespace

Sweep::Sweep(const VolumeReader& volume, const VolumeFacts& before, const Steps& steps, const SweepLimits& limits,
             int threads)
    : volume_(volume), steps_(steps), grids_{before.grid}, threads_(threads) {
  VolumeFacts facts = before;
  bool elsewhere = false;
  for (const auto& step : steps) {
    facts = step->after(facts);
    grids_.push_back(facts.grid);
    elsewhere = elsewhere || step->needs_output();
  }
  if (elsewhere) ++buffers_;
  choose_slabs(limits);
}

std::vector<SliceRange> Sweep::bands_for(SliceRange wanted) const {
  std::vector<SliceRange> bands(steps_.size() + 1);
  bands.back() = wanted;
  for (std::size_t i = steps_.size(); i-- > 0;) bands[i] = steps_[i]->slices_needed(bands[i + 1]);
  return bands;
}

Sweep::Need Sweep::need_of(std::int64_t slices) const {
  Need need;
  const std::int64_t nz = grids_.back().nz;
  for (std::int64_t z = 0; z < nz; z += slices) {
    const auto bands = bands_for({z, std::min(z + slices, nz)});
    for (std::size_t i = 0; i < bands.size(); ++i) {
      const std::int64_t floats = bands[i].size() * plane(i);
      need.floats = std::max(need.floats, floats);
      if (i == steps_.size()) continue;
      need.scratch = std::max(need.scratch, steps_[i]->scratch_bytes(bands[i].size(), threads_));
      if (steps_[i]->is_costly())
        need.device = std::max(need.device, 2 * floats * float_size + steps_[i]->scratch_bytes(bands[i].size(), 0));
    }
  }
  return need;
}

std::int64_t Sweep::host_bytes(const Need& need) const { return buffers_ * need.floats * float_size + need.scratch; }

void Sweep::choose_slabs(const SweepLimits& limits) {
  const std::int64_t nz = grids_.back().nz;
  const auto fits = [&](const Need& need) {
    return host_bytes(need) <= limits.memory_bytes && (limits.device_bytes == 0 || need.device <= limits.device_bytes);
  };
  // Slices around a slab are computed twice: at least four times as many in it, where they fit.
  const SliceRange middle = bands_for({nz / 2, nz / 2 + 1}).front();
  std::int64_t slices = std::max(good_slab_floats / std::max(plane(0), plane(steps_.size())), 4 * middle.size());
  slices = std::clamp<std::int64_t>(limits.slab_slices > 0 ? limits.slab_slices : slices, 1, nz);
  Need need = need_of(slices);
  while (slices > 1 && !fits(need)) need = need_of(slices /= 2);
  if (!fits(need)) {
    const bool host = host_bytes(need) > limits.memory_bytes;
    // The program itself may hold more than the limit already.
    const std::int64_t left = std::max<std::int64_t>(0, host ? limits.memory_bytes : limits.device_bytes);
    throw Error(ErrorKind::memory,
                {.what = host ? "one slice and what the steps need around it do not fit into the memory"
                              : "one slice and what the steps need around it do not fit into the GPU's memory",
                 .where = "post-processing",
                 .why = format("{} are needed, {} of what is allowed are left",
                               format_bytes(host ? host_bytes(need) : need.device), format_bytes(left)),
                 .hint = host ? "allow more with --memory; smaller radii, fewer iterations and another border than "
                                "wrap need less"
                              : "use --backend cpu, or smaller radii"});
  }
  slab_slices_ = slices;
  buffer_floats_ = need.floats;
}

void Sweep::require_finite(const float* values, std::int64_t n, SliceRange slices, bool read,
                           ThreadPool& threads) const {
  std::atomic<std::int64_t> wrong{0};
  threads.parallel_for(0, n, 1 << 18, [&](std::int64_t begin, std::int64_t end, int) {
    std::int64_t here = 0;
    for (std::int64_t i = begin; i < end; ++i) here += std::isfinite(values[i]) ? 0 : 1;
    if (here > 0) wrong += here;
  });
  if (wrong == 0) return;
  throw Error(
      ErrorKind::input,
      {.what = read ? "the volume holds voxels that are not finite numbers" : "voxels became too large to be numbers",
       .where = format("slices {} to {}", slices.first, slices.last - 1),
       .why = format("{} of {} voxels", wrong.load(), n),
       .hint = read ? "replace them first, with --do finite" : "check the numbers of the steps"});
}

std::vector<SliceRange> Sweep::slabs_of(const std::vector<SliceRange>& parts) const {
  std::vector<SliceRange> slabs;
  for (const SliceRange& part : parts)
    for (std::int64_t z = part.first; z < part.last; z += slab_slices_)
      slabs.push_back({z, std::min(z + slab_slices_, part.last)});
  return slabs;
}

void Sweep::run(const std::string& stage, bool any_value, const Sink& look, const Sink& write,
                const std::vector<SliceRange>& parts, Context& context) const {
  const std::vector<SliceRange> slabs = slabs_of(parts);
  BufferRing ring(buffers_, buffer_floats_);
  const auto read = [&](std::size_t slab, Buffer<float> into) {
    const SliceRange slices = bands_for(slabs[slab]).front();
    volume_.read(slices.first, slices.last, into.data());
    return into;
  };
  std::int64_t wanted = 0;
  for (const SliceRange& slab : slabs) wanted += slab.size();
  context.progress.begin(stage, wanted);
  std::future<Buffer<float>> reading, writing;
  if (!slabs.empty()) reading = std::async(std::launch::async, read, 0, ring.take());
  for (std::size_t slab = 0; slab < slabs.size(); ++slab) {
    context.cancel.check();
    Buffer<float> values = reading.get();
    if (slab + 1 < slabs.size()) reading = std::async(std::launch::async, read, slab + 1, ring.take());
    const auto bands = bands_for(slabs[slab]);
    if (!any_value) require_finite(values.data(), bands[0].size() * plane(0), bands[0], true, context.threads);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (!steps_[i]->needs_output()) {
        steps_[i]->apply({values.data(), bands[i]}, {values.data(), bands[i + 1]}, context.threads);
        continue;
      }
      Buffer<float> out = ring.take();
      steps_[i]->apply({values.data(), bands[i]}, {out.data(), bands[i + 1]}, context.threads);
      ring.give(std::exchange(values, std::move(out)));
    }
    const SliceRange done = bands.back();
    require_finite(values.data(), done.size() * plane(steps_.size()), done, false, context.threads);
    if (look) look(done, values.data());
    if (writing.valid()) ring.give(writing.get());
    const auto write_out = [&write, done](Buffer<float> from) {
      if (write) write(done, from.data());
      return from;
    };
    writing = std::async(std::launch::async, write_out, std::move(values));
    context.progress.advance(done.size());
  }
  if (writing.valid()) writing.get();
  context.progress.end();
}

}  // namespace lepus::post
