// SPDX-License-Identifier: Apache-2.0
// librabbitct_lepus.so: lepus as a module of RabbitCT's runners. The environment chooses what computes:
//   LEPUS_RABBITCT_BACKEND    auto, cpu, cuda, reference    LEPUS_RABBITCT_PRECISION  exact, fast, half
//   LEPUS_RABBITCT_THREADS    0: every core                 LEPUS_RABBITCT_BLOCK      views summed at once
// Where the runner tells how many views will come, the volume is ready when the call of the last one returns; else when
// finish does. An exception cannot leave a function of C: its words go to standard error, and the function says 0.
#include "bench/rabbitct/module.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/format.h"
#include "bench/rabbitct/format.h"
#include "bench/rabbitct/view_stream.h"
#include <lepus/error.h>

namespace lepus::rabbitct {
namespace {

[[noreturn]] void refuse_call(std::string what, std::string why) {
  throw Error(ErrorKind::usage, {.what = std::move(what), .where = {}, .why = std::move(why), .hint = {}});
}

std::string setting(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

int number_setting(const char* name) {
  const std::string text = setting(name, "0");
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (*end != '\0' || value < 0 || value > 4096)
    refuse_call(format("{} is '{}'", name, text), "it must be a number from 0 to 4096");
  return static_cast<int>(value);
}

Precision precision_setting() {
  const std::string name = setting("LEPUS_RABBITCT_PRECISION", "exact");
  if (name == "exact") return Precision::exact;
  if (name == "fast") return Precision::fast;
  if (name == "half") return Precision::half;
  refuse_call(format("LEPUS_RABBITCT_PRECISION is '{}'", name), "there are exact, fast and half");
}

enum class Runner { original, erlangen };

// Both structures are looked at only where both have something.
Runner runner_of(const void* data) {
  OriginalData original;
  ErlangenData erlangen;
  std::memcpy(&original, data, offsetof(OriginalData, volume));
  std::memcpy(&erlangen, data, offsetof(ErlangenData, volume));
  const auto fits = [&](float step, float origin) {
    const float edge = static_cast<float>(original.size);
    return step * edge == 256.0F && std::abs(origin + 0.5F * step * (edge - 1.0F)) < 1e-3F;
  };
  if (fits(original.voxel_mm, original.origin_mm)) return Runner::original;
  if (fits(erlangen.voxel_mm, erlangen.origin_mm)) return Runner::erlangen;
  refuse_call("the runner's structure is not known",
              format("of a volume of size {} neither place for voxel size and origin holds what RabbitCT gives",
                     original.size));
}

Matrix34 matrix_of(const double* columns) {
  Matrix34 matrix;
  for (int i = 0; i < 12; ++i) matrix(i % 3, i / 3) = columns[i];
  return matrix;
}

// One sweep: from prepare or load to unload.
class Sweep {
public:
  Sweep(Runner runner, std::int64_t size, std::int64_t columns, std::int64_t rows)
      : runner_(runner), threads_(number_setting("LEPUS_RABBITCT_THREADS")) {
    StreamSetup setup;
    setup.columns = columns;
    setup.rows = rows;
    setup.size = size;
    setup.block = number_setting("LEPUS_RABBITCT_BLOCK");
    Compute compute;
    compute.backend = setting("LEPUS_RABBITCT_BACKEND", "auto");
    compute.precision = precision_setting();
    devices_ = open_devices(compute, threads_);
    stream_ = std::make_unique<ViewStream>(setup, *devices_.front(), threads_);
    pixels_ = columns * rows;
    voxels_ = size * size * size;
  }

  Runner runner() const { return runner_; }
  void expect(std::int64_t views) {
    expected_ = views;
    stream_->expect(views);
  }

  // Memory that views and the volume travel through fastest, where the runner lets the module provide it.
  void provide(OriginalData& data) {
    if (data.volume == nullptr) {
      volume_ = host_floats(voxels_, *devices_.front());
      std::fill_n(volume_.get(), voxels_, 0.0F);
      data.volume = volume_.get();
    }
    if (data.views_ahead == nullptr && data.view_buffers > 0) {
      ahead_ = host_floats(data.view_buffers * pixels_, *devices_.front());
      ahead_pointers_.clear();
      for (std::uint32_t i = 0; i < data.view_buffers; ++i) ahead_pointers_.push_back(ahead_.get() + i * pixels_);
      data.views_ahead = ahead_pointers_.data();
    }
  }
  void take_back(OriginalData& data) const {
    if (data.volume == volume_.get()) data.volume = nullptr;
  }

  void add(OriginalData& data) {
    add(data.matrix, data.view);
    if (expected_ > 0) {
      if (data.first_of_read != 0) since_read_ = 0;
      if (++since_read_ == data.views_read) stream_->release_views();  // the runner reads others into their place now
    } else {
      stream_->release_views();
    }
    if (added_ == expected_) finish(data.volume);
  }
  void add(ErlangenData& data) {
    for (std::uint32_t i = 0; i < data.views; ++i) add(data.view[i].matrix, data.view[i].pixels);
    stream_->release_views();
    if (added_ == expected_) finish(data.volume);
  }

  void finish(float* volume) {
    if (finished_) return;
    if (volume == nullptr) refuse_call("there is no volume", "the runner gave none");
    stream_->finish(volume);
    finished_ = true;
  }

private:
  void add(const double* matrix, const float* view) {
    if (matrix == nullptr || view == nullptr) refuse_call("there is no view", "the runner gave none");
    if (finished_) refuse_call(format("view {} came after the last", added_), format("{} were announced", expected_));
    stream_->add(matrix_of(matrix), view);
    ++added_;
  }

  Runner runner_;
  ThreadPool threads_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::unique_ptr<ViewStream> stream_;
  std::int64_t pixels_ = 0, voxels_ = 0, expected_ = 0, added_ = 0;
  std::uint32_t since_read_ = 0;
  bool finished_ = false;
  std::shared_ptr<float> volume_, ahead_;
  std::vector<float*> ahead_pointers_;
};

std::unique_ptr<Sweep> current;  // the runners have one at a time

Sweep& begun(const void* data) {
  if (data == nullptr) refuse_call("there is no structure", "the runner gave a null pointer");
  if (!current) {
    const Runner runner = runner_of(data);
    std::uint32_t sizes_of[3];  // both begin with these
    std::memcpy(sizes_of, data, sizeof(sizes_of));
    current = std::make_unique<Sweep>(runner, sizes_of[0], sizes_of[1], sizes_of[2]);
  }
  return *current;
}

Sweep& running() {
  if (!current) refuse_call("no sweep was begun", "neither RCTPrepareAlgorithm nor RCTLoadAlgorithm was called");
  return *current;
}

OriginalData& original(void* data) { return *static_cast<OriginalData*>(data); }
ErlangenData& erlangen(void* data) { return *static_cast<ErlangenData*>(data); }

template <class Work>
int guarded(const Work& work) noexcept {
  try {
    work();
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "librabbitct_lepus: %s\n", error.what());
    return 0;
  }
}

}  // namespace
}  // namespace lepus::rabbitct

#define LEPUS_MODULE_FUNCTION extern "C" __attribute__((visibility("default"))) int

using namespace lepus::rabbitct;

LEPUS_MODULE_FUNCTION RCTPrepareAlgorithm(void* data) {
  return guarded([&] {
    current.reset();
    Sweep& sweep = begun(data);
    sweep.expect(sweep.runner() == Runner::original ? original(data).views : erlangen(data).views);
  });
}

LEPUS_MODULE_FUNCTION RCTLoadAlgorithm(void* data) {
  return guarded([&] {
    Sweep& sweep = begun(data);
    if (sweep.runner() == Runner::original) sweep.provide(original(data));
  });
}

LEPUS_MODULE_FUNCTION RCTAlgorithmBackprojection(void* data) {
  return guarded([&] {
    Sweep& sweep = running();
    if (sweep.runner() == Runner::original)
      sweep.add(original(data));
    else
      sweep.add(erlangen(data));
  });
}

LEPUS_MODULE_FUNCTION RCTFinishAlgorithm(void* data) {
  return guarded([&] {
    Sweep& sweep = running();
    sweep.finish(sweep.runner() == Runner::original ? original(data).volume : erlangen(data).volume);
  });
}

LEPUS_MODULE_FUNCTION RCTUnloadAlgorithm(void* data) {
  return guarded([&] {
    if (current && data != nullptr && current->runner() == Runner::original) current->take_back(original(data));
    current.reset();
  });
}
