// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/row_filter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "device/cuda/cuda_check.h"
#include "device/cuda/device_memory.h"
#include "device/cuda/row_filter_cufft.h"
#include "device/cuda/row_filter_lengths.h"
#include "core/format.h"
#include <lepus/error.h>
#include <lepus/math.h>

namespace lepus::cuda {
namespace {

// What cuFFT's rows may take: about half of the second-level cache, so that they stay there between the steps.
constexpr std::int64_t cufft_bytes = std::int64_t{24} << 20;

template <class T>
DeviceBuffer<T> uploaded(const T* values, std::int64_t count) {
  return on_device(values, count, "copy the row filter's tables to the device");
}
template <class T>
DeviceBuffer<T> uploaded(std::span<const T> values) {
  return uploaded(values.data(), static_cast<std::int64_t>(values.size()));
}

// The shortest fused transform of at least that length that the current device has the shared memory for, or null.
const FusedLength* fused_of(std::int64_t shortest) {
  int device = 0, shared = 0;
  check(cudaGetDevice(&device), "ask for the device");
  check(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "ask for shared memory");
  const FusedLength* found = nullptr;
  const auto look = [&](std::span<const FusedLength> lengths) {
    for (const FusedLength& fused : lengths)
      if (!found && fused.length >= shortest && fused.shared_bytes <= shared) found = &fused;
  };
  look(short_lengths);
  look(long_lengths);
  return found;
}

// exp(-2 pi i j / n) and its fourth power, for j < count.
DeviceBuffer<Complex> roots(std::int64_t n, std::int64_t count) {
  std::vector<Complex> table;
  for (const int power : {1, 4})
    for (std::int64_t j = 0; j < count; ++j) {
      const double angle = -2 * pi * static_cast<double>(power * j % n) / static_cast<double>(n);
      table.push_back({static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))});
    }
  return uploaded(std::span<const Complex>(table));
}

std::vector<DeadRun> runs_of(std::span<const std::int64_t> dead, std::int64_t columns) {
  std::vector<DeadRun> runs;
  for (const std::int64_t pixel : dead) {
    const auto row = static_cast<std::int32_t>(pixel / columns), column = static_cast<std::int32_t>(pixel % columns);
    if (!runs.empty() && runs.back().row == row && runs.back().end == column)
      ++runs.back().end;
    else
      runs.push_back({row, column, column + 1});
  }
  std::erase_if(runs, [&](const DeadRun& run) { return run.end - run.begin == columns; });  // nothing to bridge from
  return runs;
}

[[noreturn]] void refuse_rows(std::string what, std::string why) {
  throw Error(ErrorKind::internal,
              {.what = std::move(what), .where = "row filter on the device", .why = std::move(why), .hint = {}});
}

}  // namespace

struct RowFilter::State {
  RowJob job{};
  std::int64_t length = 0;
  const FusedLength* fused = nullptr;  // null: cuFFT
  DeviceBuffer<float> dark, log_i0, shares, response, edge, lines;
  DeviceBuffer<DeadRun> dead;
  DeviceBuffer<ViewWeight> views;
  DeviceBuffer<PartnerArc> partners;
  DeviceBuffer<Complex> roots1, roots2;
  DeviceBuffer<BadPixels> bad;
  std::int64_t rows_at_once = 0;
  std::optional<RowTransforms> transforms;

  void take_normalisation(const RowFilterSetup& setup);
  void take_response(const RowFilterSetup& setup);
  void filter_by_cufft(cudaStream_t stream, const RowJob& work);
};

void RowFilter::State::take_normalisation(const RowFilterSetup& setup) {
  const std::int64_t pixels = setup.columns * setup.rows;
  const RowNormalisation& n = *setup.normalisation;
  job.normalise = true;
  job.log_i0_everywhere = n.log_i0_everywhere;
  job.clip = n.clip;
  if (n.dark) dark = uploaded(n.dark, pixels);
  job.dark = dark.data();
  const std::vector<DeadRun> runs = runs_of(n.dead, setup.columns);
  if (n.log_i0 || !runs.empty()) {
    std::vector<float> marked(static_cast<std::size_t>(pixels), n.log_i0_everywhere);
    if (n.log_i0) std::copy(n.log_i0, n.log_i0 + pixels, marked.begin());
    for (const DeadRun& run : runs)
      std::fill_n(marked.begin() + static_cast<std::ptrdiff_t>(run.row * setup.columns + run.begin),
                  run.end - run.begin, std::numeric_limits<float>::quiet_NaN());
    log_i0 = uploaded(std::span<const float>(marked));
  }
  job.log_i0 = log_i0.data();
  dead = uploaded(std::span<const DeadRun>(runs));
  job.dead = dead.data();
  job.dead_runs = static_cast<int>(runs.size());
}

void RowFilter::State::take_response(const RowFilterSetup& setup) {
  length = 2 * (static_cast<std::int64_t>(setup.response.size()) - 1);
  job.extension = static_cast<int>(setup.edge.size());
  if (length < 2 * (setup.wide + job.extension))
    refuse_rows(format("a transform of {} samples", length),
                format("rows of {} columns continued by {} need twice as many", setup.wide, job.extension));
  edge = uploaded(setup.edge);
  job.edge = edge.data();
  fused = fused_of(length);
  if (fused && fused->length != length) fused = nullptr;
  if (fused) {
    std::vector<float> ordered(static_cast<std::size_t>(length));
    for (int i = 0; i < fused->length; ++i) {
      const int frequency = fused->frequency_at(i);
      ordered[static_cast<std::size_t>(i % 16 * (fused->length / 16) + i / 16)] =
          setup.response[static_cast<std::size_t>(std::min(frequency, fused->length - frequency))];
    }
    response = uploaded(std::span<const float>(ordered));
    roots1 = roots(length, length / fused->first);
    roots2 = roots(length / fused->first, 16);
  } else {
    response = uploaded(setup.response);
    rows_at_once = std::clamp<std::int64_t>(cufft_bytes / (4 * length), 1, setup.rows);
    lines = DeviceBuffer<float>(rows_at_once * (length + 2));
    fill_device(lines.data(), 0, static_cast<std::size_t>(lines.bytes()), "clear rows");
    transforms.emplace(length, rows_at_once);
  }
  job.response = response.data();
  job.roots1 = roots1.data();
  job.roots2 = roots2.data();
}

std::int64_t RowFilter::transform_length(std::int64_t shortest) {
  if (const FusedLength* fused = fused_of(shortest)) return fused->length;
  constexpr std::int64_t unit = 1024;
  for (std::int64_t length = (shortest + unit - 1) / unit * unit;; length += unit) {
    std::int64_t rest = length;
    for (const std::int64_t factor : {2, 3, 5, 7})
      while (rest % factor == 0) rest /= factor;
    if (rest == 1) return length;
  }
}

RowFilter::RowFilter(const RowFilterSetup& setup) : state_(std::make_unique<State>()) {
  State& s = *state_;
  if (setup.columns < 1 || setup.rows < 1 || setup.columns_before < 0 ||
      setup.wide < setup.columns_before + setup.columns || setup.views.empty() || setup.response.size() < 2)
    refuse_rows("sizes that do not fit", format("{} columns, {} before, {} in all, {} views", setup.columns,
                                                setup.columns_before, setup.wide, setup.views.size()));
  s.job.type = setup.type;
  s.job.columns = static_cast<int>(setup.columns);
  s.job.rows = static_cast<int>(setup.rows);
  s.job.before = static_cast<int>(setup.columns_before);
  s.job.wide = static_cast<int>(setup.wide);
  s.job.shape = setup.shape;
  s.job.saturation = static_cast<float>(setup.saturation_level);
  s.views = uploaded(setup.views);
  s.job.views = s.views.data();
  s.partners = uploaded(setup.partners);
  s.job.partners = s.partners.data();
  s.bad = DeviceBuffer<BadPixels>(s.views.size());
  fill_device(s.bad.data(), 0, static_cast<std::size_t>(s.bad.bytes()), "clear counters");
  s.job.bad = s.bad.data();
  if (std::any_of(setup.views.begin(), setup.views.end(), [](const ViewWeight& v) { return v.varies && v.upright; })) {
    s.shares = DeviceBuffer<float>(s.views.size() * setup.columns);
    launch_shares(s.job, s.views.size(), s.shares.data(), nullptr);
    s.job.shares = s.shares.data();
  }
  if (setup.normalisation) s.take_normalisation(setup);
  s.take_response(setup);
  check(cudaStreamSynchronize(nullptr),
        "prepare the row filter");  // streams that work with it do not wait for that one
}

RowFilter::~RowFilter() = default;
RowFilter::RowFilter(RowFilter&&) noexcept = default;
RowFilter& RowFilter::operator=(RowFilter&&) noexcept = default;

bool RowFilter::uses_cufft() const { return !state_->fused; }

std::int64_t RowFilter::device_bytes() const {
  const State& s = *state_;
  const std::int64_t work = s.transforms ? 2 * s.lines.bytes() : 0;  // cuFFT's own, about
  return s.dark.bytes() + s.log_i0.bytes() + s.shares.bytes() + s.response.bytes() + s.edge.bytes() + s.lines.bytes() +
         s.dead.bytes() + s.views.bytes() + s.partners.bytes() + s.roots1.bytes() + s.roots2.bytes() + s.bad.bytes() +
         work;
}

void RowFilter::State::filter_by_cufft(cudaStream_t stream, const RowJob& work) {
  for (std::int64_t view = 0; view < work.batch.views; ++view)
    for (std::int64_t row = work.batch.row0; row < work.batch.row1; row += rows_at_once) {
      const std::int64_t end = std::min(work.batch.row1, row + rows_at_once);
      launch_prepare(work, view, row, end, length, lines.data(), stream);
      transforms->there(stream, lines.data());
      launch_respond(work.response, length, end - row, reinterpret_cast<Complex*>(lines.data()), stream);
      transforms->back(stream, lines.data());
      launch_keep(work, view, row, end, length, lines.data(), stream);
    }
}

void RowFilter::filter(cudaStream_t stream, const RowBatch& batch) {
  State& s = *state_;
  const std::int64_t last_view = batch.first_view + (batch.views - 1) * batch.view_step;
  if (batch.views < 1 || batch.row0 >= batch.row1) return;
  if (batch.row0 < 0 || batch.row1 > s.job.rows || batch.row0 % 2 != 0 ||
      (batch.row1 % 2 != 0 && batch.row1 != s.job.rows))
    refuse_rows(format("rows {} to {} of {}", batch.row0, batch.row1, s.job.rows), "pairs of rows must stay together");
  if (std::min(batch.first_view, last_view) < 0 || std::max(batch.first_view, last_view) >= s.views.size())
    refuse_rows(format("views {} to {} of {}", batch.first_view, last_view, s.views.size()), {});
  RowJob work = s.job;
  work.batch = batch;
  if (work.type == PixelType::f32 || work.type == PixelType::f64) launch_repair(work, stream);
  if (s.fused)
    s.fused->launch(work, stream);
  else
    s.filter_by_cufft(stream, work);
}

void RowFilter::bad_pixels(cudaStream_t stream, std::int64_t first, std::span<BadPixels> bad) const {
  check(cudaMemcpyAsync(bad.data(), state_->bad.data() + first, bad.size_bytes(), cudaMemcpyDeviceToHost, stream),
        "copy the counts of bad pixels");
  check(cudaStreamSynchronize(stream), "wait for the row filter");
}

}  // namespace lepus::cuda
