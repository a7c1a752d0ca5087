// SPDX-License-Identifier: Apache-2.0
// The row filter of a device with memory of its own: a wedge of recorded rows there, views one after the other with the
// same rows, is filtered in one batch and goes into the store of views. A device adds what filters a batch.
#pragma once

#include <span>
#include <vector>

#include "device/device.h"
#include "device/row_filter.h"
#include "device/row_tables.h"

namespace lepus {

class BatchedRowFilter : public RowFilter {
public:
  BatchedRowFilter(const RowFilterSetup& setup, const char* where) : setup_(setup), where_(where) {}
  void filter(std::span<const RowBlock> blocks, ViewStore& store, Queue& queue) final;
  void report_bad_pixels() final;

protected:
  const RowFilterSetup& setup() const { return setup_; }
  // Hands the tables of the setup, with a transform of that length, to `make`, which copies what it needs.
  template <class Make>
  void with_tables(std::int64_t transform_length, const Make& make) const {
    const Tables all(setup_, transform_length);
    make(all.tables);
  }
  std::int64_t shortest_transform() const { return shortest_ramp_transform(setup_.wide->columns, setup_.ramp); }

private:
  struct Tables {
    Tables(const RowFilterSetup& setup, std::int64_t transform_length);
    Tables(const Tables&) = delete;
    Tables& operator=(const Tables&) = delete;
    std::vector<ViewWeight> in_order;  // positions are counted along the order of summation
    RampTransfer ramp;
    RowNormalisation normalisation;
    RowTables tables;
  };

  virtual void filter_batch(const RowBatch& batch, Queue& queue) = 0;
  virtual void bad_pixels(std::span<BadPixels> bad) = 0;  // of all views, in the order of summation

  RowFilterSetup setup_;
  const char* where_;  // for messages
};

}  // namespace lepus
