// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/forward_project_planes.h"

#include <algorithm>

#include "device/cuda/cuda_check.h"

namespace lepus::cuda {
namespace {

constexpr int upload_buffers = 2;
constexpr std::int64_t upload_buffer_bytes = std::int64_t{64} << 20;

// Linear memory of one copy: lines of voxels with zeros before and after them. A ray is cut one plane outside the
// volume at most and moves by one voxel per plane at most, so that its samples reach 3 voxels beyond the last on both
// sides; along z the slab's cells end one voxel outside.
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

std::int64_t SlabPlanes::bytes(const JosephGrid& grid, const std::vector<int>& axes, Weights weights,
                               std::int64_t slices) {
  if (weights == Weights::fp32)
    return 4 * ((has(axes, 0) ? RowLayout(grid, true).voxels(slices) : 0) +
                (is_straight(axes) ? RowLayout(grid, false).voxels(slices) : 0));
  // Arrays are padded to whole tiles: some per cent of large ones.
  const std::int64_t slice = std::int64_t{4} * grid.size[0] * grid.size[1] * static_cast<std::int64_t>(axes.size());
  return slices * (slice + slice / 16);
}

std::int64_t SlabPlanes::upload_bytes(const JosephGrid& grid) {
  return upload_buffers * std::max(upload_buffer_bytes, std::int64_t{4} * grid.size[0] * grid.size[1]);
}

SlabPlanes::SlabPlanes(const ForwardJob& job, const ForwardSlab& slab, const std::vector<int>& axes, Weights weights) {
  volume_.grid = job.grid;
  volume_.first = slab.first;
  volume_.last = slab.last;
  volume_.cell0 = slab.cell0;
  volume_.cell1 = slab.cell1;
  if (weights == Weights::fp32) {
    if (has(axes, 0)) make_rows(true);
    if (is_straight(axes)) make_rows(false);
  } else {
    for (const int axis : axes) make_sheets(axis);
  }
  upload(job);
}

void SlabPlanes::make_sheets(int axis) {
  const int slices = volume_.last - volume_.first, nx = volume_.grid.size[0], ny = volume_.grid.size[1];
  const int width = axis == 0 ? ny : nx, height = axis == 2 ? ny : slices;
  const int layers = axis == 2 ? slices : volume_.grid.size[axis];
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
    volume_.planes[axis].sheet[sheet] = texture;
  }
}

void SlabPlanes::make_rows(bool turned) {
  const RowLayout layout(volume_.grid, turned);
  rows_.emplace_back(layout.voxels(volume_.last - volume_.first));
  DeviceBuffer<float>& rows = rows_.back();
  fill_device(rows.data(), 0, static_cast<std::size_t>(rows.bytes()), "clear the room of the volume");
  const int* const middle = volume_.grid.middle;
  const std::int64_t pitch = layout.pitch, slice = layout.slice();
  float* const origin = rows.data() + layout.origin();
  const float* const at =
      origin + (middle[2] - volume_.first) * slice + middle[turned ? 0 : 1] * pitch + middle[turned ? 1 : 0];
  if (turned) {
    volume_.rows[0] = {at, pitch, slice};
  } else {
    volume_.rows[1] = {at, pitch, slice};
    volume_.rows[2] = {at, slice, pitch};
  }
  const int axis = turned ? 0 : 1;
  stores_.push_back(axis);
  store_[axis].rows = origin;
  store_[axis].plane = pitch;
  store_[axis].row = slice;
}

// Two buffers take turns: one comes up while the other is spread out.
void SlabPlanes::upload(const ForwardJob& job) {
  const std::int64_t slice = job.slice_voxels(), slices = volume_.last - volume_.first;
  const std::int64_t chunk = std::clamp<std::int64_t>(upload_buffer_bytes / 4 / slice, 1, slices);
  const Stream stream[upload_buffers];
  DeviceBuffer<float> voxels[upload_buffers];
  for (DeviceBuffer<float>& buffer : voxels) buffer = DeviceBuffer<float>(chunk * slice);
  int turn = 0;
  for (std::int64_t z = volume_.first; z < volume_.last; z += chunk, turn = (turn + 1) % upload_buffers) {
    const std::int64_t count = std::min(chunk, volume_.last - z);
    check(cudaMemcpyAsync(voxels[turn].data(), job.volume + z * slice,
                          static_cast<std::size_t>(count * slice) * sizeof(float), cudaMemcpyHostToDevice,
                          stream[turn].get()),
          "copy slices to the device");
    for (const int axis : stores_) {
      PlaneStore store = store_[axis];
      store.voxels = voxels[turn].data();
      store.nx = job.grid.size[0];
      store.ny = job.grid.size[1];
      store.z0 = static_cast<int>(z);
      store.slices = static_cast<int>(count);
      store.first = volume_.first;
      launch_plane_store(axis, store, stream[turn].get());
    }
  }
  for (const Stream& s : stream) s.synchronize();
}

}  // namespace lepus::cuda
