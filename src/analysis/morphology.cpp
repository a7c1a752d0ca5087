// SPDX-License-Identifier: Apache-2.0
#include "analysis/morphology.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "analysis/components.h"
#include "core/format.h"
#include "core/text.h"
#include "device/device.h"
#include "device/volume_kernels.h"
#include "project/ball_rows.h"
#include <lepus/error.h>

namespace lepus::analysis {
namespace {

void complement_slice(Word* words, const VolumeSize& size) {
  const std::int64_t row_words = words_for(size.nx), tail = size.nx % word_bits;
  for (std::int64_t y = 0; y < size.ny; ++y) {
    Word* const row = words + y * row_words;
    for (std::int64_t w = 0; w < row_words; ++w) row[w] = ~row[w];
    if (tail != 0) row[row_words - 1] &= bits_between(0, tail);
  }
}

// Slices [first, last) and those around them that exist.
struct Slab {
  std::int64_t first, last, from, to;
  std::int64_t held() const { return to - from; }
};
Slab slab_around(std::int64_t first, std::int64_t slices, std::int64_t halo, std::int64_t nz) {
  const std::int64_t last = std::min(nz, first + slices);
  return {first, last, std::max<std::int64_t>(0, first - halo), std::min(nz, last + halo)};
}

// How many slices a slab may have beside `halo` on each side, at `bytes` each.
std::int64_t slab_slices(const WorkMemory& memory, std::int64_t bytes, std::int64_t halo, std::int64_t nz) {
  const std::int64_t fit = memory.left_bytes() / 4 * 3 / std::max<std::int64_t>(1, bytes) - 2 * halo;
  return std::clamp<std::int64_t>(fit, 1, std::max<std::int64_t>(nz, 1));
}

template <class T>
void dilate_ball(const SquaredSteps<T>& steps, double radius, BitVolume& bits, WorkMemory& memory, Context& context) {
  const VolumeSize size = bits.size();
  const std::int64_t slice = size.nx * size.ny;
  const auto limit = static_cast<T>(radius * radius * (1 + 1e-12));  // a radius is typed in decimals
  const T cap = limit + 1;
  const auto halo = static_cast<std::int64_t>(std::sqrt(static_cast<double>(limit) / static_cast<double>(steps.z)));
  const std::int64_t bytes = slice * static_cast<std::int64_t>(sizeof(T));
  BitVolume result(memory, size);
  const std::int64_t slices =
      std::min<std::int64_t>(slab_slices(memory, bytes, halo, size.nz), std::max<std::int64_t>(64, 4 * halo));
  const WorkMemory::Share share =
      memory.take(std::min(size.nz, slices + 2 * halo) * bytes, "the distances around a slab", "use a smaller radius");
  Buffer<T> distances(std::min(size.nz, slices + 2 * halo) * slice);
  WorkerSlices words(bits, context.threads.size());
  constexpr std::int64_t lanes = ColumnTransform<T>::maximum_lanes;
  for (std::int64_t z0 = 0; z0 < size.nz; z0 += slices) {
    const Slab slab = slab_around(z0, slices, halo, size.nz);
    context.threads.parallel_for(slab.from, slab.to, 1, [&](std::int64_t z, std::int64_t, int worker) {
      Word* const outside = words[worker];
      const Word* const here = bits.slice(z, outside);
      if (here != outside) std::copy_n(here, bits.slice_words(), outside);
      complement_slice(outside, size);
      ColumnTransform<T> along_y(size.ny, steps.y);
      squared_distances_in_slice(outside, size, steps, cap, along_y, distances.data() + (z - slab.from) * slice);
    });
    context.threads.parallel_for(0, size.ny, 4, [&](std::int64_t begin, std::int64_t end, int) {
      ColumnTransform<T> along_z(slab.held(), steps.z);
      for (std::int64_t y = begin; y < end; ++y)
        for (std::int64_t x = 0; x < size.nx; x += lanes)
          along_z.apply(distances.data() + y * size.nx + x, slice, std::min(lanes, size.nx - x));
    });
    context.threads.parallel_for(slab.first, slab.last, 1, [&](std::int64_t z, std::int64_t, int worker) {
      const T* const d = distances.data() + (z - slab.from) * slice;
      Word* const out = words[worker];
      std::fill_n(out, bits.slice_words(), Word{0});
      for (std::int64_t y = 0; y < size.ny; ++y)
        for (std::int64_t x = 0; x < size.nx; ++x)
          out[y * bits.row_words() + x / word_bits] |= Word{d[y * size.nx + x] <= limit} << (x % word_bits);
      result.write(z, out);
    });
  }
  bits = std::move(result);
}

// row |= row moved by n voxels to the right (n > 0) or left.
void or_moved(Word* row, std::int64_t words, std::int64_t n) {
  const std::int64_t whole = std::abs(n) / word_bits, part = std::abs(n) % word_bits;
  const auto at = [&](std::int64_t w) { return w >= 0 && w < words ? row[w] : Word{0}; };
  if (n > 0)
    for (std::int64_t w = words - 1; w >= 0; --w)
      row[w] |= at(w - whole) << part | (part != 0 ? at(w - whole - 1) >> (word_bits - part) : 0);
  else
    for (std::int64_t w = 0; w < words; ++w)
      row[w] |= at(w + whole) >> part | (part != 0 ? at(w + whole + 1) << (word_bits - part) : 0);
}

// Windows grow by doubling: move(n) or-s everything with itself moved by n; windows of 1 + the sum of all n result.
template <class Move>
void grow_window(std::int64_t radius, Move&& move) {
  for (std::int64_t covered = 0; covered < radius;) {
    const std::int64_t n = std::min(covered + 1, radius - covered);
    move(n);
    covered += n;
  }
}

void dilate_box(std::int64_t radius, BitVolume& bits, WorkMemory& memory, Context& context) {
  const VolumeSize size = bits.size();
  const std::int64_t row = bits.row_words(), slice = bits.slice_words(), tail = size.nx % word_bits;
  const auto bytes = slice * static_cast<std::int64_t>(sizeof(Word));
  BitVolume result(memory, size);
  const std::int64_t slices = slab_slices(memory, bytes, radius, size.nz);
  const std::int64_t held = std::min(size.nz, slices + 2 * radius);
  const WorkMemory::Share share = memory.take(held * bytes, "the slices around a slab", "use a smaller radius");
  Buffer<Word> slab_words(held * slice);
  for (std::int64_t z0 = 0; z0 < size.nz; z0 += slices) {
    const Slab slab = slab_around(z0, slices, radius, size.nz);
    context.threads.parallel_for(slab.from, slab.to, 1, [&](std::int64_t z, std::int64_t, int) {
      Word* const words = slab_words.data() + (z - slab.from) * slice;
      const Word* const here = bits.slice(z, words);
      if (here != words) std::copy_n(here, slice, words);
      for (std::int64_t y = 0; y < size.ny; ++y) {
        Word* const line = words + y * row;
        grow_window(radius, [&](std::int64_t n) { or_moved(line, row, n); });
        grow_window(radius, [&](std::int64_t n) { or_moved(line, row, -n); });
        if (tail != 0) line[row - 1] &= bits_between(0, tail);
      }
      grow_window(radius, [&](std::int64_t n) {
        for (std::int64_t i = size.ny * row - 1; i >= n * row; --i) words[i] |= words[i - n * row];
      });
      grow_window(radius, [&](std::int64_t n) {
        for (std::int64_t i = 0; i < (size.ny - n) * row; ++i) words[i] |= words[i + n * row];
      });
    });
    // Along z each thread its own words of all slices.
    context.threads.parallel_for(0, slice, 512, [&](std::int64_t begin, std::int64_t end, int) {
      const auto join = [&](std::int64_t z, std::int64_t from) {
        for (std::int64_t i = begin; i < end; ++i) slab_words[z * slice + i] |= slab_words[from * slice + i];
      };
      grow_window(radius, [&](std::int64_t n) {
        for (std::int64_t z = slab.held() - 1; z >= n; --z) join(z, z - n);
      });
      grow_window(radius, [&](std::int64_t n) {
        for (std::int64_t z = 0; z + n < slab.held(); ++z) join(z, z + n);
      });
    });
    for (std::int64_t z = slab.first; z < slab.last; ++z) result.write(z, slab_words.data() + (z - slab.from) * slice);
  }
  bits = std::move(result);
}

// Dilates or erodes by a ball on a device: slabs with the slices around them go there and come back.
void spread_on(Device& device, double radius, bool erodes, BitVolume& bits, WorkMemory& memory, Context& context) {
  const VolumeSize size = bits.size();
  const std::int64_t slice = bits.slice_words(), bytes = slice * static_cast<std::int64_t>(sizeof(Word));
  const auto halo = static_cast<std::int64_t>(std::ceil(radius));
  BitVolume result(memory, size);
  const std::int64_t slices = std::min(
      slab_slices(memory, bytes, halo, size.nz),
      std::max<std::int64_t>(1, device.memory_limit_bytes() / 4 / std::max<std::int64_t>(1, bytes) - 2 * halo));
  const std::int64_t held = std::min(size.nz, slices + 2 * halo);
  const WorkMemory::Share share = memory.take(held * bytes, "the slices around a slab", "use a smaller radius");
  Buffer<Word> slab_words(held * slice);
  const auto queue = device.make_queue();
  const Block in = device.allocate(held * bytes), out = device.allocate(held * bytes);
  // Words of 64 and of 32 bits are the same bytes, the lowest bit first.
  static_assert(std::endian::native == std::endian::little);
  const auto words = [](const Block& block) { return reinterpret_cast<std::uint32_t*>(block.get()); };
  for (std::int64_t z0 = 0; z0 < size.nz; z0 += slices) {
    context.cancel.check();
    const Slab slab = slab_around(z0, slices, halo, size.nz);
    for (std::int64_t z = slab.from; z < slab.to; ++z) {
      Word* const to = slab_words.data() + (z - slab.from) * slice;
      const Word* const here = bits.slice(z, to);
      if (here != to) std::copy_n(here, slice, to);
    }
    device.copy(in.get(), slab_words.data(), slab.held() * bytes, *queue);
    const BitShape shape{size.nx, size.ny, slab.held(), 2 * bits.row_words()};
    if (erodes)
      device.volume_kernels()->erode(words(in), words(out), shape, radius, *queue);
    else
      device.volume_kernels()->dilate(words(in), words(out), shape, radius, *queue);
    device.copy(slab_words.data(), out.get(), slab.held() * bytes, *queue);
    queue->wait();
    for (std::int64_t z = slab.first; z < slab.last; ++z) result.write(z, slab_words.data() + (z - slab.from) * slice);
  }
  bits = std::move(result);
}

// One step's dilation and erosion, where they are done.
struct Spreading {
  const MorphologyStep& step;
  const VoxelShape& shape;
  WorkMemory& memory;
  Context& context;
  Device* device;

  bool on_device() const {
    return device && device->volume_kernels() && shape.cubes && !step.box && step.radius <= largest_ball_radius;
  }
  void dilate(BitVolume& bits) const {
    if (on_device())
      spread_on(*device, step.radius, false, bits, memory, context);
    else if (step.box)
      dilate_box(static_cast<std::int64_t>(step.radius), bits, memory, context);
    else if (shape.cubes)
      dilate_ball<std::int32_t>({}, step.radius, bits, memory, context);
    else
      dilate_ball<double>(shape.steps, step.radius, bits, memory, context);
  }
  void erode(BitVolume& bits) const {
    if (on_device()) return spread_on(*device, step.radius, true, bits, memory, context);
    complement(bits, context);
    dilate(bits);
    complement(bits, context);
  }
};

// What is not there and not connected with the border of the volume (by faces) is a hole.
void fill_holes(BitVolume& bits, WorkMemory& memory, Context& context) {
  complement(bits, context);
  Components background(bits, Connectivity::faces, memory, context);
  const VolumeSize& size = bits.size();
  background.drop(components_touching(
      background,
      [&](std::int64_t z, Word* words, int) {
        const bool end = z == 0 || z == size.nz - 1;
        for (std::int64_t y = 0; y < size.ny; ++y) {
          Word* const row = words + y * bits.row_words();
          if (end || y == 0 || y == size.ny - 1) set_bits(row, 0, size.nx);
          set_bits(row, 0, 1);
          set_bits(row, size.nx - 1, size.nx);
        }
      },
      context));
  keep_components(background, bits, context);
  complement(bits, context);
}

[[noreturn]] void throw_step(const std::string& text, const std::string& why) {
  throw Error(ErrorKind::usage, {.what = format("'{}' is no step", shown(text)),
                                 .where = "option --clean",
                                 .why = why,
                                 .hint = "write open:2, close:1.5, erode:1, dilate:1 (balls), open-box:1 (boxes) or "
                                         "fill-holes"});
}

}  // namespace

VoxelShape shape_of(const VolumeGrid& grid) {
  const double x = std::abs(grid.step_mm.x), y = std::abs(grid.step_mm.y), z = std::abs(grid.step_mm.z);
  VoxelShape shape;
  shape.edge_mm = std::min({x, y, z});
  shape.cubes = std::max({x, y, z}) <= shape.edge_mm * (1 + 1e-6);
  const auto squared = [&](double step) { return step * step / (shape.edge_mm * shape.edge_mm); };
  if (!shape.cubes) shape.steps = {squared(x), squared(y), squared(z)};
  return shape;
}

MorphologyStep parse_morphology(const std::string& text) {
  MorphologyStep step;
  const std::size_t colon = text.find(':');
  std::string name = text.substr(0, colon);
  if (name == "fill-holes" && colon == std::string::npos) {
    step.kind = MorphologyKind::fill_holes;
    return step;
  }
  if (name.ends_with("-box")) {
    step.box = true;
    name.resize(name.size() - 4);
  }
  const std::vector<std::pair<std::string, MorphologyKind>> kinds{{"erode", MorphologyKind::erode},
                                                                  {"dilate", MorphologyKind::dilate},
                                                                  {"open", MorphologyKind::open},
                                                                  {"close", MorphologyKind::close}};
  const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return k.first == name; });
  if (kind == kinds.end()) throw_step(text, "there are erode, dilate, open, close and fill-holes");
  step.kind = kind->second;
  const std::string number = colon == std::string::npos ? "" : text.substr(colon + 1);
  char* end = nullptr;
  step.radius = std::strtod(number.c_str(), &end);
  if (number.empty() || *end != '\0' || !(step.radius >= (step.box ? 1 : 0) && step.radius <= 10000))
    throw_step(text, "a radius in voxels stands behind the colon");
  if (step.box && step.radius != std::floor(step.radius)) throw_step(text, "a box has a whole radius");
  return step;
}

void apply(const MorphologyStep& step, const VoxelShape& shape, BitVolume& bits, WorkMemory& memory, Context& context,
           Device* device) {
  if (step.kind == MorphologyKind::fill_holes) return fill_holes(bits, memory, context);
  const Spreading spreading{step, shape, memory, context, device};
  const bool erodes_first = step.kind == MorphologyKind::erode || step.kind == MorphologyKind::open;
  if (erodes_first) spreading.erode(bits);
  if (!erodes_first || step.kind == MorphologyKind::open) spreading.dilate(bits);
  if (step.kind == MorphologyKind::close) spreading.erode(bits);
}

void complement(BitVolume& bits, Context& context) {
  bits.each_slice(context, [&](std::int64_t, Word* words, int) {
    complement_slice(words, bits.size());
    return true;
  });
}

void intersect(BitVolume& bits, const BitVolume& with, Context& context) {
  WorkerSlices others(with, context.threads.size());
  bits.each_slice(context, [&](std::int64_t z, Word* words, int worker) {
    const Word* const other = with.slice(z, others[worker]);
    for (std::int64_t i = 0; i < bits.slice_words(); ++i) words[i] &= other[i];
    return true;
  });
}

}  // namespace lepus::analysis
