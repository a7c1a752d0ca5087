// SPDX-License-Identifier: Apache-2.0
#include "live/live_volume.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/format.h"
#include "run/memory_io.h"

namespace lepus {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::int64_t most_views_at_once = 32;  // more save nothing, and the first would wait for the last
constexpr auto float_bytes = static_cast<std::int64_t>(sizeof(float));

double seconds_from(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::string backend_for(const ReconstructOptions& options) {
  if (options.backend != "auto") return options.backend;
  return why_no_device().empty() ? "cuda" : "cpu";
}

// Weights, cylinder and warnings are those of any reconstruction; its plan is not used, the volume is held whole.
std::unique_ptr<Fdk> fdk_for(const Scan& scan, const ReconstructOptions& options, Context& context) {
  FdkSetup setup;
  setup.geometry = scan.geometry;
  setup.grid = scan.grid;
  setup.filter = scan.filter;
  setup.interpolation = scan.interpolation;
  setup.field_of_view_mask = scan.field_of_view_mask;
  setup.backend = options.backend == "reference" ? "reference" : "cpu";
  setup.memory_bytes = std::numeric_limits<std::int64_t>::max();
  return std::make_unique<Fdk>(setup, context.threads);
}

RowBand rows_for_volume(const ScanGeometry& wide, const Scan& scan, double cylinder_mm) {
  PlanRequest request;
  request.geometry = &wide;
  request.grid = scan.grid;
  request.cylinder_mm = cylinder_mm;
  request.interpolation = scan.interpolation;
  const BandTable bands(request);
  RowBand all = bands.band(0, {0, scan.grid.nz});
  for (std::int64_t view = 1; view < wide.views(); ++view) {
    const RowBand band = bands.band(view, {0, scan.grid.nz});
    all = {std::min(all.first, band.first), std::max(all.last, band.last)};
  }
  return all;
}

// No filtered value exceeds half the largest weight times the largest line integral, and nothing measures exp(-64).
float largest_filtered_value(const FdkWeights& weights, const ScanGeometry& flat) {
  const double u = 0.5 * static_cast<double>(flat.columns - 1), v = 0.5 * static_cast<double>(flat.rows - 1);
  double largest = 0;
  for (std::int64_t view = 0; view < flat.views(); ++view)
    if (const double share = weights.redundancy(view, u, v); share > 0)
      largest = std::max(largest, std::abs(weights.at(view, u, v)) / share);
  return static_cast<float>(0.5 * 64 * largest);
}

[[noreturn]] void no_room(const VolumeGrid& grid, std::int64_t volume, std::int64_t others, std::int64_t limit,
                          const char* whose, const char* option) {
  const double room = static_cast<double>(limit - others);
  const double factor = room > 0 ? std::ceil(100 * std::cbrt(static_cast<double>(volume) / room)) / 100 : 0;
  throw Error(
      ErrorKind::memory,
      {.what = "the volume does not fit into the memory limit",
       .where = {},
       .why = format("a live volume is held whole: {} x {} x {} voxels take {}, beside {} for everything else; "
                     "the limit {} is {}",
                     grid.nx, grid.ny, grid.nz, format_bytes(volume), format_bytes(others), whose, format_bytes(limit)),
       .hint = factor > 0 ? format("voxels {:.2f} times as large would fit, or fewer slices; or allow more with "
                                   "{}; lepus reconstruct needs less",
                                   factor, option)
                          : format("allow more with {}; lepus reconstruct needs less", option)});
}

}  // namespace

std::string LiveFrames::name(std::int64_t view) const {
  return files_[static_cast<std::size_t>(view)].files.front().string();
}

void LiveFrames::read_native(std::int64_t view, std::int64_t row0, std::int64_t row1, void* out) const {
  auto source = open_frames(files_[static_cast<std::size_t>(view)]);
  if (source->frames() != 1 || source->columns() != columns() || source->rows() != scan_.recorded.rows ||
      source->pixel_type() != pixel_type())
    throw Error(ErrorKind::input,
                {.what = "the frame differs from the first one",
                 .where = name(view),
                 .why = format("{} frames of {} x {} pixels, {}; the first has {} x {}, {}", source->frames(),
                               source->columns(), source->rows(), name_of(source->pixel_type()), columns(),
                               scan_.recorded.rows, name_of(pixel_type())),
                 .hint = "all frames must come from the same detector in the same mode"});
  FrameSelection rows = scan_.selection;
  rows.frames = {0};
  select_frames(std::move(source), rows)->read_native(0, row0, row1, out);
}

LiveVolume::LiveVolume(const Scan& scan, const std::filesystem::path& one_frame, const ReconstructOptions& options,
                       Context& context)
    : scan_(scan),
      corrections_(corrections_of_views(scan)),
      one_view_(scan_of_one_view(scan, corrections_, one_frame)),
      pre_(pre_pass(one_view_, context)),
      fdk_(fdk_for(scan, options, context)),
      filtered_(filtered_rows(scan.geometry)),
      wide_(padded(filtered_.geometry, fdk_->weights().padding())),
      ramp_(wide_.columns, scan.filter),
      rows_(rows_for_volume(wide_, scan, fdk_->cylinder_mm())) {
  limit_ = options.memory_bytes > 0 ? options.memory_bytes : available_memory_bytes() * 6 / 10;
  choose_block();
  make_sum(options, context);
}

// Frames that wait, their filtered rows, twice on the way to a device: within an eighth of the memory.
void LiveVolume::choose_block() {
  const std::int64_t view = (pre_.frames->columns() * pre_.frames->rows() * 2 + wide_.columns * rows_.size() * 2);
  block_ = std::clamp<std::int64_t>(limit_ / 8 / (view * float_bytes), 1, most_views_at_once);
  block_ = std::min(block_, wide_.views());
}

std::int64_t LiveVolume::slices_at_once(const VolumeGrid& grid) {
  return std::clamp<std::int64_t>((std::int64_t{1} << 21) / (grid.nx * grid.ny), 1, grid.nz);
}

void LiveVolume::make_sum(const ReconstructOptions& options, Context& context) {
  ViewSumSetup setup;
  setup.detector = wide_;
  setup.detector.matrices.resize(1);
  setup.grid = scan_.grid;
  setup.interpolation = scan_.interpolation;
  setup.rows = rows_;
  setup.block = block_;
  setup.precision = options.precision;
  setup.largest_value = largest_filtered_value(fdk_->weights(), filtered_.geometry);
  const std::int64_t volume = scan_.grid.voxels() * float_bytes;
  const std::int64_t frames =
      block_ * pre_.frames->columns() * pre_.frames->rows() * 2 * float_bytes +
      context.threads.size() * float_bytes * (RowFilter::rows_at_once * wide_.columns * 3 + ramp_.scratch_floats());
  const VolumeGrid& g = scan_.grid;
  const std::int64_t shown =
      (g.nx * g.ny + g.nx * g.nz + g.ny * g.nz) * 3 * float_bytes;  // slices on the way to a picture
  const std::int64_t written = slices_at_once(g) * g.nx * g.ny * float_bytes;
  constexpr std::int64_t slack = std::int64_t{12} << 20;  // stacks, kernels' scratch, libraries' buffers
  const std::int64_t others = resident_bytes() + slack + frames + std::max(shown, written);
  const std::string backend = backend_for(options);
  if (backend != "cuda") {
    const std::int64_t needed = host_sum_bytes(setup);
    if (others + needed > limit_)
      no_room(scan_.grid, volume, others + needed - volume, limit_, "(--memory)", "--memory");
    sum_ = make_host_sum(make_backend(backend), setup);
    return;
  }
  if (options.device.find_first_not_of("0123456789") != std::string::npos || options.device.size() > 3 ||
      options.device.empty())
    throw Error(ErrorKind::usage, {.what = "a live volume is held by one GPU",
                                   .where = "option --device",
                                   .why = format("found \"{}\"", options.device),
                                   .hint = "give one number"});
  setup.device = std::stoi(options.device);
  const std::int64_t free = free_device_bytes(setup.device) * 9 / 10;
  const std::int64_t allowed = options.device_memory_bytes > 0 ? options.device_memory_bytes : free;
  const DeviceSumBytes needed = device_sum_bytes(setup);
  if (needed.device > allowed)
    no_room(scan_.grid, volume, needed.device - volume, allowed, "of the GPU", "--device-memory");
  if (others + needed.host > limit_) no_room(scan_.grid, 0, others + needed.host, limit_, "(--memory)", "--memory");
  sum_ = make_device_sum(setup);
}

// A scan of this one view passes the chain, whose first frame is the view's.
void LiveVolume::correct(LiveView& view, Context& context) {
  if (pre_.only_dead_pixels) return;
  one_view_.geometry.matrices = {scan_.geometry.matrices[static_cast<std::size_t>(view.view)]};
  one_view_.corrections = chain_of_view(corrections_, view.view);
  const std::int64_t rows = pre_.frames->rows(), columns = pre_.frames->columns();
  Progress silent;  // what a correction has to say of a view it would say of every one
  Context quiet{context.threads, context.cancel, silent};
  ScanGeometry picture;
  picture.columns = columns;
  picture.rows = rows;
  picture.matrices.resize(1);
  const MemoryFrames frame(picture, view.counts.data());
  CorrectionChain chain(one_view_, frame, pre_.normalisation.get(), quiet);
  const ChainBand corrected = chain.bring({0, rows}, nullptr, *host_engine(context.threads));
  std::copy_n(corrected.wanted({0, rows}).data, rows * columns, view.counts.data());
}

void LiveVolume::filter(const std::vector<LiveView>& views, Context& context) {
  ScanGeometry picture;
  picture.columns = pre_.frames->columns();
  picture.rows = pre_.frames->rows();
  picture.matrices.resize(1);
  const MemoryFrames shape(picture, views.front().counts.data());  // floats of the frames' size
  RowFilterParts parts;
  parts.frames = &shape;
  if (pre_.only_dead_pixels) {
    parts.normalisation = pre_.normalisation.get();
    parts.dead_pixels = &*pre_.only_dead_pixels;
  }
  parts.resampler = filtered_.resampler.get();
  parts.weights = &fdk_->weights();
  parts.ramp = &ramp_;
  parts.columns = filtered_.geometry.columns;
  parts.columns_before = fdk_->weights().padding().left;
  const RowFilter row_filter(parts);
  std::vector<Buffer<float>> scratch;
  scratch.reserve(static_cast<std::size_t>(context.threads.size()));
  for (int i = 0; i < context.threads.size(); ++i) scratch.emplace_back(row_filter.scratch_floats());
  const std::int64_t pieces = (rows_.size() + RowFilter::rows_at_once - 1) / RowFilter::rows_at_once;
  const auto count = static_cast<std::int64_t>(views.size());
  context.threads.parallel_for(0, count * pieces, 1, [&](std::int64_t begin, std::int64_t end, int worker) {
    for (std::int64_t i = begin; i < end; ++i) {
      const LiveView& view = views[static_cast<std::size_t>(i / pieces)];
      const std::int64_t first = rows_.first + i % pieces * RowFilter::rows_at_once;
      RowBlock block;
      block.request.view = view.view;
      block.request.rows = {first, std::min(first + RowFilter::rows_at_once, rows_.last)};
      block.request.recorded = row_filter.recorded_rows(view.view, block.request.rows);
      const RowBand recorded = block.request.recorded;
      block.pixels = Buffer<unsigned char>(recorded.size() * picture.columns * float_bytes);
      std::memcpy(block.pixels.data(), view.counts.data() + recorded.first * picture.columns,
                  static_cast<std::size_t>(block.pixels.bytes()));
      const float* filtered = row_filter.apply(block, scratch[static_cast<std::size_t>(worker)].data());
      sum_->put(i / pieces, block.request.rows, filtered);
    }
  });
}

void LiveVolume::add(std::vector<LiveView>& views, Context& context) {
  if (views.empty()) return;
  auto start = Clock::now();
  for (LiveView& view : views) correct(view, context);
  filter(views, context);
  filter_s_ += seconds_from(start);
  start = Clock::now();
  std::vector<Matrix34> matrices;
  matrices.reserve(views.size());
  for (const LiveView& view : views) matrices.push_back(wide_.matrices[static_cast<std::size_t>(view.view)]);
  sum_->add(matrices, context.threads);
  add_s_ += seconds_from(start);
}

void LiveVolume::read(const VoxelBox& box, float* x_fastest, ThreadPool* threads) const {
  sum_->read(box, x_fastest, threads);
  const VolumeGrid& grid = scan_.grid;
  const std::int64_t width = box.x1 - box.x0, area = width * (box.y1 - box.y0);
  const double radius = fdk_->cylinder_mm();
  for (std::int64_t y = box.y0; y < box.y1; ++y)
    for (std::int64_t x = box.x0; x < box.x1; ++x) {
      const Vec3 p = grid.centre(static_cast<double>(x), static_cast<double>(y), 0);
      if (p.x * p.x + p.y * p.y <= radius * radius) continue;
      float* column = x_fastest + (y - box.y0) * width + (x - box.x0);
      for (std::int64_t z = box.z0; z < box.z1; ++z) column[(z - box.z0) * area] = 0;
    }
}

}  // namespace lepus
