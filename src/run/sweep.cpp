// SPDX-License-Identifier: Apache-2.0
#include "run/sweep.h"

#include <algorithm>
#include <chrono>

#include "run/band_store.h"
#include "run/slab_queue.h"

namespace lepus {
namespace {

using Clock = std::chrono::steady_clock;

// Adds the time until the end of its scope to a total.
class Stopwatch {
public:
  explicit Stopwatch(double& total) : total_(total) {}
  ~Stopwatch() { total_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

private:
  double& total_;
  Clock::time_point start_ = Clock::now();
};

class Sweep {
public:
  Sweep(const SweepParts& parts, Context& context)
      : parts_(parts),
        plan_(*parts.plan),
        order_(parts.backprojector->view_order()),
        context_(context),
        wedges_((views() + plan_.wedge_views - 1) / plan_.wedge_views),
        bands_(plan_.wedge_views, parts.geometry->columns, plan_.row_stride) {
    for (int i = 0; i < context.threads.size(); ++i) scratch_.emplace_back(parts.filter->scratch_floats());
  }

  SweepTimes run() {
    SlabQueue slabs(*parts_.writer, parts_.grid, parts_.cylinder_mm, plan_.slab_slices, plan_.slab_buffers);
    RowQueue rows(
        *parts_.frames, slab_count() * wedges_, [this](std::int64_t batch) { return requests(batch); },
        plan_.queue_bytes);
    context_.progress.begin("reconstruct", slab_count() * views());
    for (std::int64_t slab = 0; slab < slab_count(); ++slab) {
      const SlabView view = acquire(slabs, plan_.slabs[static_cast<std::size_t>(slab)]);
      clear(view);
      for (std::int64_t wedge = 0; wedge < wedges_; ++wedge) {
        fill_bands(slab, wedge, rows);
        backproject(wedge, view);
      }
      slabs.submit(view);
    }
    drain(slabs);
    context_.progress.end();
    return times_;
  }

private:
  std::int64_t views() const { return static_cast<std::int64_t>(order_.size()); }
  std::int64_t slab_count() const { return static_cast<std::int64_t>(plan_.slabs.size()); }
  bool rolling() const { return plan_.kind == PlanKind::rolling_window; }
  std::int64_t wedge_first(std::int64_t wedge) const { return wedge * plan_.wedge_views; }
  std::int64_t wedge_size(std::int64_t wedge) const {
    return std::min(plan_.wedge_views, views() - wedge_first(wedge));
  }

  SlabView acquire(SlabQueue& slabs, SlabRange range) {
    const Stopwatch watch(times_.write_wait_s);
    return slabs.acquire(range.z0, range.z1);
  }

  void drain(SlabQueue& slabs) {
    const Stopwatch watch(times_.write_wait_s);
    slabs.drain();
  }

  RowBand wanted(std::int64_t slab, std::int64_t position) const {
    return parts_.bands->band(order_[static_cast<std::size_t>(position)], plan_.slabs[static_cast<std::size_t>(slab)]);
  }

  // What batch (slab, wedge) needs beyond what the window still holds; a function of the plan alone, so that the
  // reading thread can run ahead.
  std::vector<RowRequest> requests(std::int64_t batch) const {
    const std::int64_t slab = batch / wedges_, wedge = batch % wedges_;
    std::vector<RowRequest> list;
    for (std::int64_t slot = 0; slot < wedge_size(wedge); ++slot) {
      const std::int64_t position = wedge_first(wedge) + slot;
      const RowBand held = rolling() && slab > 0 ? wanted(slab - 1, position) : RowBand{};
      for (const RowBand& part : missing_rows(held, wanted(slab, position)))
        for (std::int64_t row = part.first; row < part.last; row += RowFilter::rows_at_once) {
          const RowBand rows{row, std::min(row + RowFilter::rows_at_once, part.last)};
          const std::int64_t view = order_[static_cast<std::size_t>(position)];
          list.push_back({view, slot, rows, parts_.filter->recorded_rows(view, rows)});
        }
    }
    return list;
  }

  void fill_bands(std::int64_t slab, std::int64_t wedge, RowQueue& rows) {
    const Stopwatch watch(times_.filter_s);
    context_.threads.parallel_for(0, wedge_size(wedge), 1, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t slot = begin; slot < end; ++slot)
        bands_.turn_to(slot, wanted(slab, wedge_first(wedge) + slot), !rolling());
    });
    const auto blocks = static_cast<std::int64_t>(requests(slab * wedges_ + wedge).size());
    context_.threads.parallel_for(0, blocks, 1, [&](std::int64_t begin, std::int64_t end, int worker) {
      for (std::int64_t i = begin; i < end; ++i) {
        const RowBlock block = rows.take();
        const float* filtered = parts_.filter->apply(block, scratch_[static_cast<std::size_t>(worker)].data());
        bands_.put(block.request.slot, block.request.rows, filtered);
      }
    });
  }

  // In pieces of a few blocks of views, so that the progress moves; the sums do not depend on the pieces.
  void backproject(std::int64_t wedge, const SlabView& slab) {
    const Stopwatch watch(times_.backproject_s);
    const std::int64_t block = parts_.backprojector->view_block();
    const std::int64_t piece = std::max<std::int64_t>(1, 64 / block) * block;
    for (std::int64_t first = 0; first < wedge_size(wedge); first += piece) {
      BandSet set{wedge_first(wedge) + first, bands_.row_stride(), {}};
      for (std::int64_t slot = first; slot < std::min(first + piece, wedge_size(wedge)); ++slot)
        set.bands.push_back(bands_.band(slot));
      parts_.backprojector->accumulate(set, slab, context_.threads);
      context_.progress.advance(static_cast<std::int64_t>(set.bands.size()));
    }
  }

  void clear(const SlabView& slab) {
    const std::int64_t columns = parts_.grid.nx * parts_.grid.ny;
    context_.threads.parallel_for(0, columns, std::max<std::int64_t>(1, columns / 64), [&](auto begin, auto end, int) {
      std::fill(slab.data + begin * slab.z_stride, slab.data + end * slab.z_stride, 0.0F);
    });
  }

  const SweepParts& parts_;
  const Plan& plan_;
  const std::vector<std::int64_t>& order_;
  Context& context_;
  std::int64_t wedges_;
  BandStore bands_;
  std::vector<Buffer<float>> scratch_;
  SweepTimes times_;
};

}  // namespace

SweepTimes sweep(const SweepParts& parts, Context& context) { return Sweep(parts, context).run(); }

}  // namespace lepus
