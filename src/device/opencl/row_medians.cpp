// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include "device/opencl/kernel_text.h"
#include "device/opencl/ring_methods.h"

namespace lepus::opencl {
namespace {

// As kernels/row_medians.cl has it.
struct Window {
  cl_int radius, mirror, piece, size, levels;
};

// How a row is cut: pieces of `piece` pixels, `size` places each with what their windows see.
struct Cut {
  std::int64_t pieces = 0, piece = 0, size = 0, levels = 0;
  std::int64_t bytes() const {  // keys, ranks twice, words of each level
    constexpr std::int64_t rank_bytes = sizeof(cl_ushort), word_bytes = sizeof(cl_uint2);
    return size * (key_bytes + 2 * rank_bytes) + levels * (size / 32 + 1) * word_bytes;
  }
  // Per place a share of the sort's levels^2 / 4 exchanges, and of each level's part of the matrix.
  std::int64_t cost() const { return pieces * size * levels * (levels + 11); }
};

// The cheapest one that fits local memory; none where little but the windows' overlap would fit.
Cut best_cut(std::int64_t width, std::int64_t radius, std::int64_t local_bytes) {
  constexpr std::int64_t shortest = 128, usual = 2048, longest = 8192, minimum_piece = 64;
  Cut best;
  for (std::int64_t size = shortest; size <= longest; size *= 2) {
    if (size > usual && best.size > 0) break;  // few groups of such a size work beside each other
    const std::int64_t fits = size - 2 * radius;
    if (fits < std::min(minimum_piece, width)) continue;
    Cut cut;
    cut.pieces = (width + fits - 1) / fits;
    cut.piece = (width + cut.pieces - 1) / cut.pieces;
    cut.size = size;
    cut.levels = std::countr_zero(static_cast<std::uint64_t>(size));
    if (cut.bytes() <= local_bytes && (best.size == 0 || cut.cost() < best.cost())) best = cut;
  }
  return best;
}

}  // namespace

void find_row_medians(const RowMedians& m, Queue& queue) {
  OpenclQueue& q = opencl_queue(queue);
  Context& context = q.context();
  const Planes& in = m.in;
  const Cut cut = best_cut(in.width, m.radius, sorting_memory(context));
  const Window window{.radius = static_cast<cl_int>(m.radius),
                      .mirror = m.mirror,
                      .piece = static_cast<cl_int>(cut.piece),
                      .size = static_cast<cl_int>(cut.size),
                      .levels = static_cast<cl_int>(cut.levels)};
  KernelCall call(context, sorting_program(context, "row_medians"),
                  cut.size > 0 ? "row_medians" : "row_medians_by_search");
  call.value(window)
      .value(PlanesArgument(in))
      .value(PlanesArgument(m.out))
      .memory(in.data)
      .memory(m.out.data)
      .memory(m.views);
  if (cut.size == 0) return call.run(q.get(), along_columns(in.width, in.height, in.count), columns_group);
  call.local(cut.bytes()).run(q.get(), {cut.pieces, in.height, in.count}, {sorting_items(context, cut.size / 2), 1, 1});
}

Program& sorting_program(Context& context, const std::string& name, bool keys_in_global) {
  return context.program_of_text(name, std::string(kernel_text("sorted_keys")) + "\n" + std::string(kernel_text(name)),
                                 keys_in_global ? "-DKEYS_IN_GLOBAL" : "");
}

std::int64_t power_of_two(std::int64_t n) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n)));
}

std::int64_t sorting_memory(const Context& context) {
  constexpr std::int64_t others = 1024;  // what kernels and drivers take themselves
  return context.device().local_bytes - others;
}

std::int64_t sorting_items(const Context& context, std::int64_t pairs) {
  const std::int64_t usual = context.device().gpu ? 256 : 64;
  return std::clamp<std::int64_t>(pairs, 1, std::min(usual, context.device().largest_group));
}

std::int64_t planes_at_once(const Planes& sinograms, std::int64_t floats_each, const Queue& queue) {
  constexpr std::int64_t share = 16, maximum = std::int64_t{1} << 24;
  const std::int64_t floats =
      std::min(maximum, queue.device().memory_limit_bytes() / share / std::int64_t{sizeof(float)});
  return std::clamp<std::int64_t>(floats / std::max<std::int64_t>(floats_each, 1), 1,
                                  std::max<std::int64_t>(sinograms.count, 1));
}

Planes packed_planes(const Planes& like, std::int64_t height, std::int64_t width, Queue& queue) {
  return {queue.scratch<float>(like.count * height * width), width, height, width, like.count, height * width};
}

}  // namespace lepus::opencl
