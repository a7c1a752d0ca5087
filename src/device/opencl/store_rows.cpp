// SPDX-License-Identifier: Apache-2.0
// The row filter and the store of views together: a wedge of recorded rows on the device becomes texels.
#include "device/batched_row_filter.h"
#include "device/opencl/projector.h"
#include "device/opencl/row_filter.h"

namespace lepus::opencl {
namespace {

class OpenclRowFilter final : public BatchedRowFilter {
public:
  OpenclRowFilter(Device& device, Context& context, const lepus::RowFilterSetup& given)
      : BatchedRowFilter(given, "OpenCL"), device_(device) {
    if (given.weights)
      with_tables(opencl::RowFilter::transform_length(shortest_transform()), [&](const RowTables& tables) {
        filter_ = std::make_unique<opencl::RowFilter>(device, context, tables, *device.make_queue());
      });
  }

private:
  void filter_batch(const RowBatch& batch, Queue& queue) override { filter_->filter(batch, queue); }
  void bad_pixels(std::span<BadPixels> bad) override { filter_->bad_pixels(0, bad, *device_.make_queue()); }

  Device& device_;
  std::unique_ptr<opencl::RowFilter> filter_;
};

}  // namespace

std::unique_ptr<lepus::RowFilter> make_row_filter(Device& device, Context& context,
                                                  const lepus::RowFilterSetup& setup) {
  return std::make_unique<OpenclRowFilter>(device, context, setup);
}

}  // namespace lepus::opencl
