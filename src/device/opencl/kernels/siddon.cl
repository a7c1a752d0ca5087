// SPDX-License-Identifier: Apache-2.0
// Siddon's lengths (project/siddon.h). In a layer a ray meets at most two voxels on each axis, and leaves the first at
// a place that comes from the face's own index: the walk along the ray and the voxel that asks for one length find the
// same number.

typedef struct {
  int axis, first, last;
  float way_mm, a0, da, b0, db, per_a, per_b, begin, end;
} Pixel;

// A ray that does not change on an axis stays in the middle of one voxel of it.
#define SMALLEST 1e-9
float siddon_inverse(double d) { return (float)(fabs(d) < SMALLEST ? 1 / SMALLEST : 1 / d); }
float siddon_start(double c0, double dc) { return (float)(fabs(dc) < SMALLEST ? floor(c0 + 0.5 + SMALLEST) : c0); }
float siddon_change(double dc) { return (float)(fabs(dc) < SMALLEST ? 0 : dc); }

Pixel pixel_of(__global const View *view, const Piece *piece, double u, double v) {
  const MainAxisRay ray = main_axis_ray(view, u, v);
  double first = -piece->middle[ray.axis], last = piece->size[ray.axis] - piece->middle[ray.axis];
  double begin = first - 0.5, end = last - 0.5;
  if (ray.forwards && ray.source > begin) begin = ray.source;
  if (!ray.forwards && ray.source < end) end = ray.source;
  // A layer reaches half a voxel to both sides, on which a and b change by no more than one half.
  clip_to_grid(&ray, piece, 1, 1, &first, &last);
  if (!(first < last && begin < end)) first = last = 0;
  const AxisLine l = ray.line;
  const Pixel pixel = {ray.axis, (int)first, (int)last, (float)ray.way_mm, siddon_start(l.a0, l.da), siddon_change(l.da),
                       siddon_start(l.b0, l.db), siddon_change(l.db), siddon_inverse(l.da), siddon_inverse(l.db),
                       (float)begin, (float)end};
  return pixel;
}

typedef struct {
  int first, second;
  float leaves;
} Crossing;

Crossing crossing(float c0, float dc, float per_c, int layer, float low, float high) {
  const int lower = (int)floor(fma((float)layer, dc, c0) - 0.5f * fabs(dc) + 0.5f);
  const float face = ((float)lower + 0.5f - c0) * per_c;
  const bool up = per_c > 0.0f;
  const Crossing c = {up ? lower : lower + 1, up ? lower + 1 : lower, fmin(fmax(face, low), high)};
  return c;
}

typedef struct {
  Crossing a, b;
  float low, high;
} Layer;

Layer layer_of(const Pixel *ray, int i) {
  Layer layer;
  layer.low = fmax((float)i - 0.5f, ray->begin);
  layer.high = fmax(fmin((float)i + 0.5f, ray->end), layer.low);
  layer.a = crossing(ray->a0, ray->da, ray->per_a, i, layer.low, layer.high);
  layer.b = crossing(ray->b0, ray->db, ray->per_b, i, layer.low, layer.high);
  return layer;
}

float weight_of(const Pixel *ray, int i, int j, int k) {
  const Layer l = layer_of(ray, i);
  if ((j != l.a.first && j != l.a.second) || (k != l.b.first && k != l.b.second)) return 0.0f;
  const float from_a = j == l.a.first ? l.low : l.a.leaves, to_a = j == l.a.first ? l.a.leaves : l.high;
  const float from_b = k == l.b.first ? l.low : l.b.leaves, to_b = k == l.b.first ? l.b.leaves : l.high;
  return fmax(fmin(to_a, to_b) - fmax(from_a, from_b), 0.0f);
}

float part_of(Plane plane, int j, int k, float length) {
  return length > 0.0f && j >= plane.a0 && j < plane.a1 && k >= plane.b0 && k < plane.b1
             ? length * plane.middle[k * plane.row + j]
             : 0.0f;
}

float layer_sum(const Pixel *ray, int i, Plane plane) {
  const Layer l = layer_of(ray, i);
  const bool a_first = l.a.leaves < l.b.leaves;
  const float one = fmin(l.a.leaves, l.b.leaves), two = fmax(l.a.leaves, l.b.leaves);
  return part_of(plane, l.a.first, l.b.first, one - l.low) +
         part_of(plane, a_first ? l.a.second : l.a.first, a_first ? l.b.first : l.b.second, two - one) +
         part_of(plane, l.a.second, l.b.second, l.high - two);
}

// Rays are within the voxel half a layer before or behind its plane at most.
float2 reach_of(float2 slope, float2 column_step, float2 row_step) { return 0.51f + 0.5f * slope; }
