// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/ray_projector_planes.h"

#include <algorithm>

#include "device/cuda/cuda_check.h"

namespace lepus::cuda {
namespace {

// Linear memory of one copy: lines of voxels with zeros before and after them. A ray is cut one plane outside the
// volume at most and moves by one voxel per plane at most, so that its samples reach 3 voxels beyond the last on both
// sides; along z samples end one voxel outside.
struct RowLayout {
  static constexpr std::int64_t around = 4, around_z = 1;
  std::int64_t pitch, lines;  // voxels; planes on x have y along their lines
  RowLayout(const JosephGrid& grid, bool turned) {
    const std::int64_t along = grid.size[turned ? 1 : 0], across = grid.size[turned ? 0 : 1];
    pitch = (along + 2 * around + 31) / 32 * 32;
    lines = across + 2 * around;
  }
  std::int64_t slice() const { return pitch * lines; }
  std::int64_t voxels(std::int64_t slices) const { return (slices + 2 * around_z) * slice(); }
  std::int64_t origin() const { return around_z * slice() + around * pitch + around; }
};

bool has(const std::vector<int>& axes, int axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); }

// Planes on y and z are rows of the same copy.
bool is_straight(const std::vector<int>& axes) { return has(axes, 1) || has(axes, 2); }

}  // namespace

std::int64_t VolumePlanes::bytes(const JosephGrid& grid, const std::vector<int>& axes, Weights weights,
                                 std::int64_t slices) {
  if (weights == Weights::fp32)
    return 4 * ((has(axes, 0) ? RowLayout(grid, true).voxels(slices) : 0) +
                (is_straight(axes) ? RowLayout(grid, false).voxels(slices) : 0));
  // Arrays are padded to whole tiles: some per cent of large ones.
  const std::int64_t slice = std::int64_t{4} * grid.size[0] * grid.size[1] * static_cast<std::int64_t>(axes.size());
  return slices * (slice + slice / 16);
}

VolumePlanes::VolumePlanes(const JosephGrid& grid, const std::vector<int>& axes, Weights weights, std::int64_t slices)
    : axes_(axes), weights_(weights), capacity_(slices) {
  planes_.grid = grid;
  if (weights == Weights::fp32) {
    if (has(axes, 0)) make_rows(true);
    if (is_straight(axes)) make_rows(false);
  } else {
    for (const int axis : axes) make_sheets(axis);
  }
}

bool VolumePlanes::fits(const JosephGrid& grid, const std::vector<int>& axes, Weights weights,
                        std::int64_t slices) const {
  bool same = weights == weights_ && slices <= capacity_;
  for (int k = 0; k < 3; ++k) same = same && grid.size[k] == planes_.grid.size[k];
  return same && std::all_of(axes.begin(), axes.end(), [&](int axis) { return has(axes_, axis); });
}

void VolumePlanes::make_sheets(int axis) {
  const int slices = static_cast<int>(capacity_), nx = planes_.grid.size[0], ny = planes_.grid.size[1];
  const int width = axis == 0 ? ny : nx, height = axis == 2 ? ny : slices;
  const int layers = axis == 2 ? slices : planes_.grid.size[axis];
  stores_.push_back(axis);
  for (int first = 0; first < layers; first += layers_per_sheet) {
    const int count = std::min(layers_per_sheet, layers - first), sheet = first / layers_per_sheet;
    const cudaChannelFormatDesc channels{32, 0, 0, 0, cudaChannelFormatKindFloat};
    cudaArray_t array = nullptr;
    check_allocation(cudaMalloc3DArray(&array, &channels,
                                       {static_cast<std::size_t>(width), static_cast<std::size_t>(height),
                                        static_cast<std::size_t>(count)},
                                       cudaArrayLayered | cudaArraySurfaceLoadStore),
                     std::int64_t{4} * width * height * count, "allocate the volume's textures");
    arrays_.emplace_back(array);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t surface = 0;
    check(cudaCreateSurfaceObject(&surface, &resource), "create a surface");
    surfaces_.emplace_back(surface);
    store_[axis].sheet[sheet] = surface;
    cudaTextureDesc how{};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeBorder;
    how.filterMode = cudaFilterModeLinear;
    how.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture = 0;
    check(cudaCreateTextureObject(&texture, &resource, &how, nullptr), "create a texture");
    textures_.emplace_back(texture);
    planes_.sheets[axis].sheet[sheet] = texture;
  }
}

void VolumePlanes::make_rows(bool turned) {
  const RowLayout layout(planes_.grid, turned);
  rows_.emplace_back(layout.voxels(capacity_));
  DeviceBuffer<float>& rows = rows_.back();
  fill_device(rows.data(), 0, static_cast<std::size_t>(rows.bytes()), "clear the planes of the volume");
  const int axis = turned ? 0 : 1;
  stores_.push_back(axis);
  store_[axis].rows = rows.data() + layout.origin();
  store_[axis].plane = layout.pitch;
  store_[axis].row = layout.slice();
}

const PlanesOnDevice& VolumePlanes::fill(const float* voxels, SlabRange slab, cudaStream_t stream) {
  const int* const middle = planes_.grid.middle;
  planes_.first = static_cast<int>(slab.z0) - middle[2];
  planes_.last = static_cast<int>(slab.z1) - middle[2];
  for (const int axis : stores_) {
    PlaneStore store = store_[axis];
    store.voxels = voxels;
    store.nx = planes_.grid.size[0];
    store.ny = planes_.grid.size[1];
    store.slices = static_cast<int>(slab.slices());
    // Samples fade over the cell behind the last slice. Beyond the capacity there are zeros: borders, or cleared rows.
    store.written = static_cast<int>(std::min(slab.slices() + 1, capacity_));
    launch_plane_store(axis, store, stream);
    if (store.rows == nullptr) continue;
    const float* const at =
        store.rows - planes_.first * store.row + middle[axis] * store.plane + middle[axis == 0 ? 1 : 0];
    planes_.rows[axis] = {at, store.plane, store.row};
    if (axis == 1) planes_.rows[2] = {at, store.row, store.plane};
  }
  return planes_;
}

}  // namespace lepus::cuda
