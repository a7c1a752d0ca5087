// SPDX-License-Identifier: Apache-2.0
// The rays of pixels in voxel indices, counted from the grid's middle voxel: project/joseph.h, whose formulas these
// are. What is set up once per ray is in double precision, as everywhere: all devices agree on axis, planes and
// samples. A ray model (joseph.cl, siddon.cl, footprint.cl) makes its Pixel of them; ray_projector.cl follows it.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

typedef struct {
  double point[3][3], direction[3][3], nearest, step_mm[3];
  double z0[3], step[3];  // of the rows of upright views
} View;

// A piece of the work.
typedef struct {
  int size[3], middle[3];                        // of the grid
  int z0, z1;                                    // slices in memory
  int columns, first_row, rows;                  // of the views in memory
  int first_view, views;                         // of the scan; in the piece
  int middle_column, middle_row;                 // what SeenBy counts from
} Piece;

int axis_a(int axis) { return axis == 0 ? 1 : 0; }
int axis_b(int axis) { return axis == 2 ? 1 : 2; }

typedef struct {
  double a0, da, b0, db;
} AxisLine;

typedef struct {
  AxisLine line;
  int axis;
  double way_mm, source;
  bool forwards;
} MainAxisRay;

double ray_place(__global const View *view, int k, double u, double v) {
  return view->point[k][0] + u * view->point[k][1] + v * view->point[k][2];
}
double ray_change(__global const View *view, int k, double u, double v) {
  return view->direction[k][0] + u * view->direction[k][1] + v * view->direction[k][2];
}

AxisLine axis_line(__global const View *view, double u, double v, int axis) {
  const int a = axis_a(axis), b = axis_b(axis);
  const double over = 1 / ray_change(view, axis, u, v), at = ray_place(view, axis, u, v);
  const double da = ray_change(view, a, u, v) * over, db = ray_change(view, b, u, v) * over;
  const AxisLine line = {ray_place(view, a, u, v) - at * da, da, ray_place(view, b, u, v) - at * db, db};
  return line;
}

MainAxisRay main_axis_ray(__global const View *view, double u, double v) {
  const double ahead = 1 + 1e-9;  // rays at exactly 45 degrees are not left to rounding
  double d[3], way = 0;
  for (int k = 0; k < 3; ++k) {
    d[k] = ray_change(view, k, u, v);
    way += d[k] * view->step_mm[k] * d[k] * view->step_mm[k];
  }
  const double x = fabs(d[0]), y = fabs(d[1]), z = fabs(d[2]);
  int axis = y > ahead * x ? 1 : 0;
  if (z > ahead * (axis == 1 ? y : x)) axis = 2;
  const MainAxisRay ray = {axis_line(view, u, v, axis), axis, sqrt(way) / fabs(d[axis]),
                           ray_place(view, axis, u, v) + view->nearest * d[axis], d[axis] > 0};
  return ray;
}

// Cuts [first, last) to where least < c0 + i dc < greatest, and up to one plane more on each side.
void clip_planes(double c0, double dc, double least, double greatest, double *first, double *last) {
  if (dc == 0) {
    if (!(c0 > least && c0 < greatest)) *last = *first;
    return;
  }
  const double p = (least - c0) / dc, q = (greatest - c0) / dc;
  const double low = floor(dc > 0 ? p : q), high = ceil(dc > 0 ? q : p) + 1;
  if (low > *first) *first = low;
  if (high < *last) *last = high;
}

// To where a ray is within `reach` voxels of the grid on the plane's axes.
void clip_to_grid(const MainAxisRay *ray, const Piece *piece, double reach_a, double reach_b, double *first,
                  double *last) {
  const int a = axis_a(ray->axis), b = axis_b(ray->axis);
  clip_planes(ray->line.a0, ray->line.da, -reach_a - piece->middle[a], piece->size[a] - 1 + reach_a - piece->middle[a],
              first, last);
  clip_planes(ray->line.b0, ray->line.db, -reach_b - piece->middle[b], piece->size[b] - 1 + reach_b - piece->middle[b],
              first, last);
}

// Planes behind the source are not crossed.
void cut_at_source(const MainAxisRay *ray, double *first, double *last) {
  if (ray->forwards && ray->source >= *first) *first = floor(ray->source) + 1;
  if (!ray->forwards && ray->source <= *last - 1) *last = ceil(ray->source);
}

// Voxels of a plane that are in memory: [a0, a1) x [b0, b1), row floats from one b to the next; `middle` is voxel (0, 0).
typedef struct {
  __global const float *middle;
  long row;
  int a0, a1, b0, b1;
} Plane;
