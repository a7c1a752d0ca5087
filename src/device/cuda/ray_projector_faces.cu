// SPDX-License-Identifier: Apache-2.0
// Views to faces, and the rays of their columns, all set up in double precision by the forward projection's own code:
// both operators agree on each ray's axis, way and coordinates.
#include "device/cuda/cuda_check.h"
#include "device/cuda/ray_projector_faces.h"

namespace lepus::cuda {
namespace {

constexpr int face_side = 32, face_lines = 8;

__device__ float face_value(const FaceSource& source, const Face& face, int u, int row) {
  const JosephLine line = joseph_line(source.view[face.view], source.grid, u, source.first_row + row);
  if (line.axis != face.axis) return 0.0f;
  const std::int64_t at = (static_cast<std::int64_t>(face.view - source.first_view) * source.rows + row);
  return source.values[at * source.columns + u] * static_cast<float>(line.way_mm);
}

__global__ void face_pictures(const __grid_constant__ FaceSource source, float* pictures) {
  const int u = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), row = static_cast<int>(blockIdx.y);
  const int face = static_cast<int>(blockIdx.z);
  if (u >= source.columns) return;
  pictures[(static_cast<std::int64_t>(face) * source.rows + row) * source.columns + u] =
      face_value(source, source.face[face], u, row);
}

// Turned in shared memory, so that a warp both reads and writes neighbours.
__global__ void __launch_bounds__(face_side* face_lines)
    face_columns(const __grid_constant__ FaceSource source, const ColumnRows rows, float* columns) {
  __shared__ float tile[face_side][face_side + 1];
  const int u0 = static_cast<int>(blockIdx.x) * face_side, row0 = static_cast<int>(blockIdx.y) * face_side;
  const int tx = static_cast<int>(threadIdx.x), face = static_cast<int>(blockIdx.z);
  for (int ty = static_cast<int>(threadIdx.y); ty < face_side; ty += face_lines)
    if (u0 + tx < source.columns && row0 + ty < source.rows)
      tile[ty][tx] = face_value(source, source.face[face], u0 + tx, row0 + ty);
  __syncthreads();
  const int row = row0 + tx, at = rows.forward > 0 ? row : source.rows - 1 - row;
  for (int ty = static_cast<int>(threadIdx.y); ty < face_side; ty += face_lines)
    if (u0 + ty < source.columns && row < source.rows)
      columns[(static_cast<std::int64_t>(face) * source.columns + u0 + ty) * source.rows + at] = tile[tx][ty];
}

__global__ void column_rays(const __grid_constant__ FaceSource source, const ColumnRows rows, ColumnRays* rays) {
  const int u = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), number = static_cast<int>(blockIdx.y);
  if (u >= source.columns) return;
  const Face face = source.face[number];
  const JosephView& view = source.view[face.view];
  const JosephLine here = joseph_line(view, source.grid, u, rows.middle);
  const JosephLine next = joseph_line(view, source.grid, u, rows.middle + rows.forward);
  constexpr float nowhere = 1e30f;
  const bool on_axis = here.axis == face.axis;
  rays[static_cast<std::int64_t>(number) * source.columns + u] = {on_axis ? static_cast<float>(here.a0) : nowhere,
                                                                  on_axis ? static_cast<float>(here.da) : 0.0f,
                                                                  static_cast<float>(here.b0),
                                                                  static_cast<float>(here.db),
                                                                  static_cast<float>(next.b0 - here.b0),
                                                                  static_cast<float>(next.db - here.db),
                                                                  {}};
}

unsigned face_blocks(int n, int each) { return static_cast<unsigned>((n + each - 1) / each); }

}  // namespace

void launch_face_pictures(const FaceSource& source, float* pictures, cudaStream_t stream) {
  constexpr int threads = 128;
  const dim3 blocks(face_blocks(source.columns, threads), static_cast<unsigned>(source.rows),
                    static_cast<unsigned>(source.faces));
  face_pictures<<<blocks, threads, 0, stream>>>(source, pictures);
  check_launch("the faces of views");
}

void launch_face_columns(const FaceSource& source, const ColumnRows& rows, float* columns, cudaStream_t stream) {
  const dim3 blocks(face_blocks(source.columns, face_side), face_blocks(source.rows, face_side),
                    static_cast<unsigned>(source.faces));
  face_columns<<<blocks, dim3(face_side, face_lines), 0, stream>>>(source, rows, columns);
  check_launch("the columns of views");
}

void launch_column_rays(const FaceSource& source, const ColumnRows& rows, ColumnRays* rays, cudaStream_t stream) {
  constexpr int threads = 128;
  column_rays<<<dim3(face_blocks(source.columns, threads), static_cast<unsigned>(source.faces)), threads, 0, stream>>>(
      source, rows, rays);
  check_launch("the rays of columns");
}

}  // namespace lepus::cuda
