// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/ray_projector_rays.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/format.h"
#include "device/opencl/kernel_text.h"
#include "device/queue_share.h"
#include "project/ray_views.h"

namespace lepus::opencl {

// As kernels/rays.cl has it.
struct ScanRays::Piece {
  cl_int size[3], middle[3];
  cl_int z0, z1;
  cl_int columns, first_row, rows;
  cl_int first_view, views;
  cl_int middle_column, middle_row;
};

namespace {

static_assert(sizeof(JosephView) == 28 * sizeof(double), "JosephView is handed to the kernels as it is");

// As kernels/ray_projector.cl has it.
struct SeenBy {
  cl_float matrix[3][4];
  cl_float slope[3][2];
  cl_int axes;
};

static_assert(sizeof(PictureFace) == 40 * sizeof(float), "PictureFace is handed to the kernels as it is");

// Of the kernels' Pixel.
std::int64_t pixel_bytes(RayModel model) {
  const std::int64_t numbers = model == RayModel::siddon ? 12 : model == RayModel::footprint ? 19 : 8;
  return numbers * std::int64_t{sizeof(float)};
}

constexpr std::int64_t float_size = sizeof(float);
constexpr std::int64_t rays_bytes = std::int64_t{256} << 20;  // of rays that voxels gather from, where one view is less

constexpr std::int64_t column_voxels = 16, faces_per_launch = 64;  // of a work-item; of a launch, in constant memory

std::int64_t groups_for(std::int64_t n, std::int64_t size) { return (n + size - 1) / size; }

// The matrix is that from the grid's middle.
SeenBy seen_by(const ScanGeometry& geometry, const Matrix34& m, const JosephView& view) {
  const auto middle_u = static_cast<double>(geometry.columns / 2), middle_v = static_cast<double>(geometry.rows / 2);
  SeenBy seen{};
  for (int j = 0; j < 4; ++j) {
    const double w = m(2, j), one = geometry.beam == Beam::fan ? (j == 3 ? 1 : 0) : w;  // v is divided by it
    seen.matrix[0][j] = static_cast<float>(m(0, j) - middle_u * w);
    seen.matrix[1][j] = static_cast<float>(m(1, j) - middle_v * one);
    seen.matrix[2][j] = static_cast<float>(w);
  }
  const std::array<bool, 3> axes = axes_along(view, geometry.columns, geometry.rows);
  for (int k = 0; k < 3; ++k) {
    const auto slope = [&](int axis) {
      return static_cast<float>(largest_slope(view, geometry.columns, geometry.rows, k, axis));
    };
    seen.slope[k][0] = slope(joseph_axis_a(k));
    seen.slope[k][1] = slope(joseph_axis_b(k));
    if (axes[static_cast<std::size_t>(k)]) seen.axes |= 1 << k;
  }
  return seen;
}

}  // namespace

ScanRays::ScanRays(Device& device, Context& context, const RayProjectorSetup& setup)
    : device_(device),
      context_(context),
      model_(setup.model),
      beam_(setup.geometry->beam),
      columns_(setup.geometry->columns),
      rows_(setup.geometry->rows),
      grid_(joseph_grid(setup.grid)),
      images_((model_ == RayModel::joseph || model_ == RayModel::voxel) && setup.precision != Precision::exact &&
              context.images_work(CL_FLOAT)),
      lines_(program(false)) {
  const RayViews job = ray_views(*setup.geometry, setup.grid);
  const std::vector<Matrix34> matrices = matrices_from_middle(*setup.geometry, setup.grid, grid_);
  std::vector<SeenBy> seen;
  for (const JosephView& view : job.views) {
    seen.push_back(seen_by(*setup.geometry, matrices[seen.size()], view));
    for (int k = 0; k < 3; ++k) axes_[k] = axes_[k] || (seen.back().axes >> k & 1) != 0;
  }
  const auto queue = device.make_queue();
  const auto send = [&](const auto& table) {
    const std::int64_t bytes = std::ssize(table) * static_cast<std::int64_t>(sizeof table.front());
    Block block = device.allocate(bytes);
    table_bytes_ += bytes;
    device.copy(block.get(), table.data(), bytes, *queue);
    return block;
  };
  views_ = send(job.views);
  seen_by_ = send(seen);
  if (model_ == RayModel::joseph) {
    faces_ = faces_of(job);
    pictures_ = picture_faces(job, faces_, matrices, beam_);
    if (serves_voxel_columns(grid_, picture_frame(*setup.geometry), pictures_)) {
      faces_on_device_ = send(faces_);
      columns_program_ = &context_.program_of_text(
          "joseph_columns", format("{}\n{}", kernel_text("rays"), kernel_text("joseph_columns")),
          format("{} -DCOLUMN={} -cl-denorms-are-zero", options(), column_voxels));
    }
  }
  queue->wait();  // other queues use them
}

Program& ScanRays::program(bool images) const {
  const char* const model = model_ == RayModel::siddon      ? "siddon"
                            : model_ == RayModel::footprint ? "footprint"
                                                            : "joseph";
  std::string text;
  for (const char* const part : {"rays", model, "ray_projector"}) text += std::string(kernel_text(part)) + "\n";
  return context_.program_of_text(
      format("ray_projector, {}", model), text,
      format("{}{}{}", options(), model_ == RayModel::footprint ? " -DFOOTPRINT" : "", images ? " -DIMAGE" : ""));
}

std::string ScanRays::options() const {
  return format("-DBEAM={}", beam_ == Beam::cone ? "CONE" : beam_ == Beam::fan ? "FAN" : "PARALLEL");
}

ScanRays::Piece ScanRays::piece_of(SlabRange slices, std::int64_t first_view, std::int64_t views, RowBand rows) const {
  Piece piece{};
  for (int k = 0; k < 3; ++k) piece.size[k] = grid_.size[k], piece.middle[k] = grid_.middle[k];
  piece.z0 = static_cast<cl_int>(slices.z0), piece.z1 = static_cast<cl_int>(slices.z1);
  piece.columns = static_cast<cl_int>(columns_);
  piece.first_row = static_cast<cl_int>(rows.first), piece.rows = static_cast<cl_int>(rows.size());
  piece.first_view = static_cast<cl_int>(first_view), piece.views = static_cast<cl_int>(views);
  piece.middle_column = static_cast<cl_int>(columns_ / 2), piece.middle_row = static_cast<cl_int>(rows_ / 2);
  return piece;
}

std::int64_t ScanRays::project_bytes(std::int64_t slices) const {
  if (images_) return VolumeLayers::bytes(grid_, axes_, slices);
  return axes_[0] ? slices * grid_.size[0] * grid_.size[1] * float_size : 0;
}

void ScanRays::project(const SlabVoxels<const float>& slab, const ViewRows<float>& lines, Queue& queue) {
  if (lines.views == 0 || lines.rows.size() == 0) return;
  if (slab.slices.slices() == 0)  // no ray of the piece meets the volume
    return device_.clear(lines.values, lines.views * lines.rows.size() * columns_ * float_size, queue);
  const Piece piece = piece_of(slab.slices, lines.first_view, lines.views, lines.rows);
  images_ ? project_layers(piece, slab.voxels, lines.values, queue)
          : project_lines(piece, slab.voxels, lines.values, queue);
}

void ScanRays::project_lines(const Piece& piece, const float* voxels, float* sums, Queue& queue) const {
  OpenclQueue& q = opencl_queue(queue);
  const std::int64_t slices = piece.z1 - piece.z0;
  const ScratchScope scope(queue);
  float* const turned = axes_[0] ? queue.scratch<float>(slices * grid_.size[0] * grid_.size[1]) : nullptr;
  constexpr std::int64_t width = 32, height = 4;  // neighbouring rays read neighbouring voxels of a line
  if (turned)
    KernelCall(context_, lines_, "turn_slices")
        .value(piece)
        .memory(voxels)
        .memory(turned)
        .run(q.get(), {groups_for(grid_.size[1], width), grid_.size[0], slices}, {width, 1, 1});
  KernelCall(context_, lines_, "project")
      .value(piece)
      .memory(views_.get())
      .memory(sums)
      .memory(voxels)
      .memory(turned)
      .run(q.get(), {groups_for(columns_, width), groups_for(piece.rows, height), piece.views}, {width, height, 1});
}

// Slices that an image holds beyond those of the slab are cleared: samples reach one of them.
void ScanRays::project_layers(const Piece& piece, const float* voxels, float* sums, Queue& queue) {
  OpenclQueue& q = opencl_queue(queue);
  const std::int64_t slices = piece.z1 - piece.z0;
  const auto fits = [&](const VolumeLayers& layers) { return layers.fits(grid_, axes_, slices); };
  if (!layers_ || layers_queue_ != queue.id() || !fits(*layers_)) {
    static QueueShare<VolumeLayers> share;
    queue.wait();  // kernels that read the old ones
    layers_.reset();
    layers_queue_ = queue.id();
    layers_ = share.get(queue.id(), fits,
                        [&] { return std::make_shared<VolumeLayers>(context_, grid_, axes_, slices, q.get()); });
  }
  Program& kernels = program(true);
  for (int axis = 0; axis < 3; ++axis)
    if (axes_[axis])
      KernelCall(context_, kernels, "store_layers")
          .value(piece)
          .memory(voxels)
          .object(layers_->on(axis))
          .value(static_cast<cl_int>(axis))
          .run(q.get(), {groups_for(grid_.size[0], 64), grid_.size[1], layers_->slices()}, {64, 1, 1});
  constexpr std::int64_t width = 16, height = 8;  // images want square groups of rays
  KernelCall call(context_, kernels, "project");
  call.value(piece).memory(views_.get()).memory(sums);
  for (int axis = 0; axis < 3; ++axis) call.object(layers_->on(axis));
  call.run(q.get(), {groups_for(columns_, width), groups_for(piece.rows, height), piece.views}, {width, height, 1});
}

std::int64_t ScanRays::views_at_once(std::int64_t rows) const {
  return std::max<std::int64_t>(1, rays_bytes / (columns_ * std::max<std::int64_t>(rows, 1) * pixel_bytes(model_)));
}

std::int64_t ScanRays::faces_at_once(std::int64_t rows) const {
  return std::clamp<std::int64_t>(rays_bytes / (columns_ * std::max<std::int64_t>(rows, 1) * float_size), 1,
                                  faces_per_launch);
}

std::int64_t ScanRays::gather_bytes(std::int64_t views, std::int64_t rows) const {
  if (gathers_columns()) return std::min(2 * views, faces_at_once(rows)) * rows * columns_ * float_size;  // on x and y
  return std::min(views, views_at_once(rows)) * rows * columns_ * pixel_bytes(model_);
}

void ScanRays::gather(const ViewRows<const float>& lines, const SlabVoxels<float>& slab, Queue& queue) const {
  const std::int64_t rows = lines.rows.size(), slices = slab.slices.slices(), at_once = views_at_once(rows);
  if (lines.views == 0 || rows == 0 || slices == 0) return;
  if (gathers_columns()) return gather_columns(lines, slab, queue);
  OpenclQueue& q = opencl_queue(queue);
  const ScratchScope scope(queue);
  std::byte* const pixels = queue.scratch<std::byte>(gather_bytes(lines.views, rows));
  for (std::int64_t first = 0; first < lines.views; first += at_once) {
    const std::int64_t views = std::min(at_once, lines.views - first);
    const Piece piece = piece_of(slab.slices, lines.first_view + first, views, lines.rows);
    KernelCall(context_, lines_, "measured_rays")
        .value(piece)
        .memory(views_.get())
        .memory(lines.values + first * rows * columns_)
        .memory(pixels)
        .run(q.get(), {groups_for(columns_, 64), rows, views}, {64, 1, 1});
    constexpr std::int64_t width = 8, height = 16;  // voxels whose pixels lie close together from every side
    KernelCall(context_, lines_, "gather")
        .value(piece)
        .memory(seen_by_.get())
        .memory(pixels)
        .memory(slab.voxels)
        .run(q.get(), {groups_for(grid_.size[0], width), groups_for(grid_.size[1], height), slices},
             {width, height, 1});
  }
}

void ScanRays::gather_columns(const ViewRows<const float>& lines, const SlabVoxels<float>& slab, Queue& queue) const {
  const std::int64_t rows = lines.rows.size();
  OpenclQueue& q = opencl_queue(queue);
  const ScratchScope scope(queue);
  auto* const values = queue.scratch<float>(gather_bytes(lines.views, rows) / float_size);
  const Piece piece = piece_of(slab.slices, lines.first_view, lines.views, lines.rows);
  const auto from = [&](std::int64_t view) {
    return std::lower_bound(faces_.begin(), faces_.end(), view,
                            [](const Face& face, std::int64_t number) { return face.view < number; }) -
           faces_.begin();
  };
  const std::int64_t end = from(lines.first_view + lines.views);
  for (std::int64_t first = from(lines.first_view), count = 0; first < end; first += count) {
    count = std::min(faces_at_once(rows), end - first);
    KernelCall(context_, *columns_program_, "face_values")
        .value(piece)
        .memory(views_.get())
        .memory(faces_on_device_.get() + first * std::int64_t{sizeof(Face)})
        .memory(lines.values)
        .memory(values)
        .run(q.get(), {groups_for(columns_, 64), rows, count}, {64, 1, 1});
    const ConstantBuffer pictures(context_, pictures_.data() + first, count * std::int64_t{sizeof(PictureFace)});
    constexpr std::int64_t width = 8, height = 16;  // as the kernel says
    KernelCall(context_, *columns_program_, "gather_columns")
        .object(pictures.get())
        .value(static_cast<cl_int>(count))
        .value(piece)
        .memory(values)
        .memory(slab.voxels)
        .run(q.get(),
             {groups_for(grid_.size[0], width), groups_for(grid_.size[1], height),
              groups_for(slab.slices.slices(), column_voxels)},
             {width, height, 1});
  }
}

}  // namespace lepus::opencl
