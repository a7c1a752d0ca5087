// SPDX-License-Identifier: Apache-2.0
#include "live/live_volume.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "core/format.h"
#include "device/host/row_filter.h"
#include "run/memory_io.h"

namespace lepus {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::int64_t maximum_views_at_once = 32;  // more save nothing, and the first would wait for the last

double seconds_from(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Weights, cylinder and warnings are those of any reconstruction; its plan is not used, the volume is held whole.
std::unique_ptr<Fdk> fdk_for(const Scan& scan, const Devices& host, Context& context) {
  FdkSetup setup;
  setup.geometry = scan.geometry;
  setup.grid = scan.grid;
  setup.filter = scan.filter;
  setup.interpolation = scan.interpolation;
  setup.field_of_view_mask = scan.field_of_view_mask;
  setup.memory_bytes = std::numeric_limits<std::int64_t>::max();
  return std::make_unique<Fdk>(setup, host, context.threads);
}

RowBand rows_for_volume(const ScanGeometry& wide, const Scan& scan, double cylinder_mm) {
  PlanRequest request;
  request.geometry = &wide;
  request.grid = scan.grid;
  request.cylinder_mm = cylinder_mm;
  request.interpolation = scan.interpolation;
  const BandTable bands(request);
  RowBand all;
  for (std::int64_t view = 0; view < wide.views(); ++view) all = joined_rows(all, bands.band(view, {0, scan.grid.nz}));
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

// A live volume is held by one device.
Devices one_device(const Compute& compute, ThreadPool& threads) {
  Devices devices = open_devices(compute, threads);
  if (devices.size() > 1)
    throw Error(ErrorKind::usage, {.what = "a live volume is held by one GPU",
                                   .where = "option --device",
                                   .why = format("found \"{}\"", compute.devices),
                                   .hint = "give one number"});
  return devices;
}

// Views are filtered on the host, whatever sums them.
Devices host_of(const Devices& devices, ThreadPool& threads) {
  const DeviceInfo& sums = devices.front()->info();
  return open_devices(compute_on(sums.host ? sums.kind : "cpu"), threads);
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

LiveVolume::LiveVolume(const Scan& scan, const std::filesystem::path& one_frame, const Compute& compute,
                       Context& context)
    : scan_(scan),
      corrections_(corrections_of_views(scan)),
      one_view_(scan_of_one_view(scan, corrections_, one_frame)),
      pre_(pre_pass(one_view_, context)),
      devices_(one_device(compute, context.threads)),
      host_(host_of(devices_, context.threads)),
      fdk_(fdk_for(scan, host_, context)),
      filtered_(filtered_rows(scan.geometry)),
      wide_(padded(filtered_.geometry, fdk_->weights().padding())),
      rows_(rows_for_volume(wide_, scan, fdk_->cylinder_mm())) {
  limit_ = host_memory_limit(compute);
  choose_block();
  make_sum(context);
}

// Frames that wait, their filtered rows, twice on the way to a device: within an eighth of the memory.
void LiveVolume::choose_block() {
  const std::int64_t view = (pre_.frames->columns() * pre_.frames->rows() * 2 + wide_.columns * rows_.size() * 2);
  block_ = std::clamp<std::int64_t>(limit_ / 8 / (view * float_bytes), 1, maximum_views_at_once);
  block_ = std::min(block_, wide_.views());
}

std::int64_t LiveVolume::slices_at_once(const VolumeGrid& grid) {
  return std::clamp<std::int64_t>((std::int64_t{1} << 21) / (grid.nx * grid.ny), 1, grid.nz);
}

void LiveVolume::make_sum(Context& context) {
  AccumulatorSetup setup;
  setup.detector = wide_;
  setup.detector.matrices.clear();
  setup.grid = scan_.grid;
  setup.cylinder_mm = fdk_->cylinder_mm();
  setup.interpolation = scan_.interpolation;
  setup.rows = rows_;
  setup.block = block_;
  setup.largest_value = largest_filtered_value(fdk_->weights(), filtered_.geometry);
  setup.piece_by_piece = true;
  const std::int64_t volume = scan_.grid.voxels() * float_bytes;
  const RampFilter ramp(wide_.columns, scan_.filter);
  const std::int64_t frames =
      block_ * pre_.frames->columns() * pre_.frames->rows() * 2 * float_bytes +
      context.threads.size() * float_bytes * (host::rows_at_once * wide_.columns * 3 + ramp.scratch_floats());
  const VolumeGrid& g = scan_.grid;
  const std::int64_t shown =
      (g.nx * g.ny + g.nx * g.nz + g.ny * g.nz) * 3 * float_bytes;  // slices on the way to a picture
  const std::int64_t written = slices_at_once(g) * g.nx * g.ny * float_bytes;
  constexpr std::int64_t slack = std::int64_t{12} << 20;  // stacks, kernels' scratch, libraries' buffers
  const std::int64_t others = resident_bytes() + slack + frames + std::max(shown, written);
  Device& device = *devices_.front();
  const ViewAccumulator::Bytes needed = ViewAccumulator::bytes(setup, device);
  const bool host = device.info().host;
  if (const std::int64_t allowed = device.memory_limit_bytes(); !host && needed.device > allowed)
    no_room(scan_.grid, volume, needed.device - volume, allowed, "of the GPU", "--device-memory");
  if (others + needed.host > limit_)
    no_room(scan_.grid, host ? volume : 0, others + needed.host - (host ? volume : 0), limit_, "(--memory)",
            "--memory");
  sum_ = std::make_unique<ViewAccumulator>(setup, device, context.threads);
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
  if (chain.needs_all_views())
    throw Error(ErrorKind::internal, {.what = "a correction that compares views was given one alone",
                                      .where = "live",
                                      .why = "corrections_of_views() leaves these out",
                                      .hint = "report this"});
  std::ranges::copy(chain.corrected({0, rows}, context.threads), view.counts.data());
}

void LiveVolume::filter(std::vector<LiveView>& views, Context& context) {
  RowFilterSetup setup;
  setup.wide = &wide_;
  setup.weights = &fdk_->weights();
  setup.ramp = scan_.filter;
  setup.columns = filtered_.geometry.columns;
  setup.columns_before = fdk_->weights().padding().left;
  setup.recorded_columns = pre_.frames->columns();
  if (pre_.only_dead_pixels) {
    setup.normalisation = pre_.normalisation.get();
    setup.dead_pixels = &*pre_.only_dead_pixels;
  }
  setup.resampler = filtered_.resampler.get();
  const host::BlockFilter row_filter(setup);
  std::vector<Buffer<float>> scratch;
  scratch.reserve(static_cast<std::size_t>(context.threads.size()));
  for (int i = 0; i < context.threads.size(); ++i) scratch.emplace_back(row_filter.scratch_floats());
  const std::int64_t pieces = (rows_.size() + host::rows_at_once - 1) / host::rows_at_once;
  const auto count = static_cast<std::int64_t>(views.size());
  context.threads.parallel_for(0, count * pieces, 1, [&](std::int64_t begin, std::int64_t end, int worker) {
    for (std::int64_t i = begin; i < end; ++i) {
      LiveView& view = views[static_cast<std::size_t>(i / pieces)];
      const std::int64_t first = rows_.first + i % pieces * host::rows_at_once;
      RowBlock block;
      block.request.view = view.view;
      block.request.rows = {first, std::min(first + host::rows_at_once, rows_.last)};
      block.request.recorded =
          setup.resampler ? setup.resampler->recorded_rows(view.view, block.request.rows) : block.request.rows;
      block.pixels =
          reinterpret_cast<std::byte*>(view.counts.data() + block.request.recorded.first * setup.recorded_columns);
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
  sum_->sum(matrices);
  add_s_ += seconds_from(start);
}

void LiveVolume::read(const VoxelBox& box, float* x_fastest, bool beside) const {
  sum_->download(box, x_fastest, beside);
}

}  // namespace lepus
