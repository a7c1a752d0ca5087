// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/backproject.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/format.h"
#include "device/opencl/program.h"
#include "geometry/camera.h"
#include <lepus/error.h>

namespace lepus::opencl {
namespace {

// Views of one launch. Groups start one after another and so stand at different views: of 128 views the rows that a
// layer of groups needs still fit a GPU's cache.
constexpr std::int64_t views_per_launch = 128;

// As kernels/backproject.cl has them.
struct ViewOnDevice {
  cl_float u[4], v[4], w[4];
  cl_float first_row;
  cl_int layer;
  cl_long pixels;
};
struct SlabOnDevice {
  cl_int nx, ny, z0, z1;
  cl_int columns, detector_rows, band_rows, pitch;
  cl_int x0, y0, middle_z, column0, row0;
  cl_int chunk0;
  cl_float gain;
};

// Below this w a float coordinate has no digits left: such voxels take the guarded kernel, which asks each one.
constexpr double surely_in_front = 0.01;

[[noreturn]] void refuse_cut_of_work(const std::string& why) {
  throw Error(ErrorKind::internal,
              {.what = "backprojection was given a cut it cannot take", .where = "OpenCL", .why = why, .hint = {}});
}

}  // namespace

KernelShape usual_shape(const DeviceDescription& device, TexelKind) {
  if (!device.gpu) return {.tile_x = 16, .tile_y = 4, .slices = 8, .options = {}};
  return {.tile_x = 32, .tile_y = 8, .slices = 8, .options = {}};
}

Backprojection::Backprojection(Context& context, const ScanGeometry& geometry, const VolumeGrid& grid,
                               Precision precision, Interpolation interpolation)
    : context_(context),
      beam_(geometry.beam),
      columns_(geometry.columns),
      detector_rows_(geometry.rows),
      grid_(grid),
      asked_(precision),
      kind_(opencl::texel_kind(context, precision, interpolation)),
      interpolation_(interpolation),
      shape_(usual_shape(context.device(), kind_)) {
  constexpr std::int64_t maximum = 65535;  // whole numbers that a float's coordinates still resolve
  if (grid.nx > maximum || grid.ny > maximum || grid.nz > maximum)
    throw Error(ErrorKind::unsupported,
                {.what = "the volume is too large for the backend opencl",
                 .where = {},
                 .why = format("{} x {} x {} voxels, at most {} each way", grid.nx, grid.ny, grid.nz, maximum),
                 .hint = "use the backend cpu"});
  for (const Matrix34& matrix : geometry.matrices) matrices_.push_back(in_voxel_indices(matrix, grid));
}

std::string Backprojection::description() const {
  const char* const how = kind_ == TexelKind::linear        ? "fp32 weights"
                          : kind_ == TexelKind::image_float ? "sampler's weights"
                                                            : "fp16 pixels, sampler's weights";
  const bool lacks_half =
      asked_ == Precision::half && interpolation_ == Interpolation::linear && kind_ != TexelKind::image_half;
  return format("general matrices, {}{}, {}", how, lacks_half ? " (the device has no fp16 images)" : "",
                context_.device().name);
}

StoreShape Backprojection::store_shape(std::int64_t slots, std::int64_t rows) const {
  return {.kind = kind_,
          .columns = columns_,
          .detector_rows = detector_rows_,
          .slots = slots,
          .rows = std::min(rows, detector_rows_)};
}

// w is affine, so its smallest value in a box lies at a corner.
bool Backprojection::all_in_front(const Wedge& wedge, const Slab& slab) const {
  if (beam_ == Beam::parallel) return true;
  const auto smallest = [](double factor, std::int64_t first, std::int64_t last) {
    return std::min(factor * static_cast<double>(first), factor * static_cast<double>(last));
  };
  return std::all_of(matrices_.begin() + wedge.first_view, matrices_.begin() + wedge.first_view + wedge.views,
                     [&](const Matrix34& m) {
                       return m(2, 3) + smallest(m(2, 0), 0, grid_.nx - 1) + smallest(m(2, 1), 0, grid_.ny - 1) +
                                  smallest(m(2, 2), slab.z0, slab.z1 - 1) >
                              surely_in_front;
                     });
}

std::string Backprojection::build_options(bool guard) const {
  const char* const kernel = kind_ != TexelKind::linear                 ? "IMAGE"
                             : interpolation_ == Interpolation::linear  ? "EXACT"
                             : interpolation_ == Interpolation::nearest ? "NEAREST"
                                                                        : "CUBIC";
  return format("-DBEAM={} {} -D{} -DVIEWS={} -DTILE_X={} -DTILE_Y={} -DSLICES={}{} {}",
                beam_ == Beam::cone  ? "CONE"
                : beam_ == Beam::fan ? "FAN"
                                     : "PARALLEL",
                guard ? "-DGUARD" : "", kernel, views_per_launch, shape_.tile_x, shape_.tile_y, shape_.slices,
                weighted_ ? "" : " -DUNWEIGHTED", shape_.options);
}

void Backprojection::accumulate(const Wedge& wedge, const Slab& slab, Queue& queue) const {
  const ViewTexels& store = *wedge.store;
  const auto views = static_cast<std::int64_t>(matrices_.size());
  if (wedge.first_view < 0 || wedge.views < 0 || wedge.first_view + wedge.views > views || wedge.first_slot < 0 ||
      wedge.first_slot + wedge.views > store.shape().slots || store.shape().kind != kind_)
    refuse_cut_of_work(format("views [{}, {}) of {} in slots from {} of {}", wedge.first_view,
                              wedge.first_view + wedge.views, views, wedge.first_slot, store.shape().slots));
  if (slab.z0 < 0 || slab.z1 < slab.z0 || slab.z1 > grid_.nz)
    refuse_cut_of_work(format("slices [{}, {}) of {}", slab.z0, slab.z1, grid_.nz));
  if (slab.z0 == slab.z1 || wedge.views == 0 || grid_.nx == 0 || grid_.ny == 0) return;

  // Kernels with fp32 weights count voxels and pixels from the middle of the volume and of the detector, where numbers
  // are smaller and a float has more digits behind the point.
  const auto half = [&](std::int64_t n) { return static_cast<cl_int>(kind_ == TexelKind::linear ? n / 2 : 0); };
  const SlabOnDevice target{.nx = static_cast<cl_int>(grid_.nx),
                            .ny = static_cast<cl_int>(grid_.ny),
                            .z0 = static_cast<cl_int>(slab.z0),
                            .z1 = static_cast<cl_int>(slab.z1),
                            .columns = static_cast<cl_int>(columns_),
                            .detector_rows = static_cast<cl_int>(detector_rows_),
                            .band_rows = static_cast<cl_int>(store.shape().rows),
                            .pitch = static_cast<cl_int>(store.pitch()),
                            .x0 = half(grid_.nx),
                            .y0 = half(grid_.ny),
                            .middle_z = half(grid_.nz),
                            .column0 = half(columns_),
                            .row0 = half(detector_rows_),
                            .chunk0 = static_cast<cl_int>(slab.z0 / shape_.slices),
                            .gain = 1.0f / store.scale()};
  const double root = std::sqrt(static_cast<double>(store.scale()));  // a power of two
  const double u_factor = beam_ == Beam::parallel ? 1.0 : root, v_factor = beam_ == Beam::cone ? root : 1.0;
  const auto on_device = [&](std::int64_t i) {
    Matrix34 m = matrices_[static_cast<std::size_t>(wedge.first_view + i)];
    const std::int64_t slot = wedge.first_slot + i;
    ViewOnDevice view{};
    for (int row = 0; row < 3; ++row)
      m(row, 3) += m(row, 0) * target.x0 + m(row, 1) * target.y0 + m(row, 2) * target.middle_z;
    for (int j = 0; j < 4; ++j) {
      const double one = beam_ == Beam::cone ? m(2, j) : j == 3 ? 1.0 : 0.0;  // what v is divided by
      view.u[j] = static_cast<float>(u_factor * (m(0, j) - target.column0 * m(2, j)));
      view.v[j] = static_cast<float>(v_factor * (m(1, j) - target.row0 * one));
      view.w[j] = static_cast<float>(u_factor * m(2, j));
    }
    view.first_row = static_cast<float>(store.first_row(slot) - target.row0);
    if (kind_ == TexelKind::linear)
      view.pixels = store.pixel_offset(slot);
    else
      view.layer = static_cast<cl_int>(slot % store.layers_per_sheet());
    return view;
  };

  OpenclQueue& q = opencl_queue(queue);
  Program& program = context_.program("backproject", build_options(!all_in_front(wedge, slab)));
  const auto groups = [](std::int64_t n, std::int64_t size) { return (n + size - 1) / size; };
  const Sizes grid_of_groups{groups(grid_.nx, shape_.tile_x), groups(grid_.ny, shape_.tile_y),
                             groups(slab.z1, shape_.slices) - slab.z0 / shape_.slices};
  for (std::int64_t i = 0; i < wedge.views;) {
    std::int64_t count = std::min(views_per_launch, wedge.views - i);
    const std::int64_t slot = wedge.first_slot + i;
    std::int64_t sheet = 0;
    if (kind_ != TexelKind::linear) {
      sheet = slot / store.layers_per_sheet();
      count = std::min(count, (sheet + 1) * store.layers_per_sheet() - slot);
    }
    std::vector<ViewOnDevice> block;
    for (std::int64_t k = 0; k < count; ++k) block.push_back(on_device(i + k));
    const ConstantBuffer constants(context_, block.data(),
                                   static_cast<std::int64_t>(block.size() * sizeof(ViewOnDevice)));
    KernelCall call(context_, program, "backproject");
    call.object(constants.get()).value(static_cast<cl_int>(count)).value(target).memory(slab.data);
    if (kind_ == TexelKind::linear)
      call.memory(store.pixels());
    else
      call.object(store.sheet(sheet));
    call.run(q.get(), grid_of_groups, {std::int64_t{shape_.tile_x} * shape_.tile_y, 1, 1});
    i += count;
  }
}

}  // namespace lepus::opencl
