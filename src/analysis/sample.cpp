// SPDX-License-Identifier: Apache-2.0
#include "analysis/sample.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "analysis/components.h"
#include "core/format.h"
#include <lepus/error.h>

namespace lepus::analysis {
namespace {

void copy_bits(const BitVolume& from, BitVolume& to, Context& context) {
  WorkerSlices buffers(from, context.threads.size());
  context.threads.parallel_for(0, from.size().nz, 1, [&](std::int64_t z, std::int64_t, int worker) {
    to.write(z, from.slice(z, buffers[worker]));
  });
}

// The four sides; top and bottom are where a scan cuts through a long sample.
void mark_sides(const VolumeSize& size, Word* words) {
  const std::int64_t row_words = words_for(size.nx);
  for (std::int64_t y = 0; y < size.ny; ++y) {
    Word* const row = words + y * row_words;
    if (y == 0 || y == size.ny - 1) set_bits(row, 0, size.nx);
    set_bits(row, 0, 1);
    set_bits(row, size.nx - 1, size.nx);
  }
}

struct Extent {
  std::int64_t x0 = std::numeric_limits<std::int64_t>::max(), x1 = 0, y0 = x0, y1 = 0;
  std::int64_t area() const { return x1 > x0 && y1 > y0 ? (x1 - x0) * (y1 - y0) : 0; }
};

std::vector<Extent> extents_of(const Components& components, Context& context) {
  const auto count = static_cast<std::size_t>(components.count()) + 1;
  std::vector<std::vector<Extent>> parts(static_cast<std::size_t>(components.pieces()), std::vector<Extent>(count));
  components.each_slice(context, [&](int piece, std::int64_t, const SliceRuns& runs) {
    for (std::int64_t y = 0; y < components.bits().size().ny; ++y)
      for (const Run& run : runs.row(y)) {
        Extent& e = parts[static_cast<std::size_t>(piece)][run.label];
        e.x0 = std::min<std::int64_t>(e.x0, run.first);
        e.x1 = std::max<std::int64_t>(e.x1, run.last);
        e.y0 = std::min(e.y0, y);
        e.y1 = std::max(e.y1, y + 1);
      }
  });
  for (std::size_t p = 1; p < parts.size(); ++p)
    for (std::size_t i = 0; i < count; ++i) {
      Extent &to = parts[0][i], &from = parts[p][i];
      to = {std::min(to.x0, from.x0), std::max(to.x1, from.x1), std::min(to.y0, from.y0), std::max(to.y1, from.y1)};
    }
  return parts[0];
}

// The material's component that reaches furthest to the sides. `material` becomes it alone.
std::int64_t find_container(BitVolume& material, WorkMemory& memory, Context& context) {
  Components components(material, Connectivity::faces, memory, context);
  const std::vector<Extent> extents = extents_of(components, context);
  std::size_t container = 0;
  std::int64_t all = 0;
  for (std::size_t i = 1; i < extents.size(); ++i) {
    if (extents[i].area() > extents[container].area()) container = i;
    all += components.voxels()[i];
  }
  std::int64_t others = 0;
  for (std::size_t i = 1; i < extents.size(); ++i)
    if (i != container) others = std::max(others, components.voxels()[i]);
  if (others * 100 < all)
    throw Error(
        ErrorKind::input,
        {.what = "no container can be told from the sample",
         .where = "option --remove-container",
         .why = format("of {} voxels of material all but {} hang together", all, all - components.voxels()[container]),
         .hint = "where the sample touches its container, cut it off with --radius or --mask"});
  const std::int64_t voxels = components.voxels()[container];
  std::vector<std::uint8_t> keep(extents.size(), 0);
  keep[container] = 1;
  components.drop(keep);
  keep_components(components, material, context);
  return voxels;
}

}  // namespace

SampleReport remove_surroundings(const SampleOptions& options, const BitVolume& air, const VoxelShape& shape,
                                 BitVolume& inside, WorkMemory& memory, Context& context) {
  SampleReport report;
  const VolumeSize& size = air.size();
  BitVolume container(memory, size);
  if (options.remove_container) {
    copy_bits(air, container, context);
    complement(container, context);
    report.container = find_container(container, memory, context);
  }

  // What is dark after closing the material is open; what of that touches a side, or the container, is air.
  BitVolume open(memory, size);
  copy_bits(air, open, context);
  if (options.seal > 0) {
    const MorphologyStep opening{.kind = MorphologyKind::open, .box = false, .radius = options.seal};
    apply(opening, shape, open, memory, context);  // opening what is dark closes the material
  }
  Components parts(open, Connectivity::faces, memory, context);
  std::vector<std::uint8_t> outer = components_touching(
      parts, [&](std::int64_t, Word* words, int) { mark_sides(size, words); }, context);
  if (options.remove_container) {
    BitVolume near(memory, size);
    copy_bits(container, near, context);
    apply({.kind = MorphologyKind::dilate, .box = false, .radius = 1}, {}, near, memory, context);
    WorkerSlices buffers(near, parts.pieces());
    const auto touching = components_touching(
        parts,
        [&](std::int64_t z, Word* words, int piece) {
          std::copy_n(near.slice(z, buffers[piece]), near.slice_words(), words);
        },
        context);
    for (std::size_t i = 0; i < outer.size(); ++i) outer[i] = std::max(outer[i], touching[i]);
  }
  parts.drop(outer);
  for (const std::int64_t voxels : parts.voxels()) report.air += voxels;
  keep_components(parts, open, context);

  // The sample: neither air nor container.
  WorkerSlices buffers(container, context.threads.size());
  open.each_slice(context, [&](std::int64_t z, Word* words, int worker) {
    if (!options.remove_container) return false;
    const Word* const other = container.slice(z, buffers[worker]);
    for (std::int64_t i = 0; i < open.slice_words(); ++i) words[i] |= other[i];
    return true;
  });
  complement(open, context);
  {
    Components pieces(open, Connectivity::corners, memory, context);
    const std::int64_t largest = *std::max_element(pieces.voxels().begin(), pieces.voxels().end());
    if (largest == 0)
      throw Error(ErrorKind::input, {.what = "no sample is left",
                                     .where = "option --remove-air",
                                     .why = "every voxel is air that is connected with a side of the volume",
                                     .hint = "check the threshold, or leave --remove-air out"});
    std::vector<std::uint8_t> keep(pieces.voxels().size(), 0);
    for (std::size_t i = 1; i < keep.size(); ++i) {
      keep[i] = pieces.voxels()[i] * 1000 >= largest ? 1 : 0;
      report.specks += keep[i] == 0 ? 1 : 0;
    }
    pieces.drop(keep);
    keep_components(pieces, open, context);
  }
  intersect(inside, open, context);
  return report;
}

}  // namespace lepus::analysis
