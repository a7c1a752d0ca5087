// SPDX-License-Identifier: Apache-2.0
// Corrected rows of an engine that computes on a device with memory of its own, until they are filtered.
#pragma once

#include <mutex>

#include "run/band_engine.h"
#include "run/row_store.h"

namespace lepus {

// All rows of all views in device memory, [row][view][column].
class DeviceRows final : public RowKeeper {
public:
  DeviceRows(const RowStoreSize& size, Device& device, Queue& work)
      : device_(device),
        work_(work),
        down_(device.make_queue(QueueRank::beside)),
        memory_(device.allocate(size.floats() * float_bytes)) {
    all_ = {reinterpret_cast<float*>(memory_.get()), size.columns, size.views, {0, size.rows}, size.rows};
  }
  const SinogramBand* place_for(RowBand rows) override {
    place_ = part_of(all_, rows);
    return &place_;
  }
  void put(const SinogramBand& kept, RowBand rows) override {
    const SinogramBand from = part_of(kept, rows), to = part_of(all_, rows);
    if (from.data != to.data) device_.copy(to.data, from.data, from.floats() * float_bytes, work_);
  }
  void get(std::int64_t view, RowBand rows, float* out) const override {
    const std::lock_guard lock(downloading_);
    work_.wait();
    const std::int64_t width = all_.columns * float_bytes;
    device_.copy_rows(out, width, part_of(all_, rows).data + view * all_.columns, width * all_.views, width,
                      rows.size(), *down_);
    down_->wait();
  }
  const SinogramBand* on_device(const DeviceInfo& device) const override {
    if (device.kind != device_.info().kind || device.number != device_.info().number) return nullptr;
    work_.wait();
    return &all_;
  }
  std::int64_t memory_bytes() const override { return 0; }
  std::string place() const override { return "on the GPU"; }

private:
  Device& device_;
  Queue& work_;
  mutable std::mutex downloading_;
  std::unique_ptr<Queue> down_;
  Block memory_;
  SinogramBand all_, place_;
};

// Rows that do not fit on the device wait on the host.
class DownloadedRows final : public RowKeeper {
public:
  DownloadedRows(const RowStoreSize& size, BandEngine& engine) : store_(size), engine_(engine) {}
  void put(const SinogramBand& kept, RowBand rows) override {
    SinogramBand host = part_of(kept, rows);
    const auto memory = engine_.host_memory(host.floats() * float_bytes);
    host.data = reinterpret_cast<float*>(memory.get());
    engine_.download(kept, rows, host.data);
    store_.put(host, rows);
  }
  void get(std::int64_t view, RowBand rows, float* out) const override { store_.get(view, rows, out); }
  std::int64_t memory_bytes() const override { return store_.memory_bytes(); }
  std::string place() const override { return store_.place(); }
  std::filesystem::path file() const override { return store_.file(); }

private:
  RowStore store_;
  BandEngine& engine_;
};

}  // namespace lepus
