// SPDX-License-Identifier: Apache-2.0
// A device that lacks kernels: the host works on a copy of the band.
#include "correct/apply_correction.h"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "correct/pixels/pixels.h"
#include "device/host/test_host.h"
#include "device/projector.h"
#include "device/row_filter.h"

namespace lepus {
namespace {

// Keeps count of what goes to and fro.
class PlainDevice final : public Device {
public:
  struct PlainQueue final : Queue {
    explicit PlainQueue(Device& device) : Queue(device) {}
    void after(const Event&) override {}
    void wait() override {}
  };

  const DeviceInfo& info() const override { return info_; }
  std::int64_t free_bytes() const override { return 0; }
  std::int64_t memory_limit_bytes() const override { return 0; }
  std::unique_ptr<Queue> make_queue(QueueRank) override { return std::make_unique<PlainQueue>(*this); }
  std::unique_ptr<Event> make_event(Timing) override { return nullptr; }
  Block allocate(std::int64_t bytes, Place) override {
    auto memory = std::make_shared<Buffer<std::byte>>(bytes);
    return {memory, memory->data()};
  }
  bool copies_fast(const void*) const override { return true; }
  void copy(void* to, const void* from, std::int64_t bytes, Queue&) override {
    copied_bytes += bytes;
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  void clear(void*, std::int64_t, Queue&) override {}
  std::unique_ptr<Projector> make_projector(const ProjectorSetup&) override { return nullptr; }
  std::unique_ptr<RowFilter> make_row_filter(const RowFilterSetup&) override { return nullptr; }
  BandKernels& band_kernels() override { return kernels_; }

  std::int64_t copied_bytes = 0;

private:
  DeviceInfo info_;
  BandKernels kernels_;
};

TEST(ApplyCorrection, TheHostHelpsOut) {
  constexpr std::int64_t columns = 6, views = 2, rows = 4;
  std::vector<float> values(static_cast<std::size_t>(columns * views * rows));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * i % 97);
  ScanFacts facts;
  facts.columns = columns;
  facts.rows = rows;
  facts.views = views;
  const auto correction = make_dead_pixels({}, facts, {8, 15});
  TestHost host(2);
  PlainDevice device;
  const auto queue = device.make_queue(QueueRank::usual);
  const auto corrected = [&](Queue& where) {
    std::vector<float> copy = values;
    apply_correction(*correction, {copy.data(), columns, views, {0, rows}, rows}, {1, 3}, where, host.queue());
    return copy;
  };
  const std::vector<float> expected = corrected(host.queue());
  EXPECT_NE(expected, values);
  EXPECT_EQ(device.copied_bytes, 0);
  EXPECT_EQ(corrected(*queue), expected);
  EXPECT_EQ(device.copied_bytes, (rows + 2) * columns * views * 4) << "all rows to the host, those wanted back";
  EXPECT_THROW(correction->apply({values.data(), columns, views, {0, rows}, rows}, {1, 3}, *queue), Error);
}

}  // namespace
}  // namespace lepus
