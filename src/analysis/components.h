// SPDX-License-Identifier: Apache-2.0
// Connected components of a volume of bits, of any size, in two passes over its runs of ones: the first joins runs that
// touch (union-find, He, Chao, Suzuki 2008), the second meets them again with their numbers. Held are the runs of two
// slices for each piece of the volume and eight bytes for each run that touched none before it, never the volume.
// Components are numbered from 1 by their first voxel (x fastest, then y, then z): the numbers depend neither on the
// pieces nor on the threads.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analysis/bit_volume.h"

namespace lepus::analysis {

enum class Connectivity { faces = 6, edges = 18, corners = 26 };

using Label = std::uint32_t;

struct Run {
  std::int32_t first = 0, last = 0;  // voxels [first, last) of a row
  Label label = 0;
};

// The runs of one slice, row by row: those of row y are [begin[y], begin[y + 1]).
struct SliceRuns {
  std::vector<Run> runs;
  std::vector<std::int64_t> begin;

  std::span<const Run> row(std::int64_t y) const {
    const auto at = static_cast<std::size_t>(y);
    return {runs.data() + begin[at], runs.data() + begin[at + 1]};
  }
};

class Components {
public:
  // Throws Error(memory) where there are too many of them for the memory, as in noise. `bits` must outlive this.
  // `pieces`: of the volume, worked on at the same time; 0: one for each thread.
  Components(const BitVolume& bits, Connectivity connectivity, WorkMemory& memory, Context& context, int pieces = 0);

  std::int64_t count() const { return static_cast<std::int64_t>(voxels_.size()) - 1; }
  // By number; voxels()[0] is 0.
  const std::vector<std::int64_t>& voxels() const { return voxels_; }
  const BitVolume& bits() const { return bits_; }
  int pieces() const { return pieces_; }

  // Calls body(piece, z, runs) for every slice; pieces at the same time, the slices of each in order. Runs of dropped
  // components have the label 0.
  using Body = std::function<void(int piece, std::int64_t z, const SliceRuns& runs)>;
  void each_slice(Context& context, const Body& body) const;
  // The same, all slices in order on this thread.
  void each_slice_in_order(const Body& body) const;

  // Components for which keep[number] is zero are dropped, the others numbered anew in the same order.
  void drop(const std::vector<std::uint8_t>& keep);

private:
  void walk(int piece, const Body& body) const;
  std::int64_t first_slice(int piece) const { return bits_.size().nz * piece / pieces_; }

  const BitVolume& bits_;
  Connectivity connectivity_;
  int pieces_;
  std::vector<std::int64_t> offsets_;  // of each piece's provisional labels in numbers_
  std::vector<Label> numbers_;         // provisional label -> number of its component
  std::vector<std::int64_t> voxels_;
  WorkMemory::Share share_;
};

// touched[number] = 1 where a component has a voxel among the marked ones. marks(z, words, piece) fills the marks of a
// slice; words hold zeros before.
std::vector<std::uint8_t> components_touching(const Components& components,
                                              const std::function<void(std::int64_t z, Word* words, int piece)>& marks,
                                              Context& context);

// `bits` become those of the components that were not dropped; they may be the bits that were labelled, which the
// components can then no longer walk.
void keep_components(const Components& components, BitVolume& bits, Context& context);

// Runs as a slice of labels, nx * ny of them, zero between the runs.
void fill_labels(const SliceRuns& runs, const VolumeSize& size, Label* labels);

}  // namespace lepus::analysis
