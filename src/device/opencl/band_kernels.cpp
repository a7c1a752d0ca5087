// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/band_kernels.h"

#include "device/opencl/ring_methods.h"

namespace lepus::opencl {
namespace {

// As kernels/band_stages.cl has it.
struct BandArgument {
  BandArgument(const SinogramBand& band, const BandStaging& staging, PixelType pixels, float lowest)
      : columns(band.columns),
        views(band.views),
        rows(band.rows.size()),
        first_row(band.rows.first),
        type(static_cast<cl_int>(pixels == PixelType::f64 ? PixelType::f32 : pixels)),
        to(static_cast<cl_int>(staging.to)),
        log_i0_everywhere(staging.log_i0_everywhere),
        clip(staging.clip),
        lowest_of_lines(lowest) {}
  cl_long columns, views, rows, first_row;
  cl_int type, to;
  cl_float log_i0_everywhere, clip, lowest_of_lines;
};

// As kernels/map_views.cl has it.
struct MapArgument {
  cl_double row_from, row_to, middle_column;
  cl_long columns, rows, views, first_row, made_columns, made_row0, made_rows;
  cl_int zero_beyond;
};

class OpenclBandKernels final : public BandKernels {
public:
  explicit OpenclBandKernels(const Context& context) : context_(context) {}

  bool has(BandOperation operation) const override {
    using enum BandOperation;
    return context_.device().doubles &&
           (operation == stage || operation == hot_pixels || operation == zingers || operation == rings);
  }

  void to_stage(PixelType type, const void* recorded, const SinogramBand& band, const BandStaging& staging,
                Queue& queue) override {
    OpenclQueue& q = opencl_queue(queue);
    const std::int64_t views = staging.views > 0 ? staging.views : band.views;
    KernelCall(q.context(), q.context().program("band_stages", ""), "to_stage")
        .value(BandArgument(band, staging, type, 0))
        .memory(recorded)
        .memory(band.data + staging.first_view * band.columns)
        .memory(staging.dark)
        .memory(staging.log_i0)
        .run(q.get(), along_columns(band.columns, band.rows.size(), views), columns_group);
  }
  void logarithm(const SinogramBand& band, const BandStaging& staging, float lowest_of_lines, Queue& queue) override {
    OpenclQueue& q = opencl_queue(queue);
    KernelCall(q.context(), q.context().program("band_stages", ""), "take_logarithm")
        .value(BandArgument(band, staging, PixelType::f32, lowest_of_lines))
        .memory(band.data)
        .memory(staging.log_i0)
        .run(q.get(), along_columns(band.columns, band.rows.size(), band.views), columns_group);
  }
  void hot_pixels(const pixels::HotRules& rules, int iterations, const Planes& sinograms, std::int64_t* counts,
                  Queue& queue) override {
    const ScratchScope scope(queue);
    auto* const counted = queue.scratch<std::int64_t>(sinograms.count);
    replace_hot_pixels(sinograms, rules, iterations, counted, queue);
    queue.device().copy(counts, counted, sinograms.count * static_cast<std::int64_t>(sizeof(std::int64_t)), queue);
  }
  void zingers(const pixels::ZingerRules& rules, const Planes& sinograms, std::int64_t* counts, Queue& queue) override {
    const ScratchScope scope(queue);
    auto* const counted = queue.scratch<std::int64_t>(sinograms.count);
    replace_zingers(sinograms, rules, counted, queue);
    queue.device().copy(counts, counted, sinograms.count * static_cast<std::int64_t>(sizeof(std::int64_t)), queue);
  }
  void remove_rings(const Planes& sinograms, const RingOptions& options, Queue& queue) override {
    check_rings(options, sinograms.width, sinograms.height);
    switch (options.method) {
      case RingMethod::trend:
        return remove_rings_by_trend(sinograms, options, queue);
      case RingMethod::wavelet_fourier:
        return remove_rings_by_wavelets(sinograms, options, queue);
      case RingMethod::sorting:
      case RingMethod::combined:
        return remove_rings_by_sorting(sinograms, options, queue);
    }
  }

private:
  const Context& context_;
};

}  // namespace

void take_views(const SinogramBand& band, RowBand rows, const std::int64_t* views, std::int64_t count, float* out,
                Queue& queue) {
  OpenclQueue& q = opencl_queue(queue);
  KernelCall(q.context(), q.context().program("band_stages", ""), "take_views")
      .value(BandArgument(band, {}, PixelType::f32, 0))
      .memory(band.data)
      .memory(views)
      .memory(out)
      .value(static_cast<cl_long>(rows.first - band.rows.first))
      .value(static_cast<cl_long>(rows.size()))
      .run(q.get(), along_columns(band.columns, rows.size(), count), columns_group);
}

void map_views(const SinogramBand& band, const RowMap& map, RowBand rows, std::int64_t columns,
               const std::int64_t* views, std::int64_t count, float* out, Queue& queue) {
  OpenclQueue& q = opencl_queue(queue);
  const MapArgument argument{.row_from = map.row_from,
                             .row_to = map.row_to,
                             .middle_column = map.middle_column,
                             .columns = map.columns,
                             .rows = map.rows,
                             .views = band.views,
                             .first_row = band.rows.first,
                             .made_columns = columns,
                             .made_row0 = rows.first,
                             .made_rows = rows.size(),
                             .zero_beyond = map.zero_beyond};
  KernelCall(q.context(), q.context().program("map_views", ""), "map_views")
      .value(argument)
      .memory(band.data)
      .memory(views)
      .memory(map.stretch)
      .memory(map.slope)
      .memory(map.column_at)
      .memory(out)
      .run(q.get(), along_columns(columns, rows.size(), count), columns_group);
}

std::unique_ptr<BandKernels> make_band_kernels(const Context& context) {
  return std::make_unique<OpenclBandKernels>(context);
}

}  // namespace lepus::opencl
