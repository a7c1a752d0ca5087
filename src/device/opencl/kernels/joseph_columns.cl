// SPDX-License-Identifier: Apache-2.0
// Joseph's A' by columns of voxels, for scans that project/faces.h lets be taken so. A work-item takes COLUMN voxels
// above each other and goes through the detector's rows. A row meets the column at one z; the pixels beside that place
// whose rays pass the column less than a voxel away share out their values among the voxel nearest to that z and the two
// around it. So a pixel is looked at once for all of them. What a row has to do with a voxel depends on nothing but the
// two: every cut gives the same bits.
// 8 x 4 neighbouring columns go through the same rows at the same time, so that what they read lies close together.

typedef struct {
  int view, axis;
} Face;

typedef struct {
  float start, per_plane, per_axis;
} PassTerm;
typedef struct {
  int axis;
  float u[4], v[4], w[4], source[3], direction[3][3], slope[2];  // axes in the order of the face
  PassTerm a_u, a_v, b_u, b_v;
  int rows_rise;
} PictureFace;

// What the rays of a face measured, times their way: zero where a ray runs along another axis.
__kernel void face_values(Piece piece, MEMORY_IN(views), MEMORY_IN(faces), MEMORY_IN(values), MEMORY(pictures)) {
  const int u = get_global_id(0), row = get_global_id(1), number = get_global_id(2);
  if (u >= piece.columns) return;
  const Face face = POINTER_IN(Face, faces)[number];
  const MainAxisRay ray = main_axis_ray(POINTER_IN(View, views) + face.view, u, piece.first_row + row);
  const long from = ((long)(face.view - piece.first_view) * piece.rows + row) * piece.columns + u;
  POINTER(float, pictures)[((long)number * piece.rows + row) * piece.columns + u] =
      ray.axis == face.axis ? POINTER_IN(float, values)[from] * (float)ray.way_mm : 0.0f;
}

// One step of Newton's method: devices' reciprocals are good to a unit or two, which distances of a voxel can do with, but
// not places on the detector.
float reciprocal(float w) {
  const float r = native_recip(w);
  return fma(r, fma(-w, r, 1.0f), r);
}

float pass_term(__constant const PassTerm *t, float plane, float axis) {
  return fma(t->per_plane, plane, fma(t->per_axis, axis, t->start));
}

// A row of the matrix at the foot of a column, where z is zero.
float foot(__constant const float *row, float k, float a) { return fma(row[0], k, fma(row[1], a, row[3])); }

float seen_row(__constant const PictureFace *face, float k, float a, float z) {
  const float v = fma(face->v[2], z, foot(face->v, k, a));
  return BEAM == CONE ? v / fma(face->w[2], z, foot(face->w, k, a)) : v;
}

// The rows, of those in memory, that are nearest to voxels from z0 to z1 of the columns k, a, and one more on each side:
// quotients of what is affine are least and greatest at corners.
int2 rows_of(const Piece *piece, __constant const PictureFace *face, float2 k, float2 a, float z0, float z1) {
  float low = INFINITY, high = -INFINITY;
  for (int corner = 0; corner < 8; ++corner) {
    const float v = seen_row(face, corner & 1 ? k.y : k.x, corner & 2 ? a.y : a.x, corner & 4 ? z1 : z0);
    low = fmin(low, v), high = fmax(high, v);
  }
  const int first = piece->first_row - piece->middle_row;
  return (int2)(max(first, (int)fmax(floor(low), -1e6f)),
                min(first + piece->rows, (int)fmin(ceil(high), 1e6f) + 1));
}

__kernel __attribute__((reqd_work_group_size(8, 16, 1))) void gather_columns(__constant const PictureFace *faces,
                                                                             int count, Piece piece,
                                                                             MEMORY_IN(pictures), MEMORY(voxels)) {
  const int x = get_global_id(0), y = get_global_id(1), z0 = piece.z0 + (int)get_global_id(2) * COLUMN;
  const int nx = piece.size[0], ny = piece.size[1], height = min(COLUMN, piece.z1 - z0);
  if (x >= nx || y >= ny) return;
  const long slice = (long)nx * ny;
  __global float *const column = POINTER(float, voxels) + ((z0 - piece.z0) * slice + (long)y * nx + x);
  // Voxel n is total[n + 2]; those around are of the columns below and above.
  float total[COLUMN + 4];
  for (int n = -2; n < COLUMN + 2; ++n) total[n + 2] = n >= 0 && n < height ? column[n * slice] : 0.0f;

  const float fx = x - piece.middle[0], fy = y - piece.middle[1];
  const int bottom = z0 - piece.middle[2];
  const float2 xs = (float2)(x & ~7, min(x | 7, nx - 1)) - (float)piece.middle[0];
  const float2 ys = (float2)(y & ~3, min(y | 3, ny - 1)) - (float)piece.middle[1];
  const float first_u = -piece.middle_column, last_u = piece.columns - piece.middle_column - 1;
  for (int number = 0; number < count; ++number) {
    __constant const PictureFace *const face = faces + number;
    const bool on_x = face->axis == 0;
    const float k = on_x ? fx : fy, a = on_x ? fy : fx, on_k = k - face->source[0], on_a = a - face->source[1];
    // Rays of the face change no faster on a than on their own axis; a voxel more, and rounding.
    if (BEAM != PARALLEL && !(fabs(on_a) < fabs(on_k) + 1.5f)) continue;
    const int2 rows = rows_of(&piece, face, on_x ? xs : ys, on_x ? ys : xs, bottom - 1.5f, bottom + height + 0.5f);
    const float u0 = foot(face->u, k, a), v0 = foot(face->v, k, a), w0 = foot(face->w, k, a);
    // Pixel du beside the place where a row meets the column passes s = du / (depth + depth_u du) voxels aside.
    const float per_a = reciprocal(pass_term(&face->a_u, on_k, on_a));
    const float depth_u = BEAM == PARALLEL ? 0.0f : face->direction[0][1] * per_a;
    const float farther = reciprocal(1.0f - fabs(depth_u));  // as the depth changes on the way
    __global const float *const picture = POINTER_IN(float, pictures) +
                                          ((long)number * piece.rows + piece.middle_row - piece.first_row) * piece.columns +
                                          piece.middle_column;
    // Sums that are not yet in total: of the voxel nearest to a row, and of those around it.
    int at = 1;
    float below = 0.0f, here = 0.0f, above = 0.0f;
    for (int n = rows.x; n < rows.y; ++n) {
      const int row = face->rows_rise ? n : rows.x + rows.y - 1 - n;  // z grows
      const float v = row;
      // v0 + z v' = v (w0 + z w')
      const float z = BEAM == CONE ? fma(v, w0, -v0) * reciprocal(fma(-v, face->w[2], face->v[2]))
                                   : (v - v0) * reciprocal(face->v[2]);
      const float whole = z + 12582912.0f;  // its lowest bits are the nearest whole number
      const int nearest = as_int(whole) - 0x4B400000 - bottom + 2;
      if (nearest < 1 || nearest > height + 2) continue;
      for (; at < nearest; ++at) {
        total[at - 1] += below;
        below = here, here = above, above = 0.0f;
      }
      const float over_voxel = z - (whole - 12582912.0f);
      const float u = fma(face->u[2], z, u0) * (BEAM == PARALLEL ? 1.0f : reciprocal(fma(face->w[2], z, w0)));
      const float depth =
          (BEAM == PARALLEL ? 1.0f
                            : fma(face->direction[0][1], u, fma(face->direction[0][2], v, face->direction[0][0]))) *
          per_a;
      const float slope = pass_term(&face->b_u, on_k, z - face->source[2]) * per_a;  // of the row on its plane
      const float reach = fma(fabs(depth), farther, 0.02f);
      const int from = (int)ceil(fmax(u - reach, first_u)), to = (int)floor(fmin(u + reach, last_u));
      __global const float *const values = picture + row * piece.columns;
      float sum = 0.0f, moment = 0.0f, size = 0.0f, du = from - u;
      for (int pixel = from; pixel <= to; ++pixel, du += 1.0f) {
        const float s = du * native_recip(fma(depth_u, du, depth)), rise = fma(slope, s, over_voxel);
        const float share = fmax(1.0f - fabs(s), 0.0f) * values[pixel];
        sum += share;
        moment = fma(share, rise, moment);
        size = fma(share, fabs(rise), size);
      }
      below += 0.5f * (size - moment);
      here += sum - size;
      above += 0.5f * (size + moment);
    }
    total[at - 1] += below;
    total[at] += here;
    total[at + 1] += above;
  }
  for (int n = 0; n < height; ++n) column[n * slice] = total[n + 2];
}
