// SPDX-License-Identifier: Apache-2.0
// The mean length over the area of a pixel, by separable footprints (project/footprint.h has the derivation and the
// words).

typedef struct {
  int axis, first, last;
  float way_mm, a0, da, b0, db, bj, rise;
  float au0, dau, av0, dav, bu0, dbu, bv0, dbv, bvj;
} Pixel;

double reach_at(double i, double d, double u0, double du, double v0, double dv) {
  return 0.5 * (fabs(d) + fabs(u0 + i * du) + fabs(v0 + i * dv));
}

Pixel pixel_of(__global const View *view, const Piece *piece, double u, double v) {
  const MainAxisRay ray = main_axis_ray(view, u, v);
  const int axis = ray.axis;
  const AxisLine l = ray.line;
  // Rays of the pixel's edges, over the same axis.
  const AxisLine left = axis_line(view, u - 0.5, v, axis), right = axis_line(view, u + 0.5, v, axis),
                 top = axis_line(view, u, v - 0.5, axis), bottom = axis_line(view, u, v + 0.5, axis);
  const double au0 = right.a0 - left.a0, dau = right.da - left.da, av0 = bottom.a0 - top.a0, dav = bottom.da - top.da;
  const double bu0 = right.b0 - left.b0, dbu = right.db - left.db, bv0 = bottom.b0 - top.b0, dbv = bottom.db - top.db;
  double first = -piece->middle[axis], last = piece->size[axis] - piece->middle[axis];
  const double reach_a = fmax(reach_at(first, l.da, au0, dau, av0, dav), reach_at(last, l.da, au0, dau, av0, dav));
  double reach_b =
      fmax(reach_at(first, 2 * l.db, bu0, dbu, bv0, dbv), reach_at(last, 2 * l.db, bu0, dbu, bv0, dbv));
  Pixel p = {axis, 0, 0, (float)ray.way_mm, (float)l.a0, (float)l.da, (float)l.b0, (float)l.db, 0.0f, (float)l.db,
             (float)au0, (float)dau, (float)av0, (float)dav, (float)bu0, (float)dbu, (float)bv0, (float)dbv, 0.0f};
  if (view->step[0] != 0) {  // an upright view
    const int i = axis == 0 ? 1 : 2, j = 3 - i;
    const double bj = view->z0[j] + v * view->step[j];
    p.b0 = (float)(view->z0[0] + v * view->step[0]);
    p.db = (float)(view->z0[i] + v * view->step[i]);
    p.bj = (float)bj;
    p.bv0 = (float)view->step[0];
    p.dbv = (float)view->step[i];
    p.bvj = (float)view->step[j];
    p.av0 = p.dav = p.bu0 = p.dbu = p.rise = 0.0f;
    reach_b += fabs(bj) * (reach_a + 1);
  }
  cut_at_source(&ray, &first, &last);
  clip_to_grid(&ray, piece, 0.5 + reach_a, 0.5 + reach_b, &first, &last);
  if (!(first < last)) first = last = 0;
  p.first = (int)first;
  p.last = (int)last;
  return p;
}

// An even spread over the width p folded with one over q <= p.
typedef struct {
  float p, half_foot, half_top, per_p, per_2pq;
} Trapezoid;

Trapezoid trapezoid(float x, float y, float z) {
  const float widest = fmax(fmax(fabs(x), fabs(y)), fabs(z));
  const float p = fmax(widest, 1e-6f);  // at the source itself all widths vanish
  const float rest = x * x + y * y + z * z - widest * widest;
  // More than p it can be where all three are about equal; a trapezoid has no wider side than its longer one.
  const float side = fmin(rest > 0.0f ? sqrt(rest) : 0.0f, p);
  const float per_p = 1.0f / p;
  // Narrower than this it counts for nothing, and its inverse would overflow.
  const float per_side = side > 1e-12f ? 1.0f / side : 0.0f;
  const Trapezoid t = {p, 0.5f * (p + side), 0.5f * (p - side), per_p, 0.5f * per_p * per_side};
  return t;
}

// Its integral from far below to x, less one half.
float share_below(Trapezoid t, float x) {
  const float y = fabs(x), rest = t.half_foot - y;
  const float share = y <= t.half_top ? y * t.per_p : rest > 0.0f ? 0.5f - rest * rest * t.per_2pq : 0.5f;
  return x < 0.0f ? -share : share;
}

float share_of(Trapezoid t, float middle, int index) {
  return share_below(t, (float)index + 0.5f - middle) - share_below(t, (float)index - 0.5f - middle);
}

// The cloud of a layer, and what of it lies in voxel j.
typedef struct {
  float a, b, slope, bv;
  Trapezoid on_a, on_b;
} Layer;
typedef struct {
  float share, b;
  Trapezoid on_b;
} Column;

Layer layer_of(const Pixel *ray, int layer) {
  const float i = (float)layer;
  const float au = ray->au0 + i * ray->dau, av = ray->av0 + i * ray->dav, bu = ray->bu0 + i * ray->dbu,
              bv = ray->bv0 + i * ray->dbv, variance = ray->da * ray->da + au * au + av * av;
  const Layer l = {ray->a0 + i * ray->da,
                   ray->b0 + i * ray->db,
                   variance > 1e-12f ? (ray->da * ray->rise + au * bu + av * bv) / variance : 0.0f,
                   bv,
                   trapezoid(ray->da, au, av),
                   trapezoid(ray->rise, bu, bv)};
  return l;
}

Column column_of(const Pixel *ray, const Layer *l, int j) {
  const float low = (float)j - 0.5f - l->a, high = (float)j + 0.5f - l->a, half_p = 0.5f * l->on_a.p;
  // The middle of what the longest width has in common with the voxel.
  const float from = clamp(low, -half_p, half_p), to = clamp(high, -half_p, half_p);
  Column c = {share_of(l->on_a, l->a, j), l->b + l->slope * 0.5f * (from + to) + (float)j * ray->bj, l->on_b};
  if (ray->bvj != 0.0f) c.on_b = trapezoid(0.0f, 0.0f, l->bv + (float)j * ray->bvj);
  return c;
}

// Whether such a ray can have to do with voxel (j, k) at all, before its weight is computed.
bool may_meet(const Pixel *ray, int layer, int j, int k) {
  const float i = (float)layer;
  const float a = fma(i, ray->da, ray->a0), b = fma((float)j, ray->bj, fma(i, ray->db, ray->b0));
  const float widths_a = fabs(ray->da) + fabs(fma(i, ray->dau, ray->au0)) + fabs(fma(i, ray->dav, ray->av0));
  const float widths_b = fabs(ray->rise) + fabs(fma(i, ray->dbu, ray->bu0)) +
                         fabs(fma((float)j, ray->bvj, fma(i, ray->dbv, ray->bv0)));
  return fabs(a - (float)j) < 0.51f + 0.5f * widths_a && fabs(b - (float)k) < 0.51f + widths_b;
}

float weight_of(const Pixel *ray, int i, int j, int k) {
  if (!may_meet(ray, i, j, k)) return 0.0f;
  const Layer layer = layer_of(ray, i);
  const Column column = column_of(ray, &layer, j);
  return column.share > 0.0f ? column.share * share_of(column.on_b, column.b, k) : 0.0f;
}

float layer_sum(const Pixel *ray, int i, Plane plane) {
  const Layer l = layer_of(ray, i);
  const int last_j = min((int)ceil(l.a + l.on_a.half_foot - 0.5f), plane.a1 - 1);
  float sum = 0.0f;
  for (int j = max((int)floor(l.a - l.on_a.half_foot + 0.5f), plane.a0); j <= last_j; ++j) {
    const Column c = column_of(ray, &l, j);
    if (!(c.share > 0.0f)) continue;
    const int last_k = min((int)ceil(c.b + c.on_b.half_foot - 0.5f), plane.b1 - 1);
    float part = 0.0f;
    for (int k = max((int)floor(c.b - c.on_b.half_foot + 0.5f), plane.b0); k <= last_k; ++k)
      part = fma(share_of(c.on_b, c.b, k), plane.middle[k * plane.row + j], part);
    sum = fma(c.share, part, sum);
  }
  return sum;
}

// A footprint reaches half of its three widths farther than a voxel's half, and on b as far again, where it is moved
// along. A little more, because steps are those of the voxel's own place.
float2 reach_of(float2 slope, float2 column_step, float2 row_step) {
  return 0.51f + (float2)(0.5f, 1.0f) * slope + (float2)(0.55f, 1.1f) * (fabs(column_step) + fabs(row_step));
}
