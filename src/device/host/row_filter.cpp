// SPDX-License-Identifier: Apache-2.0
#include "device/host/row_filter.h"

#include <algorithm>
#include <vector>

#include "device/host/device.h"
#include "device/projector.h"
#include "io/pixels.h"
#include "preprocess/dead_pixels.h"

namespace lepus::host {
namespace {

std::int64_t aligned(std::int64_t floats) { return (floats + 15) / 16 * 16; }

// Rows of `columns` values become rows of `wide`, in place, with zeros around them.
void spread(float* rows, std::int64_t count, std::int64_t columns, std::int64_t before, std::int64_t wide) {
  if (wide == columns) return;
  for (std::int64_t row = count - 1; row >= 0; --row) {  // from the end: each row moves away from the ones before it
    float* to = rows + row * wide;
    std::copy_backward(rows + row * columns, rows + (row + 1) * columns, to + before + columns);
    std::fill(to, to + before, 0.0F);
    std::fill(to + before + columns, to + wide, 0.0F);
  }
}

class HostRowFilter final : public RowFilter {
public:
  HostRowFilter(const RowFilterSetup& setup, int threads) : filter_(setup) {
    for (int i = 0; i < threads; ++i) scratch_.emplace_back(filter_.scratch_floats());
  }

  void filter(std::span<const RowBlock> blocks, ViewStore& store, Queue& queue) override {
    threads_of(queue).parallel_for(
        0, static_cast<std::int64_t>(blocks.size()), 1, [&](std::int64_t begin, std::int64_t end, int worker) {
          for (std::int64_t i = begin; i < end; ++i) {
            const RowBlock& block = blocks[static_cast<std::size_t>(i)];
            const float* filtered = filter_.apply(block, scratch_[static_cast<std::size_t>(worker)].data());
            store.put(filtered, 0, block.request.slot, 1, block.request.rows, queue);
          }
        });
  }

private:
  BlockFilter filter_;
  std::vector<Buffer<float>> scratch_;
};

}  // namespace

BlockFilter::BlockFilter(const RowFilterSetup& setup) : setup_(setup), ramp_(setup.wide->columns, setup.ramp) {}

std::int64_t BlockFilter::scratch_floats() const {
  const std::int64_t recorded =
      setup_.resampler ? aligned(setup_.resampler->maximum_recorded_rows(rows_at_once) * setup_.recorded_columns) : 0;
  return aligned(rows_at_once * ramp_.columns()) + recorded + aligned(ramp_.scratch_floats());
}

float* BlockFilter::line_integrals(const RowBlock& block, float* scratch) const {
  const RowRequest& request = block.request;
  float* flat = scratch + aligned(ramp_.scratch_floats());
  float* rows = setup_.resampler ? flat + aligned(rows_at_once * ramp_.columns()) : flat;
  const RowBand recorded = request.recorded;
  convert_to_float(setup_.type, block.pixels, recorded.size() * setup_.recorded_columns, rows);
  if (setup_.audit) setup_.audit->record(request.view, recorded.first, recorded.last, block.pixels, rows);
  if (setup_.normalisation) setup_.normalisation->apply(recorded.first, recorded.last, rows);
  if (setup_.dead_pixels)
    bridge_along_rows(*setup_.dead_pixels, setup_.recorded_columns, recorded.first, recorded.last, rows);
  if (setup_.resampler) setup_.resampler->apply(request.view, request.rows, rows, flat);
  return flat;
}

const float* BlockFilter::apply(const RowBlock& block, float* scratch) const {
  const RowRequest& request = block.request;
  const std::int64_t columns = ramp_.columns();
  float* flat = line_integrals(block, scratch);
  if (!setup_.weights) return flat;
  setup_.weights->apply(request.view, request.rows.first, request.rows.last, flat);
  spread(flat, request.rows.size(), setup_.columns, setup_.columns_before, columns);
  for (std::int64_t row = 0; row < request.rows.size(); ++row) ramp_.apply(flat + row * columns, scratch);
  return flat;
}

std::unique_ptr<RowFilter> make_row_filter(const RowFilterSetup& setup, int threads) {
  return std::make_unique<HostRowFilter>(setup, threads);
}

}  // namespace lepus::host
