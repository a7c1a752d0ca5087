// SPDX-License-Identifier: Apache-2.0
#include "analysis/against.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace lepus::analysis {
namespace {

// From the voxels of one grid to those of another: start + x along_x + y along_y + z along_z.
struct VoxelMotion {
  Vec3 start, along_x, along_y, along_z;

  VoxelMotion(const VolumeGrid& from, const RigidMotion& motion, const VolumeGrid& to) {
    const auto place = [&](double x, double y, double z) {
      const Vec3 p = motion(from.centre(x, y, z)) - to.origin_mm;
      return Vec3{p.x / to.step_mm.x, p.y / to.step_mm.y, p.z / to.step_mm.z};
    };
    start = place(0, 0, 0);
    along_x = place(1, 0, 0) - start;
    along_y = place(0, 1, 0) - start;
    along_z = place(0, 0, 1) - start;
  }
  Vec3 operator()(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return start + static_cast<double>(x) * along_x + static_cast<double>(y) * along_y +
           static_cast<double>(z) * along_z;
  }
  // Slices of the other grid that those of [z0, z1) reach; before and behind its own too.
  std::array<std::int64_t, 2> reach(const VolumeGrid& from, std::int64_t z0, std::int64_t z1) const {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const std::int64_t x : {std::int64_t{0}, from.nx - 1})
      for (const std::int64_t y : {std::int64_t{0}, from.ny - 1})
        for (const std::int64_t z : {z0, z1 - 1}) {
          const double at = (*this)(x, y, z).z;
          low = std::min(low, at);
          high = std::max(high, at);
        }
    const auto whole = [](double v) { return static_cast<std::int64_t>(std::clamp(std::floor(v), -1e15, 1e15)); };
    return {whole(low), whole(high) + 2};
  }
};

bool covers(const VolumeGrid& g, Vec3 at) {
  return at.x >= 0 && at.y >= 0 && at.z >= 0 && at.x <= static_cast<double>(g.nx - 1) &&
         at.y <= static_cast<double>(g.ny - 1) && at.z <= static_cast<double>(g.nz - 1);
}

// Between eight voxels of a slab that begins with slice `first`; the last voxel of an axis has no next one.
float between(const float* slab, std::int64_t first, const VolumeGrid& g, Vec3 at) {
  const auto cell = [](double v, std::int64_t n) {
    return std::min(static_cast<std::int64_t>(v), std::max<std::int64_t>(0, n - 2));
  };
  const std::int64_t i = cell(at.x, g.nx), j = cell(at.y, g.ny), k = cell(at.z, g.nz);
  const std::int64_t right = g.nx > 1 ? 1 : 0, down = g.ny > 1 ? g.nx : 0, deep = g.nz > 1 ? g.nx * g.ny : 0;
  const double u = at.x - static_cast<double>(i), v = at.y - static_cast<double>(j), w = at.z - static_cast<double>(k);
  const float* const p = slab + ((k - first) * g.ny + j) * g.nx + i;
  const auto plane = [&](const float* s) {
    return (1 - v) * ((1 - u) * s[0] + u * s[right]) + v * ((1 - u) * s[down] + u * s[down + right]);
  };
  return static_cast<float>((1 - w) * plane(p) + w * plane(p + deep));
}

void write_moved(const VolumeReader& moved, const std::string& unit, const AgainstOptions& options) {
  const VolumeGrid& grid = moved.grid();
  const auto writer = create_volume(options.moved_map, grid, {.force = true, .unit = unit});
  Buffer<float> slice(grid.nx * grid.ny);
  for (std::int64_t z = 0; z < grid.nz; ++z) {
    moved.read(z, z + 1, slice.data());
    writer->write(z, z + 1, slice.data());
  }
  writer->finish(options.provenance);
}

// gain * value + offset.
class ScaledVolume final : public VolumeReader {
public:
  ScaledVolume(const VolumeReader& volume, lepus::ValueScale scale) : volume_(volume), scale_(scale) {}

  const VolumeGrid& grid() const override { return volume_.grid(); }
  std::string format() const override { return volume_.format(); }
  std::string pixel_type() const override { return "float32"; }
  std::string provenance() const override { return {}; }
  void read(std::int64_t z0, std::int64_t z1, float* slices) const override {
    volume_.read(z0, z1, slices);
    scale_.apply(slices, (z1 - z0) * grid().nx * grid().ny);
  }

private:
  const VolumeReader& volume_;
  lepus::ValueScale scale_;
};

}  // namespace

MovedVolume::MovedVolume(const VolumeReader& other, const RigidMotion& motion, const VolumeGrid& grid,
                         WorkMemory& memory, Context& context)
    : grid_(grid), store_(memory, grid.nx * grid.ny, grid.nz, "the registered volume") {
  const VolumeGrid& from = other.grid();
  const VoxelMotion place(grid, motion, from);
  const std::int64_t slice = grid.nx * grid.ny, their_slice = from.nx * from.ny;
  // Slabs of both: the more, the less is read twice. Each voxel is made for itself, whatever the slabs.
  const WorkMemory::Share least = memory.take(12 * slice + 20 * their_slice, "slices of both volumes", {});
  const std::int64_t free = memory.left_bytes() / 3;
  const std::int64_t slices = std::clamp<std::int64_t>(free / (4 * slice), 1, std::min<std::int64_t>(grid.nz, 64));
  const std::int64_t theirs =
      std::min(from.nz, std::clamp<std::int64_t>(free / (4 * their_slice), 2, std::int64_t{256}));
  const WorkMemory::Share share = memory.take(
      4 * (slices - 1) * slice + 4 * std::max<std::int64_t>(0, theirs - 2) * their_slice, "slabs of both volumes", {});
  Buffer<float> out(slices * slice), slab(theirs * their_slice);
  context.progress.begin("moving", grid.nz);
  for (std::int64_t z0 = 0; z0 < grid.nz; z0 += slices) {
    const std::int64_t z1 = std::min(grid.nz, z0 + slices);
    std::fill_n(out.data(), (z1 - z0) * slice, std::numeric_limits<float>::quiet_NaN());
    const auto [low, high] = place.reach(grid, z0, z1);
    const std::int64_t first_cell = std::max<std::int64_t>(0, low), cells = std::max<std::int64_t>(1, from.nz - 1);
    // Cell k lies between slices k and k + 1.
    for (std::int64_t k0 = std::min(first_cell, cells - 1); k0 < std::min(cells, high);
         k0 += std::max<std::int64_t>(1, theirs - 1)) {
      context.cancel.check();
      const std::int64_t k1 = std::min(cells, k0 + std::max<std::int64_t>(1, theirs - 1));
      other.read(k0, std::min(from.nz, k1 + 1), slab.data());
      context.threads.parallel_for(z0 * grid.ny, z1 * grid.ny, 16, [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t row = begin; row < end; ++row)
          for (std::int64_t x = 0; x < grid.nx; ++x) {
            const Vec3 at = place(x, row % grid.ny, row / grid.ny);
            if (!covers(from, at)) continue;
            const std::int64_t cell = std::min(static_cast<std::int64_t>(at.z), cells - 1);
            if (cell >= k0 && cell < k1) out[(row - z0 * grid.ny) * grid.nx + x] = between(slab.data(), k0, from, at);
          }
      });
    }
    for (std::int64_t z = z0; z < z1; ++z) store_.write(z, 0, slice, out.data() + (z - z0) * slice);
    context.progress.advance(z1 - z0);
  }
  context.progress.end();
}

void MovedVolume::read(std::int64_t z0, std::int64_t z1, float* slices) const {
  for (std::int64_t z = z0; z < z1; ++z)
    store_.read(z, 0, store_.slice_size(), slices + (z - z0) * store_.slice_size());
}

AgainstResult compare_against(const VolumeReader& volume, const AgainstOptions& options, const BitVolume& inside,
                              WorkMemory& memory, Context& context) {
  AgainstResult result;
  CompareSettings compare;
  compare.mask.rows = [&inside](std::int64_t y, std::int64_t z, std::uint8_t* keep) {
    std::vector<Word> words(static_cast<std::size_t>(inside.row_words()));
    inside.read_row(y, z, words.data());
    for (std::int64_t x = 0; x < inside.size().nx; ++x)
      if (!bit_at(words.data(), x)) keep[x] = 0;
  };
  compare.mask.inside_text = "inside the region";
  compare.ssim = SsimMode::none;
  const VolumeReader* other = options.other;
  std::optional<MovedVolume> moved;
  if (options.registered) {
    result.registration = register_volumes(volume, *other, {}, memory, context);
    const RigidMotion motion = result.registration->motion;
    moved.emplace(*other, motion, volume.grid(), memory, context);
    if (!options.moved_map.empty()) write_moved(*moved, options.other->unit(), options);
    // By the same arithmetic as the values were made, so that not a voxel of the border differs.
    const VoxelMotion place(volume.grid(), motion, other->grid());
    compare.mask.inside = [place, theirs = other->grid(), own = volume.grid()](Vec3 p) {
      const Vec3 v = p - own.origin_mm;
      return covers(theirs, place(std::llround(v.x / own.step_mm.x), std::llround(v.y / own.step_mm.y),
                                  std::llround(v.z / own.step_mm.z)));
    };
    compare.mask.inside_text = "inside the region, where the registered volume has values";
    other = &*moved;
  }
  compare.memory_bytes = memory.left_bytes() / 2;
  result.comparison = compare_volumes(volume, *other, compare, context);
  if (const auto& fit = result.registration)
    result.scaled = compare_volumes(volume, ScaledVolume(*other, {fit->gain, fit->offset}), compare, context);
  const auto middle = middle_slices(volume.grid());
  result.first = extract_slices(volume, middle, memory.left_bytes() / 2, context);
  result.other = extract_slices(*other, middle, memory.left_bytes() / 2, context);
  return result;
}

}  // namespace lepus::analysis
