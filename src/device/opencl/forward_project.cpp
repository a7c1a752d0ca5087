// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/forward_project.h"

#include <algorithm>

#include "core/format.h"
#include "device/opencl/program.h"
#include <lepus/error.h>

namespace lepus::opencl {
namespace {

// As kernels/forward_project.cl has them.
struct JosephSlab {
  cl_int size[3], middle[3];
  cl_int first, cell0, cell1;
  cl_int views, columns, rows, onto;
  cl_long at[3], plane[3], row[3];
};
static_assert(sizeof(JosephView) == 28 * sizeof(double), "JosephView is handed to the kernel as it is");

// Lines of voxels with zeros before and after them. A ray is cut one plane outside the volume at most and moves by one
// voxel per plane at most, so that its samples reach 3 voxels beyond the last on both sides; along z the slab's cells
// end one voxel outside.
struct LineLayout {
  static constexpr std::int64_t around = 4, around_z = 1;
  std::int64_t pitch, lines;
  LineLayout(const JosephGrid& grid, bool turned)
      : pitch((grid.size[turned ? 1 : 0] + 2 * around + 31) / 32 * 32), lines(grid.size[turned ? 0 : 1] + 2 * around) {}
  std::int64_t slice() const { return pitch * lines; }
  std::int64_t bytes(std::int64_t slices) const { return 4 * (slices + 2 * around_z) * slice(); }
  std::int64_t origin() const { return around_z * slice() + around * pitch + around; }
};

// Views of one launch, in constant memory.
constexpr std::int64_t views_at_once = 64;

std::int64_t group_count(std::int64_t n, std::int64_t size) { return (n + size - 1) / size; }

[[noreturn]] void refuse_planes(const std::string& what, const std::string& device, const std::string& why,
                                const std::string& hint) {
  throw Error(ErrorKind::unsupported, {.what = what, .where = device, .why = why, .hint = hint});
}

}  // namespace

bool SlabPlanes::has(int axis) const { return std::find(axes_.begin(), axes_.end(), axis) != axes_.end(); }

std::int64_t SlabPlanes::bytes(const JosephGrid& grid, const std::vector<int>& axes, bool images, std::int64_t slices) {
  const auto has = [&](int axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); };
  if (!images)
    return (has(0) ? LineLayout(grid, true).bytes(slices) : 0) +
           (has(1) || has(2) ? LineLayout(grid, false).bytes(slices) : 0);
  std::int64_t sum = 0;
  for (const int axis : axes)
    sum += Layers::bytes(CL_FLOAT, grid.size[axis == 0 ? 1 : 0], axis == 2 ? grid.size[1] : slices,
                         axis == 2 ? slices : grid.size[axis]);
  return sum;
}

SlabPlanes::SlabPlanes(Device& device, Context& context, const JosephGrid& grid, const ForwardSlab& slab,
                       const std::vector<int>& axes, Precision precision, Queue& queue)
    : context_(context),
      grid_(grid),
      slab_(slab),
      axes_(axes),
      images_(precision != Precision::exact && context.images_work(CL_FLOAT)) {
  const DeviceDescription& d = context.device();
  if (!d.doubles)
    refuse_planes("the projector needs double precision", d.name, "it lacks cl_khr_fp64", "use the backend cpu");
  const std::int64_t slices = slab.last - slab.first;
  if (!images_) {
    const auto make = [&](bool turned) {
      const std::int64_t needed = LineLayout(grid, turned).bytes(slices);
      Block lines = device.allocate(needed, Place::device);
      device.clear(lines.get(), needed, queue);
      return lines;
    };
    if (has(0)) turned_ = make(true);
    if (has(1) || has(2)) straight_ = make(false);
    return;
  }
  for (int axis = 0; axis < 3; ++axis) {
    // An axis that is not used gets an image all the same: a kernel's argument cannot be left out.
    const std::int64_t width = has(axis) ? grid.size[axis == 0 ? 1 : 0] : 1;
    const std::int64_t height = !has(axis) ? 1 : axis == 2 ? grid.size[1] : slices;
    const std::int64_t layers = !has(axis) ? 1 : axis == 2 ? slices : grid.size[axis];
    if (width > d.image_columns || height > d.image_rows || layers > d.image_layers)
      refuse_planes("the volume is too large for an image of the device", d.name,
                    format("{} x {} x {} voxels, at most {} x {} x {}", width, height, layers, d.image_columns,
                           d.image_rows, d.image_layers),
                    "use the precision exact");
    layers_[axis] = Layers(context, CL_FLOAT, width, height, layers, opencl_queue(queue).get());
  }
}

void SlabPlanes::store(const float* slices, std::int64_t z0, std::int64_t count, Queue& queue) {
  if (z0 < slab_.first || count < 0 || z0 + count > slab_.last)
    throw Error(ErrorKind::internal, {.what = "slices that the slab does not hold",
                                      .where = "OpenCL",
                                      .why = format("[{}, {}) of [{}, {})", z0, z0 + count, slab_.first, slab_.last),
                                      .hint = {}});
  const cl_command_queue q = opencl_queue(queue).get();
  Program& program = context_.program("forward_project", images_ ? "-DIMAGE" : "");
  const cl_int nx = grid_.size[0], ny = grid_.size[1];
  const Sizes groups{group_count(nx, 64), ny, count}, group{64, 1, 1};
  const auto to_lines = [&](const Block& lines, bool turned) {
    const LineLayout layout(grid_, turned);
    KernelCall(context_, program, "store_lines")
        .memory(slices)
        .memory(lines.get())
        .value(nx)
        .value(ny)
        .value(static_cast<cl_int>(turned))
        .value(static_cast<cl_long>(layout.origin() + (z0 - slab_.first) * layout.slice()))
        .value(static_cast<cl_long>(layout.pitch))
        .value(static_cast<cl_long>(layout.slice()))
        .run(q, groups, group);
  };
  if (turned_) to_lines(turned_, true);
  if (straight_) to_lines(straight_, false);
  for (const int axis : images_ ? axes_ : std::vector<int>{})
    KernelCall(context_, program, "store_planes")
        .memory(slices)
        .object(layers_[axis].get())
        .value(nx)
        .value(ny)
        .value(static_cast<cl_int>(axis))
        .value(static_cast<cl_int>(z0 - slab_.first))
        .run(q, groups, group);
}

void SlabPlanes::project(std::span<const JosephView> views, std::int64_t columns, std::int64_t rows, float* sums,
                         bool onto, Queue& queue) const {
  JosephSlab slab{};
  for (int k = 0; k < 3; ++k) slab.size[k] = grid_.size[k], slab.middle[k] = grid_.middle[k];
  slab.first = slab_.first, slab.cell0 = slab_.cell0, slab.cell1 = slab_.cell1;
  slab.columns = static_cast<cl_int>(columns), slab.rows = static_cast<cl_int>(rows), slab.onto = onto;
  for (int axis = 0; axis < 3; ++axis) {
    const LineLayout layout(grid_, axis == 0);
    slab.at[axis] = layout.origin() + (grid_.middle[2] - slab_.first) * layout.slice() +
                    grid_.middle[axis == 0 ? 0 : 1] * layout.pitch + grid_.middle[axis == 0 ? 1 : 0];
    slab.plane[axis] = axis == 2 ? layout.slice() : layout.pitch;
    slab.row[axis] = axis == 2 ? layout.pitch : layout.slice();
  }
  OpenclQueue& q = opencl_queue(queue);
  Program& program = context_.program("forward_project", images_ ? "-DIMAGE" : "");
  // Images want square groups of rays, lines of voxels those along them.
  const Sizes group = images_ ? Sizes{16, 8, 1} : Sizes{32, 4, 1};
  const auto all = static_cast<std::int64_t>(views.size());
  for (std::int64_t first = 0; first < all; first += views_at_once) {
    const std::int64_t count = std::min(views_at_once, all - first);
    slab.views = static_cast<cl_int>(count);
    const ConstantBuffer constants(context_, views.data() + first,
                                   count * static_cast<std::int64_t>(sizeof(JosephView)));
    KernelCall call(context_, program, "project_rays");
    call.object(constants.get()).value(slab).memory(sums + first * columns * rows);
    if (images_)
      for (const Layers& layers : layers_) call.object(layers.get());
    else
      call.memory(turned_.get()).memory(straight_.get());
    call.run(q.get(), {group_count(columns, group[0]), group_count(rows, group[1]), count}, group);
  }
}

}  // namespace lepus::opencl
